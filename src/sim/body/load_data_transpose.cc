// SPDX-License-Identifier: Apache-2.0
// LoadDataWithTranspose, L1 to L0A or L0B: square blocks of fractals are transposed. Undefined
// bytes travel along.
#include <algorithm>
#include <cstring>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum { kStart, kRepeats, kSrcStride, kDstGap, kDstFracGap };

// The square block of one dtype and where its elements are, in fractals of rows of 32 bytes.
struct Block {
  explicit Block(const Call& call)
      : size(call.itemsize(0)),
        columns(kBlockBytes / size),
        side(std::max(kCubeSide, columns)),
        fractals(side * side * size / kFractalBytes) {}

  // Byte of the block that holds an element: fractals follow each other down the rows, and across
  // the columns where a fractal is narrower than the block.
  int64_t byte(int64_t row, int64_t column, int64_t fractal_pitch) const {
    const int64_t fractal = row / kCubeSide + column / columns;
    return fractal * fractal_pitch + (row % kCubeSide * columns + column % columns) * size;
  }

  int64_t size;
  int64_t columns;
  int64_t side;
  int64_t fractals;
};

int64_t src_of(const Call& call, const Block& block, int64_t i) {
  return (call.params[kStart] + i * call.params[kSrcStride]) * block.fractals * kFractalBytes;
}

int64_t dst_of(const Call& call, int64_t i) {
  return i * (call.params[kDstGap] + 1) * kFractalBytes;
}

int64_t dst_pitch(const Call& call) { return (call.params[kDstFracGap] + 1) * kFractalBytes; }

void access(const Call& call, AccessList& list) {
  const Block block(call);
  const int64_t repeats = call.params[kRepeats];
  list.add(AccessKind::Copy, 1, src_of(call, block, 0), block.fractals * kFractalBytes, repeats,
           src_of(call, block, 1) - src_of(call, block, 0));
  list.add(AccessKind::Write, 0, 0, kFractalBytes, block.fractals, dst_pitch(call), repeats,
           dst_of(call, 1));
}

// Calls visit(source byte, destination byte) for every element of one repeat, from their operands.
template <typename Visit>
void each_element(const Call& call, int64_t i, Visit visit) {
  const Block block(call);
  for (int64_t row = 0; row < block.side; ++row) {
    for (int64_t column = 0; column < block.side; ++column) {
      visit(src_of(call, block, i) + block.byte(row, column, kFractalBytes),
            dst_of(call, i) + block.byte(column, row, dst_pitch(call)));
    }
  }
}

void run(Call& call, Memories& memories) {
  const uint8_t* src = memories.operand<const uint8_t>(call, 1);
  uint8_t* dst = memories.operand<uint8_t>(call, 0);
  const int64_t size = call.itemsize(0);
  for (int64_t i = 0; i < call.params[kRepeats]; ++i) {
    each_element(call, i,
                 [&](int64_t from, int64_t to) { std::memcpy(dst + to, src + from, size); });
  }
}

void poison(const Call& call, PoisonMaps& maps) {
  const Block block(call);
  for (int64_t i = 0; i < call.params[kRepeats]; ++i) {
    const int64_t src = call.operands[1] + src_of(call, block, i);
    if (maps.find(call.spaces[1], src, src + block.fractals * kFractalBytes) < 0) continue;
    each_element(call, i, [&](int64_t from, int64_t to) {
      const int64_t at = call.operands[1] + from;
      const bool undefined = maps.find(call.spaces[1], at, at + block.size) >= 0;
      maps.set(call.spaces[0], call.operands[0] + to, call.operands[0] + to + block.size,
               undefined);
    });
  }
}

}  // namespace

extern const Body body_load_data_transpose;
const Body body_load_data_transpose{access, run, poison, nullptr, nullptr};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// LoadData 2D, L1 or GM to L0A or L0B: whole 512-byte fractals, each transposed on request.
// Undefined bytes travel along: rows past a tile's edge are copied and never looked at.
#include <algorithm>
#include <cstring>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum { kStart, kRepeats, kSrcStride, kDstGap, kTranspose };

int64_t src_of(const Call& call, int64_t i) {
  return (call.params[kStart] + i * call.params[kSrcStride]) * kFractalBytes;
}
// From GM there is no transposition.
bool transposes(const Call& call) {
  return call.op->n_params > kTranspose && call.params[kTranspose] != 0;
}
int64_t dst_of(const Call& call, int64_t i) {
  return i * (call.params[kDstGap] + 1) * kFractalBytes;
}

void access(const Call& call, AccessList& list) {
  const int64_t repeats = call.params[kRepeats];
  if (transposes(call) && call.itemsize(0) != 2) list.fault("if_transpose needs a 16-bit dtype");
  list.add(AccessKind::Copy, 1, src_of(call, 0), kFractalBytes, repeats,
           call.params[kSrcStride] * kFractalBytes);
  list.add(AccessKind::Write, 0, 0, kFractalBytes, repeats, dst_of(call, 1));
}

// Byte of the source fractal that lands on byte `at` of the destination fractal.
int64_t source_byte(const Call& call, int64_t at) {
  if (!transposes(call)) return at;
  const int64_t element = at / 2;
  return (element % kCubeSide * kCubeSide + element / kCubeSide) * 2 + at % 2;
}

void run(Call& call, Memories& memories) {
  for (int64_t i = 0; i < call.params[kRepeats]; ++i) {
    const uint8_t* src = memories.operand<const uint8_t>(call, 1) + src_of(call, i);
    uint8_t* dst = memories.operand<uint8_t>(call, 0) + dst_of(call, i);
    if (!transposes(call)) {
      std::memcpy(dst, src, kFractalBytes);
      continue;
    }
    const auto* from = reinterpret_cast<const uint16_t*>(src);
    auto* to = reinterpret_cast<uint16_t*>(dst);
    for (int64_t row = 0; row < kCubeSide; ++row) {
      for (int64_t column = 0; column < kCubeSide; ++column)
        to[row * kCubeSide + column] = from[column * kCubeSide + row];
    }
  }
}

void poison(const Call& call, PoisonMaps& maps) {
  if (call.spaces[1] == Space::GM) return;
  for (int64_t i = 0; i < call.params[kRepeats]; ++i) {
    const int64_t src = call.operands[1] + src_of(call, i);
    const int64_t dst = call.operands[0] + dst_of(call, i);
    if (maps.find(call.spaces[1], src, src + kFractalBytes) < 0) continue;
    for (int64_t at = 0; at < kFractalBytes; ++at) {
      maps.set(call.spaces[0], dst + at, dst + at + 1,
               maps.get(call.spaces[1], src + source_byte(call, at)));
    }
  }
}

}  // namespace

extern const Body body_load_data_2d;
const Body body_load_data_2d{access, run, poison, nullptr, nullptr};

}  // namespace tvm_ascend::sim

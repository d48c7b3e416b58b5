// SPDX-License-Identifier: Apache-2.0
// TransDataTo5HD: sixteen blocks, read as rows, become sixteen blocks of columns.
#include <cstring>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kRows = kCubeSide;
enum { kDst, kSrc };
enum { kStep, kHigh = 2, kRepeat = 4, kRepStride };  // those of dst, of src one later

int64_t step(const Call& call, int operand) {
  return call.params[kStep + operand] * call.itemsize(operand);
}

// Where the blocks of a repeat start: a single repeat is already one stride on.
int64_t start(const Call& call, int operand, int64_t repeat) {
  const int64_t strides = call.params[kRepeat] == 1 ? 1 : repeat;
  return strides * call.params[kRepStride + operand] * kBlockBytes;
}

bool bytes_only(const Call& call) { return call.itemsize(kSrc) == 1; }
int64_t half_block(const Call& call, int operand) {
  return bytes_only(call) && call.params[kHigh + operand] != 0 ? kBlockBytes / 2 : 0;
}

void access(const Call& call, AccessList& list) {
  for (int operand : {kSrc, kDst}) {
    if (step(call, operand) % kBlockBytes != 0) {
      list.fault(std::string(call.op->params[kStep + operand].name) + " is no whole block");
      return;
    }
    list.add(operand == kSrc ? AccessKind::Read : AccessKind::Write, operand,
             start(call, operand, 0) + half_block(call, operand),
             bytes_only(call) ? kBlockBytes / 2 : kBlockBytes, kRows, step(call, operand),
             call.params[kRepeat], call.params[kRepStride + operand] * kBlockBytes);
  }
}

void run(Call& call, Memories& memories) {
  const int64_t size = call.itemsize(kSrc);
  const int64_t columns = bytes_only(call) ? kRows : kBlockBytes / size;
  const int64_t in_block = columns;  // a block of dst holds as many elements
  for (int64_t repeat = 0; repeat < call.params[kRepeat]; ++repeat) {
    uint8_t tile[kRows * kBlockBytes];
    for (int64_t row = 0; row < kRows; ++row) {
      std::memcpy(tile + row * columns * size,
                  memories.operand<uint8_t>(call, kSrc) + start(call, kSrc, repeat) +
                      row * step(call, kSrc) + half_block(call, kSrc),
                  columns * size);
    }
    for (int64_t i = 0; i < kRows * columns; ++i) {
      const int64_t row = i % kRows;
      const int64_t column = i / kRows;
      std::memcpy(memories.operand<uint8_t>(call, kDst) + start(call, kDst, repeat) +
                      i / in_block * step(call, kDst) + half_block(call, kDst) +
                      i % in_block * size,
                  tile + (row * columns + column) * size, size);
    }
  }
}

}  // namespace

extern const Body body_trans_data_to_5hd;
const Body body_trans_data_to_5hd{access, run};

}  // namespace tvm_ascend::sim

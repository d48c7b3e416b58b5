// SPDX-License-Identifier: Apache-2.0
// Transpose: one tile of 16 by 16 two-byte elements.
#include <algorithm>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

void access(const Call& call, AccessList& list) {
  list.add(AccessKind::Read, 1, 0, kCubeSide * kCubeSide * call.itemsize(1));
  list.add(AccessKind::Write, 0, 0, kCubeSide * kCubeSide * call.itemsize(0));
}

void run(Call& call, Memories& memories) {
  uint16_t tile[kCubeSide * kCubeSide];
  std::copy_n(memories.operand<const uint16_t>(call, 1), kCubeSide * kCubeSide, tile);
  auto* dst = memories.operand<uint16_t>(call, 0);
  for (int64_t i = 0; i < kCubeSide * kCubeSide; ++i)
    dst[i] = tile[i % kCubeSide * kCubeSide + i / kCubeSide];
}

}  // namespace

extern const Body body_transpose;
const Body body_transpose{access, run};

}  // namespace tvm_ascend::sim

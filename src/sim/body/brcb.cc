// SPDX-License-Identifier: Apache-2.0
// Brcb: each of eight source elements per repeat fills one 32-byte block.
#include <cstring>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kElementsPerRepeat = 8;
enum { kRepeat, kBlockStride, kRepeatStride };

void access(const Call& call, AccessList& list) {
  const int64_t repeats = call.params[kRepeat];
  list.add(AccessKind::Read, 1, 0, repeats * kElementsPerRepeat * call.itemsize(1));
  list.add(AccessKind::Write, 0, 0, kBlockBytes, kElementsPerRepeat,
           call.params[kBlockStride] * kBlockBytes, repeats,
           call.params[kRepeatStride] * kBlockBytes);
}

void run(Call& call, Memories& memories) {
  const int64_t size = call.itemsize(0);
  for (int64_t i = 0; i < call.params[kRepeat] * kElementsPerRepeat; ++i) {
    const int64_t block = i / kElementsPerRepeat * call.params[kRepeatStride] +
                          i % kElementsPerRepeat * call.params[kBlockStride];
    uint8_t* dst = memories.operand<uint8_t>(call, 0) + block * kBlockBytes;
    for (int64_t byte = 0; byte < kBlockBytes; byte += size)
      std::memcpy(dst + byte, memories.operand<uint8_t>(call, 1) + i * size, size);
  }
}

}  // namespace

extern const Body body_brcb;
const Body body_brcb{access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

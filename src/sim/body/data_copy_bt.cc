// SPDX-License-Identifier: Apache-2.0
// DataCopy from L1 to the bias table: bursts and gaps of dst count in 64 bytes; half becomes float.
#include "bursts.h"

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kUnit = 64;

Bursts bursts(const Call& call) { return Bursts(call, kUnit, call.itemsize(0) / call.itemsize(1)); }

void access(const Call& call, AccessList& list) { bursts(call).access(call, list); }

void run(Call& call, Memories& memories) {
  const Bursts shape = bursts(call);
  if (call.dtype(1) != DType::float16) return shape.run(call, memories);
  for (int64_t i = 0; i < shape.count; ++i) {
    auto* dst = reinterpret_cast<float*>(memories.operand<uint8_t>(call, 0) + i * shape.dst_pitch);
    const auto* src = reinterpret_cast<const Half*>(memories.operand<const uint8_t>(call, 1) +
                                                    i * shape.src_pitch);
    for (int64_t j = 0; j < shape.src_bytes / 2; ++j) dst[j] = static_cast<float>(src[j]);
  }
}

void poison(const Call& call, PoisonMaps& maps) {
  const Bursts shape = bursts(call);
  if (call.dtype(1) != DType::float16) return shape.poison(call, maps);
  for (int64_t i = 0; i < shape.count; ++i) {
    const int64_t dst = call.operands[0] + i * shape.dst_pitch;
    const int64_t src = call.operands[1] + i * shape.src_pitch;
    for (int64_t at = 0; at < shape.src_bytes; at += 2) {
      const bool undefined = maps.find(call.spaces[1], src + at, src + at + 2) >= 0;
      maps.set(call.spaces[0], dst + 2 * at, dst + 2 * at + 4, undefined);
    }
  }
}

}  // namespace

extern const Body body_data_copy_bt;
const Body body_data_copy_bt{access, run, poison, nullptr, nullptr};

}  // namespace tvm_ascend::sim

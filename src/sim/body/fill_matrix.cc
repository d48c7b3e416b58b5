// SPDX-License-Identifier: Apache-2.0
// Fill (once InitConstValue): groups of 32-byte blocks of L1, or of fractals of L0A and L0B, get a
// constant.
#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum { kRepeats, kBlocks, kGap, kValue };

int64_t unit(const Call& call) { return call.spaces[0] == Space::L1 ? kBlockBytes : kFractalBytes; }
int64_t pitch(const Call& call) { return (call.params[kBlocks] + call.params[kGap]) * unit(call); }

void access(const Call& call, AccessList& list) {
  list.add(AccessKind::Write, 0, 0, call.params[kBlocks] * unit(call), call.params[kRepeats],
           pitch(call));
}

template <typename T>
void fill(const Call& call, Memories& memories) {
  const T value = scalar_from_word<T>(call.params[kValue]);
  for (int64_t r = 0; r < call.params[kRepeats]; ++r) {
    auto* at = reinterpret_cast<T*>(memories.operand<uint8_t>(call, 0) + r * pitch(call));
    const auto elements = static_cast<int64_t>(call.params[kBlocks] * unit(call) / sizeof(T));
    for (int64_t i = 0; i < elements; ++i) at[i] = value;
  }
}

void run(Call& call, Memories& memories) {
  switch (call.dtype(0)) {
    case DType::float16:
      return fill<Half>(call, memories);
    case DType::bfloat16:
      return fill<BFloat>(call, memories);
    case DType::float32:
      return fill<float>(call, memories);
    case DType::int16:
    case DType::uint16:
    case DType::int8:  // in pairs
    case DType::uint8:
      return fill<Int<uint16_t>>(call, memories);
    default:
      return fill<Int<uint32_t>>(call, memories);
  }
}

}  // namespace

extern const Body body_fill_matrix;
const Body body_fill_matrix{access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

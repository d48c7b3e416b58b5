// SPDX-License-Identifier: Apache-2.0
// GetValue: one element, handed to the control program as int64 or as the bits of a float64.
#include "body.h"

namespace tvm_ascend::sim {

namespace {

void access(const Call& call, AccessList& list) {
  list.add(AccessKind::Read, 0, 0, call.itemsize(0));
}

template <typename T>
int64_t read(const Call& call, const Memories& memories) {
  const T value = *memories.operand<const T>(call, 0);
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat> || std::is_same_v<T, float>) {
    return bit_cast<int64_t>(static_cast<double>(static_cast<float>(value)));
  } else {
    return static_cast<int64_t>(value);
  }
}

int64_t read_any(const Call& call, const Memories& memories) {
  switch (call.dtype(0)) {
    case DType::float16:
      return read<Half>(call, memories);
    case DType::bfloat16:
      return read<BFloat>(call, memories);
    case DType::float32:
      return read<float>(call, memories);
    case DType::int8:
      return read<int8_t>(call, memories);
    case DType::uint8:
    case DType::boolean:
      return read<uint8_t>(call, memories);
    case DType::int16:
      return read<int16_t>(call, memories);
    case DType::uint16:
      return read<uint16_t>(call, memories);
    case DType::int32:
      return read<int32_t>(call, memories);
    case DType::uint32:
      return read<uint32_t>(call, memories);
    default:
      return read<int64_t>(call, memories);
  }
}

void run(Call& call, Memories& memories) { call.result = read_any(call, memories); }

}  // namespace

extern const Body body_get_value;
const Body body_get_value{access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

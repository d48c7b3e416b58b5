// SPDX-License-Identifier: Apache-2.0
// DumpTensor: the elements of a tensor as text.
#include <cstdio>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum { kDesc, kSize };
constexpr int64_t kMostBytes = 30 * 1024;  // [doc: ASCEND 3.14]

void access(const Call& call, AccessList& list) {
  const int64_t bytes = call.params[kSize] * call.itemsize(0);
  if (bytes > kMostBytes)
    list.fault("dumps " + std::to_string(bytes) + " bytes; a call takes up to " +
               std::to_string(kMostBytes));
  list.add(AccessKind::Copy, 0, 0, bytes);
}

template <typename T>
std::string text_of(T value) {
  if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else {
    char out[32];
    std::snprintf(out, sizeof(out), "%.9g", static_cast<double>(static_cast<float>(value)));
    return out;
  }
}

template <typename T>
std::string elements(const Call& call, const Memories& memories) {
  std::string out;
  for (int64_t i = 0; i < call.params[kSize]; ++i)
    out += (i == 0 ? "" : " ") + text_of(memories.operand<const T>(call, 0)[i]);
  return out;
}

std::string all_elements(const Call& call, const Memories& memories) {
  switch (call.dtype(0)) {
    case DType::float16:
      return elements<Half>(call, memories);
    case DType::bfloat16:
      return elements<BFloat>(call, memories);
    case DType::float32:
      return elements<float>(call, memories);
    case DType::int8:
      return elements<int8_t>(call, memories);
    case DType::uint8:
      return elements<uint8_t>(call, memories);
    case DType::int16:
      return elements<int16_t>(call, memories);
    case DType::uint16:
      return elements<uint16_t>(call, memories);
    case DType::int32:
      return elements<int32_t>(call, memories);
    case DType::uint32:
      return elements<uint32_t>(call, memories);
    case DType::uint64:
      return elements<uint64_t>(call, memories);
    default:
      return elements<int64_t>(call, memories);
  }
}

std::string print(const Call& call, const Memories* memories) {
  std::string where = name_of(call.spaces[0]);
  if (call.spaces[0] != Space::GM) where += " byte " + std::to_string(call.operands[0]);
  const std::string head = "desc=" + std::to_string(call.params[kDesc]) + " " +
                           name_of(call.dtype(0)) + "[" + std::to_string(call.params[kSize]) +
                           "] at " + where + ":";
  return memories == nullptr ? head + " no data" : head + " " + all_elements(call, *memories);
}

}  // namespace

extern const Body body_dump_tensor;
const Body body_dump_tensor{access, nullptr, nullptr, nullptr, nullptr, nullptr, print};

}  // namespace tvm_ascend::sim

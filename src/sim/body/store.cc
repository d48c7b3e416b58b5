// SPDX-License-Identifier: Apache-2.0
#include "store.h"

#include "../numeric.h"

namespace tvm_ascend::sim {

namespace {

enum { kAdd = 1, kMax, kMin };

BFloat add(BFloat a, BFloat b) { return BFloat(float(a) + float(b)); }
template <typename T>
T add(T a, T b) {
  return a + b;
}
BFloat largest(BFloat a, BFloat b) { return BFloat(max(float(a), float(b))); }
BFloat least(BFloat a, BFloat b) { return BFloat(min(float(a), float(b))); }
template <typename T>
T largest(T a, T b) {
  return max(a, b);
}
template <typename T>
T least(T a, T b) {
  return min(a, b);
}

// Rounded after every addition, integers wrap [guess: the vendor's pages do not say].
template <typename T>
void combine_as(int64_t operation, void* dst, const void* src, int64_t bytes) {
  auto* to = static_cast<T*>(dst);
  const auto* from = static_cast<const T*>(src);
  for (int64_t i = 0; i < bytes / static_cast<int64_t>(sizeof(T)); ++i) {
    to[i] = operation == kAdd   ? add(to[i], from[i])
            : operation == kMax ? largest(to[i], from[i])
                                : least(to[i], from[i]);
  }
}

}  // namespace

void combine(const Registers& registers, void* dst, const void* src, int64_t bytes) {
  const int64_t operation = registers[Register::atomic];
  switch (static_cast<DType>(registers[Register::atomic_type])) {
    case DType::float16:
      return combine_as<Half>(operation, dst, src, bytes);
    case DType::bfloat16:
      return combine_as<BFloat>(operation, dst, src, bytes);
    case DType::float32:
      return combine_as<float>(operation, dst, src, bytes);
    case DType::int8:
      return combine_as<Int<int8_t>>(operation, dst, src, bytes);
    case DType::int16:
      return combine_as<Int<int16_t>>(operation, dst, src, bytes);
    default:
      return combine_as<Int<int32_t>>(operation, dst, src, bytes);
  }
}

}  // namespace tvm_ascend::sim

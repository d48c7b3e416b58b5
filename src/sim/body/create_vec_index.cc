// SPDX-License-Identifier: Apache-2.0
// CreateVecIndex: counts up as the library does, so that half and float lanes round alike.
#include "body.h"

namespace tvm_ascend::sim {

namespace {

template <typename T>
T number(int64_t value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, float>) {
    return T(static_cast<float>(value));
  } else {
    return T(value);
  }
}

template <typename T>
void count_up(const Call& call, Memories& memories) {
  constexpr auto kBlock = static_cast<int64_t>(kBlockBytes / sizeof(T));
  constexpr auto kRepeat = static_cast<int64_t>(kRepeatBytes / sizeof(T));
  const T first = scalar_from_word<T>(call.params[0]);
  T* dst = memories.operand<T>(call, 0);
  for (int64_t i = 0; i < call.params[1]; ++i) {
    if (i < kBlock) {
      dst[i] = first + number<T>(i);
    } else {
      const int64_t back = i < kRepeat ? kBlock : kRepeat;
      dst[i] = dst[i - back] + number<T>(back);
    }
  }
}

void access(const Call& call, AccessList& list) {
  list.add(AccessKind::Write, 0, 0, call.params[1] * call.itemsize(0));
}

void run(Call& call, Memories& memories) {
  switch (call.dtype(0)) {
    case DType::float16:
      return count_up<Half>(call, memories);
    case DType::float32:
      return count_up<float>(call, memories);
    case DType::int16:
      return count_up<Int<int16_t>>(call, memories);
    default:
      return count_up<Int<int32_t>>(call, memories);
  }
}

}  // namespace

extern const Body body_create_vec_index;
const Body body_create_vec_index{access, run};

}  // namespace tvm_ascend::sim

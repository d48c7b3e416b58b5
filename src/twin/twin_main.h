// SPDX-License-Identifier: Apache-2.0
// The two exports of a twin library; TVM_ASCEND_TWIN_MAIN(kernel, parameters) follows the kernel's
// source.
#ifndef TVM_ASCEND_TWIN_TWIN_MAIN_H_
#define TVM_ASCEND_TWIN_TWIN_MAIN_H_

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "bridge.h"

namespace twin {

template <typename T>
T Argument(int64_t word) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(word);
  } else if constexpr (kFloating<T> || std::is_same_v<T, double>) {
    double wide;
    __builtin_memcpy(&wide, &word, sizeof(wide));
    if constexpr (std::is_same_v<T, double>) return wide;
    return static_cast<T>(static_cast<float>(wide));
  } else {
    return static_cast<T>(word);
  }
}

template <typename... P, std::size_t... i>
void Call(void (*kernel)(P...), const int64_t* args, std::index_sequence<i...>) {
  kernel(Argument<P>(args[i])...);
}

template <std::size_t count, typename... P>
void Run(void (*kernel)(P...), const int64_t* args) {
  static_assert(sizeof...(P) == count, "the kernel has another number of parameters");
  Call(kernel, args, std::make_index_sequence<count>());
}

inline const char* Bind(const TwinApi* given) {
  if (given->version != TVM_ASCEND_TWIN_VERSION) {
    return "the twin was built for another version of the simulator's interface";
  }
  api = given;
  return nullptr;
}

}  // namespace twin

#define TVM_ASCEND_TWIN_EXPORT extern "C" __attribute__((visibility("default")))
#define TVM_ASCEND_TWIN_MAIN(kernel, count)                                     \
  TVM_ASCEND_TWIN_EXPORT const char* tvm_ascend_twin_bind(const TwinApi* api) { \
    return twin::Bind(api);                                                     \
  }                                                                             \
  TVM_ASCEND_TWIN_EXPORT void tvm_ascend_twin_run(const int64_t* args) {        \
    twin::Run<count>(kernel, args);                                             \
  }

#endif  // TVM_ASCEND_TWIN_TWIN_MAIN_H_

// SPDX-License-Identifier: Apache-2.0
// Tells AddressSanitizer, when it is compiled in, that the stack changes.
#ifndef TVM_ASCEND_SIM_SANITIZER_H_
#define TVM_ASCEND_SIM_SANITIZER_H_

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace tvm_ascend::sim {

struct StackBounds {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

#if defined(__SANITIZE_ADDRESS__)
// `saved` keeps what the stack being left needs on return; null when it is left for good.
inline void before_switch(void** saved, const StackBounds& to) {
  __sanitizer_start_switch_fiber(saved, to.bottom, to.bytes);
}
inline void after_switch(void* saved, StackBounds* from) {
  __sanitizer_finish_switch_fiber(saved, from == nullptr ? nullptr : &from->bottom,
                                  from == nullptr ? nullptr : &from->bytes);
}
#else
inline void before_switch(void** /*saved*/, const StackBounds& /*to*/) {}
inline void after_switch(void* /*saved*/, StackBounds* /*from*/) {}
#endif

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_SANITIZER_H_

// SPDX-License-Identifier: Apache-2.0
// Storing to GM, where an atomic operation may be set.
#ifndef TVM_ASCEND_SIM_BODY_STORE_H_
#define TVM_ASCEND_SIM_BODY_STORE_H_

#include <cstring>

#include "../op.h"

namespace tvm_ascend::sim {

// Combines elements with those at dst; `store` is what to call.
void combine(const Registers& registers, void* dst, const void* src, int64_t bytes);

inline void store(const Call& call, void* dst, const void* src, int64_t bytes) {
  if (stores_atomically(call)) {
    combine(call.registers, dst, src, bytes);
  } else {
    std::memmove(dst, src, bytes);
  }
}

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_BODY_STORE_H_

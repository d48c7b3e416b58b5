// SPDX-License-Identifier: Apache-2.0
// What every body file needs.
#ifndef TVM_ASCEND_SIM_BODY_BODY_H_
#define TVM_ASCEND_SIM_BODY_BODY_H_

#include "../access.h"
#include "../memory.h"
#include "../numeric.h"
#include "../op.h"

namespace tvm_ascend::sim {

inline int64_t div_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_BODY_BODY_H_

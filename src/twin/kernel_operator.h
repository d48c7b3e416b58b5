// SPDX-License-Identifier: Apache-2.0
// The part of Ascend C that tvm_ascend emits, for a host compiler: every instruction runs on the
// simulator.
#ifndef TVM_ASCEND_TWIN_KERNEL_OPERATOR_H_
#define TVM_ASCEND_TWIN_KERNEL_OPERATOR_H_

#include <cstdint>

#define __global__
#define __aicore__
#define __gm__
#define GM_ADDR __gm__ uint8_t*
#define KERNEL_TASK_TYPE_DEFAULT(value)
// The vendor compiles a mixed kernel once for each kind of core; the twin asks which it runs on.
#define ASCEND_IS_AIC (twin::api->is_cube() != 0)
#define ASCEND_IS_AIV (twin::api->is_cube() == 0)

// clang-format off: each of these needs the ones before it
#include "ascendc_enums.h"
#include "float16.h"
#include "bridge.h"
#include "tensor.h"
#include "tpipe.h"

#include "ascendc_structs.inc"
#include "ascendc_functions.inc"
// clang-format on

namespace AscendC {

__aicore__ inline int64_t GetBlockIdx() { return twin::api->block_idx(); }
__aicore__ inline int64_t GetBlockNum() { return twin::api->block_num(); }
__aicore__ inline int64_t GetSubBlockIdx() { return twin::api->sub_block_idx(); }
__aicore__ inline int64_t GetSubBlockNum() { return twin::api->sub_block_num(); }

}  // namespace AscendC

#endif  // TVM_ASCEND_TWIN_KERNEL_OPERATOR_H_

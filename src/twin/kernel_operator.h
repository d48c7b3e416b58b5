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

}  // namespace AscendC

#endif  // TVM_ASCEND_TWIN_KERNEL_OPERATOR_H_

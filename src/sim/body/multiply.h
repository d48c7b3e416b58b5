// SPDX-License-Identifier: Apache-2.0
// The inner product of Mmad, as wide as the host's vectors.
#ifndef TVM_ASCEND_SIM_BODY_MULTIPLY_H_
#define TVM_ASCEND_SIM_BODY_MULTIPLY_H_

#include <cstdint>

namespace tvm_ascend::sim {

// Adds A[m, k] B[k, 16] to C[m, 16], all row-major and without gaps. Every sum is taken in the
// order of k without fused operations, so its bits are the same on every host.
void multiply_rows(const float* a, const float* b, int64_t m, int64_t k, float* c);
void multiply_rows(const uint32_t* a, const uint32_t* b, int64_t m, int64_t k, uint32_t* c);

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_BODY_MULTIPLY_H_

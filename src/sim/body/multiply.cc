// SPDX-License-Identifier: Apache-2.0
#include "multiply.h"

#include <cstring>

#include "../op.h"

// One version of a function for each width of vectors; the loader takes the widest the host has.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define TVM_ASCEND_FOR_EACH_HOST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TVM_ASCEND_FOR_EACH_HOST
#endif

namespace tvm_ascend::sim {

namespace {

// `kRows` rows at once: their sums stay in registers, and each row of B is loaded once for all.
template <int kRows, typename Acc>
__attribute__((always_inline)) inline void multiply_block(const Acc* a, const Acc* b, int64_t k,
                                                          Acc* c) {
  typedef Acc Row __attribute__((vector_size(kCubeSide * sizeof(Acc))));
  Row sums[kRows];
  std::memcpy(sums, c, sizeof(sums));
  for (int64_t i = 0; i < k; ++i) {
    Row values;
    std::memcpy(&values, b + i * kCubeSide, sizeof(values));
    for (int row = 0; row < kRows; ++row) sums[row] += a[row * k + i] * values;
  }
  std::memcpy(c, sums, sizeof(sums));
}

template <typename Acc>
__attribute__((always_inline)) inline void multiply_all(const Acc* a, const Acc* b, int64_t m,
                                                        int64_t k, Acc* c) {
  constexpr int kRows = 4;
  int64_t row = 0;
  for (; row + kRows <= m; row += kRows)
    multiply_block<kRows>(a + row * k, b, k, c + row * kCubeSide);
  for (; row < m; ++row) multiply_block<1>(a + row * k, b, k, c + row * kCubeSide);
}

}  // namespace

TVM_ASCEND_FOR_EACH_HOST
void multiply_rows(const float* a, const float* b, int64_t m, int64_t k, float* c) {
  multiply_all(a, b, m, k, c);
}

TVM_ASCEND_FOR_EACH_HOST
void multiply_rows(const uint32_t* a, const uint32_t* b, int64_t m, int64_t k, uint32_t* c) {
  multiply_all(a, b, m, k, c);
}

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// Meaning of the lane-wise rows: the loops; the lane functions are generated.
#include <algorithm>
#include <array>

#include "access.h"
#include "memory.h"
#include "numeric.h"

namespace tvm_ascend::sim {

namespace {

// Applies the lane function to `count` lanes that lie next to each other in every operand.
template <typename Lane, typename T>
void apply(T* dst, const std::array<const T*, 3>& src, T scalar, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (Lane::kSources == 0) {
      dst[i] = Lane::template eval<T>(scalar);
    } else if constexpr (Lane::kSources == 1) {
      dst[i] = Lane::template eval<T>(src[0][i], scalar);
    } else if constexpr (Lane::kSources == 2) {
      dst[i] = Lane::template eval<T>(src[0][i], src[1][i], scalar);
    } else {
      dst[i] = Lane::template eval<T>(src[0][i], src[1][i], src[2][i], scalar);
    }
  }
}

template <typename Lane, typename T>
void apply_repeats(const Call& call, T* dst, const std::array<const T*, 3>& src,
                   const std::array<int, 3>& sources, T scalar) {
  constexpr auto kLanesPerBlock = kBlockBytes / static_cast<int64_t>(sizeof(T));
  const int64_t mask = call.params[call.op->mask];
  const int64_t repeats = call.params[call.op->repeat];
  auto step = [&](int operand, int64_t repeat, int64_t block) {
    return (repeat * repeat_stride(call, operand) + block * block_stride(call, operand)) *
           kLanesPerBlock;
  };
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    for (int64_t block = 0; block * kLanesPerBlock < mask; ++block) {
      std::array<const T*, 3> at{};
      for (int i = 0; i < Lane::kSources; ++i) at[i] = src[i] + step(sources[i], repeat, block);
      apply<Lane>(dst + step(0, repeat, block), at, scalar,
                  std::min(kLanesPerBlock, mask - block * kLanesPerBlock));
    }
  }
}

template <typename Lane, DType kDType>
void run_lanes(const Call& call, Memories& memories) {
  using T = typename LaneType<kDType>::type;
  const OpInfo& op = *call.op;
  std::array<const T*, 3> src{};
  std::array<int, 3> sources{};
  for (int i = 0, n = 0; i < op.n_operands && n < Lane::kSources; ++i) {
    if (!op.operands[i].read) continue;
    src[n] = memories.operand<const T>(call, i);
    sources[n++] = i;
  }
  T* dst = memories.operand<T>(call, 0);
  const T scalar = op.scalar < 0 ? T() : scalar_from_word<T>(call.params[op.scalar]);
  if (op.form == Form::Count) {
    apply<Lane>(dst, src, scalar, call.params[op.count]);
  } else {
    apply_repeats<Lane>(call, dst, src, sources, scalar);
  }
}

}  // namespace

#include "../isa/isa_lanes.inc"

}  // namespace tvm_ascend::sim

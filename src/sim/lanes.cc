// SPDX-License-Identifier: Apache-2.0
// Meaning of the lane-wise rows: the loops; the lane functions are generated.
#include <algorithm>
#include <array>

#include "access.h"
#include "memory.h"
#include "numeric.h"
#include "strided.h"

namespace tvm_ascend::sim {

namespace {

// Applies the lane function to `count` lanes that lie next to each other in every operand.
template <typename Lane, typename T, typename U>
void apply(T* dst, const std::array<const U*, 2>& src, U scalar, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const T old = Lane::kReadsDst ? dst[i] : T();
    const U first = Lane::kSources > 0 ? src[0][i] : U();
    const U second = Lane::kSources > 1 ? src[1][i] : U();
    dst[i] = Lane::template eval<T, U>(old, first, second, scalar);
  }
}

template <typename Lane, typename T, typename U>
void apply_and_saturate(T* dst, const std::array<const U*, 2>& src, U scalar, int64_t count) {
  apply<Lane>(dst, src, scalar, count);
  for (int64_t i = 0; i < count; ++i) dst[i] = saturated(dst[i]);
}

template <typename Lane, typename T, typename U>
void apply_repeats(const Call& call, T* dst, const std::array<const U*, 2>& src, U scalar,
                   decltype(&apply<Lane, T, U>) each) {
  constexpr auto kWidest = static_cast<int64_t>(std::max(sizeof(T), sizeof(U)));
  const Strided<T> to(call, 0, dst);
  const Strided<const U> first(call, Lane::kSources > 0 ? 1 : 0, src[0]);
  const Strided<const U> second(call, Lane::kSources > 1 ? 2 : 0, src[1]);
  const bool whole =
      to.whole() && (Lane::kSources < 1 || first.whole()) && (Lane::kSources < 2 || second.whole());
  const int64_t step = (whole ? kRepeatBytes : kBlockBytes) / kWidest;
  each_run(call, [&](int64_t repeat, const LaneRun& run) {
    const int64_t end = run.first + run.count;
    for (int64_t lane = run.first; lane < end;) {
      const int64_t count = std::min(end, (lane / step + 1) * step) - lane;
      const std::array<const U*, 2> at = {Lane::kSources > 0 ? first.at(repeat, lane) : nullptr,
                                          Lane::kSources > 1 ? second.at(repeat, lane) : nullptr};
      each(to.at(repeat, lane), at, scalar, count);
      lane += count;
    }
  });
}

template <typename Lane, DType kTo, DType kFrom>
void run_lanes(const Call& call, Memories& memories) {
  using T = typename LaneType<kTo>::type;
  using U = typename LaneType<kFrom>::type;
  const OpInfo& op = *call.op;
  std::array<const U*, 2> src{};
  for (int i = 0; i < Lane::kSources; ++i) src[i] = memories.operand<const U>(call, i + 1);
  T* dst = memories.operand<T>(call, 0);
  const U scalar = op.scalar < 0 ? U() : scalar_from_word<U>(call.params[op.scalar]);
  auto* each =
      Lane::kComputes && saturates(call) ? &apply_and_saturate<Lane, T, U> : &apply<Lane, T, U>;
  if (op.form == Form::Count) {
    each(dst, src, scalar, call.params[op.count]);
  } else {
    apply_repeats<Lane>(call, dst, src, scalar, each);
  }
}

}  // namespace

#include "../isa/isa_lanes.inc"

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// Reductions of the lanes of a repeat, of a block or of a pair, by a tree over neighbouring lanes;
// a masked lane takes no part.
#ifndef TVM_ASCEND_SIM_BODY_REDUCE_H_
#define TVM_ASCEND_SIM_BODY_REDUCE_H_

#include <algorithm>
#include <array>

#include "../strided.h"
#include "body.h"

namespace tvm_ascend::sim {

struct Sum {
  template <typename T>
  static T combine(T a, T b) {
    return a + b;
  }
};
struct Largest {
  template <typename T>
  static T combine(T a, T b) {
    return max(a, b);
  }
};
struct Smallest {
  template <typename T>
  static T combine(T a, T b) {
    return min(a, b);
  }
};

template <typename T>
struct Lanes {
  static constexpr auto kCount = static_cast<int64_t>(kRepeatBytes / sizeof(T));
  std::array<T, kCount> value;
  std::array<bool, kCount> active{};

  // Combines `count` lanes, a power of two, into the first; false if none of them is active.
  template <typename Op>
  bool reduce(int64_t first, int64_t count) {
    for (int64_t step = 1; step < count; step *= 2) {
      for (int64_t i = first; i < first + count; i += 2 * step) {
        if (!active[i + step]) continue;
        value[i] = active[i] ? Op::combine(value[i], value[i + step]) : value[i + step];
        active[i] = true;
      }
    }
    return active[first];
  }
};

template <typename T>
T result_of(const Call& call, T value) {
  return saturates(call) ? saturated(value) : value;
}

inline int64_t dst_repeat(const Call& call) { return call.params[call.op->rep[0]]; }

// Calls visit(repeat, lanes) with the lanes of each repeat of operand 1.
template <typename T, typename Visit>
void each_repeat(const Call& call, Memories& memories, Visit visit) {
  const Strided<const T> src(call, 1, memories.operand<const T>(call, 1));
  for (const LaneGroup& group : LaneGroups(call)) {
    for (int64_t repeat = group.first; repeat < group.first + group.repeats; ++repeat) {
      Lanes<T> lanes;
      for (const LaneRun& run : group.runs) {
        for (int64_t lane = run.first; lane < run.first + run.count; ++lane) {
          lanes.value[lane] = *src.at(repeat, lane);
          lanes.active[lane] = true;
        }
      }
      visit(repeat, lanes);
    }
  }
}

template <typename Run>
void by_float(const Call& call, Run run) {
  if (call.dtype(0) == DType::float16) {
    run(Half());
  } else {
    run(float());
  }
}

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_BODY_REDUCE_H_

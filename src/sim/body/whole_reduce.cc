// SPDX-License-Identifier: Apache-2.0
// ReduceRepeat (once WholeReduce*): one result for each repeat.
#include "reduce.h"

namespace tvm_ascend::sim {

namespace {

void access(const Call& call, AccessList& list) {
  if (!check_mask(call, list)) return;
  masked_access(call, 1, AccessKind::Read, list);
  if (LaneRuns(call).empty()) return;
  const int64_t size = call.itemsize(0);
  list.add(AccessKind::Write, 0, 0, size, masked_repeats(call), dst_repeat(call) * size);
}

template <typename Op>
void run(Call& call, Memories& memories) {
  by_float(call, [&](auto zero) {
    using T = decltype(zero);
    T* dst = memories.operand<T>(call, 0);
    each_repeat<T>(call, memories, [&](int64_t repeat, Lanes<T>& lanes) {
      if (lanes.template reduce<Op>(0, lanes.kCount))
        dst[repeat * dst_repeat(call)] = result_of(call, lanes.value[0]);
    });
  });
}

}  // namespace

extern const Body body_whole_reduce_sum;
extern const Body body_whole_reduce_max;
extern const Body body_whole_reduce_min;
const Body body_whole_reduce_sum{access, run<Sum>};
const Body body_whole_reduce_max{access, run<Largest>};
const Body body_whole_reduce_min{access, run<Smallest>};

}  // namespace tvm_ascend::sim

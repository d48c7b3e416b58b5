// SPDX-License-Identifier: Apache-2.0
// ReduceDataBlock and ReducePairElem (once BlockReduce*, PairReduceSum): one result for each block
// or pair, side by side; one without active lanes leaves its result as it was.
#include "reduce.h"

namespace tvm_ascend::sim {

namespace {

int64_t block_lanes(const Call& call) { return kBlockBytes / call.itemsize(1); }
int64_t pair_lanes(const Call& /*call*/) { return 2; }

template <int64_t (*kLanes)(const Call&)>
int64_t unit(const Call& call) {
  return kRepeatBytes / kLanes(call);  // bytes of the results of one repeat
}

template <int64_t (*kLanes)(const Call&)>
void access(const Call& call, AccessList& list) {
  if (!check_mask(call, list)) return;
  masked_access(call, 1, AccessKind::Read, list);
  const int64_t size = call.itemsize(0);
  const int64_t repeat = dst_repeat(call) * unit<kLanes>(call);
  for (const LaneGroup& group : LaneGroups(call)) {
    int64_t done = 0;  // groups of lanes before this one are listed
    for (const LaneRun& run : group.runs) {
      const int64_t first = std::max(done, run.first / kLanes(call));
      done = (run.first + run.count - 1) / kLanes(call) + 1;
      list.add(AccessKind::Write, 0, group.first * repeat + first * size, (done - first) * size,
               group.repeats, repeat);
    }
  }
}

template <int64_t (*kLanes)(const Call&), typename Op>
void run(Call& call, Memories& memories) {
  by_float(call, [&](auto zero) {
    using T = decltype(zero);
    T* dst = memories.operand<T>(call, 0);
    const int64_t count = kLanes(call);
    each_repeat<T>(call, memories, [&](int64_t repeat, Lanes<T>& lanes) {
      const int64_t base = repeat * dst_repeat(call) * (lanes.kCount / count);
      for (int64_t group = 0; group < lanes.kCount / count; ++group) {
        if (lanes.template reduce<Op>(group * count, count))
          dst[base + group] = result_of(call, lanes.value[group * count]);
      }
    });
  });
}

}  // namespace

extern const Body body_block_reduce_sum;
extern const Body body_block_reduce_max;
extern const Body body_block_reduce_min;
extern const Body body_pair_reduce_sum;
const Body body_block_reduce_sum{access<block_lanes>, run<block_lanes, Sum>};
const Body body_block_reduce_max{access<block_lanes>, run<block_lanes, Largest>};
const Body body_block_reduce_min{access<block_lanes>, run<block_lanes, Smallest>};
const Body body_pair_reduce_sum{access<pair_lanes>, run<pair_lanes, Sum>};

}  // namespace tvm_ascend::sim

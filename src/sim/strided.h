// SPDX-License-Identifier: Apache-2.0
// Lanes of a strided operand.
#ifndef TVM_ASCEND_SIM_STRIDED_H_
#define TVM_ASCEND_SIM_STRIDED_H_

#include "access.h"
#include "memory.h"
#include "op.h"

namespace tvm_ascend::sim {

// An operand of the repeat forms: where each lane of each repeat is.
template <typename T>
class Strided {
 public:
  Strided(const Call& call, int operand, T* base)
      : base_(base),
        block_(block_stride(call, operand) * kLanes),
        repeat_(repeat_stride(call, operand) * kLanes) {}

  T* at(int64_t repeat, int64_t lane) const {
    return base_ + repeat * repeat_ + lane / kLanes * block_ + lane % kLanes;
  }
  bool whole() const { return block_ == kLanes; }

 private:
  static constexpr int64_t kLanes = kBlockBytes / static_cast<int64_t>(sizeof(T));
  T* base_;
  int64_t block_;
  int64_t repeat_;
};

// Calls visit(repeat, run) for the lanes of each repeat of a form with a mask.
template <typename Visit>
void each_run(const Call& call, Visit visit) {
  for (const LaneGroup& group : LaneGroups(call)) {
    for (int64_t repeat = group.first; repeat < group.first + group.repeats; ++repeat) {
      for (const LaneRun& run : group.runs) visit(repeat, run);
    }
  }
}

// dst = lane(source) in every form.
template <typename To, typename From, typename Lane>
void each_lane(const Call& call, Memories& memories, Lane lane) {
  auto* dst = memories.operand<To>(call, 0);
  const auto* src = memories.operand<const From>(call, 1);
  if (call.op->form == Form::Count) {
    for (int64_t i = 0; i < call.params[call.op->count]; ++i) dst[i] = lane(src[i]);
    return;
  }
  const Strided<To> to(call, 0, dst);
  const Strided<const From> from(call, 1, src);
  each_run(call, [&](int64_t repeat, const LaneRun& run) {
    for (int64_t i = run.first; i < run.first + run.count; ++i)
      *to.at(repeat, i) = lane(*from.at(repeat, i));
  });
}

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_STRIDED_H_

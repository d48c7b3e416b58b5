// SPDX-License-Identifier: Apache-2.0
// AddDeqRelu: the library adds into scratch, then scales in place of src0 in float and rounds to
// half in place of src1, both as if their strides were 1 and 8, in parts of 2048 elements.
#include <algorithm>

#include "../strided.h"
#include "dequant.h"

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kPart = 2048;  // elements
constexpr int64_t kLanes = kRepeatBytes / static_cast<int64_t>(sizeof(int32_t));
constexpr int64_t kPartRepeats = kPart / kLanes;

int64_t width(int source) { return source == 1 ? sizeof(float) : sizeof(uint16_t); }

void lose_count(const Call& call, int source, AccessList& list) {
  const int64_t count = call.params[call.op->count];
  for (int64_t first = 0; first < count; first += kPart) {
    list.add(AccessKind::Undefined, source, first * call.itemsize(source),
             std::min(kPart, count - first) * width(source));
  }
}

void lose_repeats(const Call& call, int source, AccessList& list) {
  const int64_t repeat = repeat_stride(call, source) * kBlockBytes;
  const int64_t pitch = kLanes * width(source);
  const LaneRuns lanes(call);
  for (int64_t first = 0, all = masked_repeats(call); first < all; first += kPartRepeats) {
    for (const LaneRun& run : lanes) {
      list.add(AccessKind::Undefined, source, first * repeat + run.first * width(source),
               run.count * width(source), std::min(kPartRepeats, all - first), pitch);
    }
  }
}

void access(const Call& call, AccessList& list) {
  const OpInfo& op = *call.op;
  const bool count = op.form == Form::Count;
  if (op.form == Form::Repeat && !check_mask(call, list)) return;
  for (int source : {1, 2}) {
    if (count) {
      list.add(AccessKind::Read, source, 0, call.params[op.count] * call.itemsize(source));
    } else {
      masked_access(call, source, AccessKind::Read, list);
    }
  }
  if (list.empty()) return;
  need_deq_scale(call, DeqForm::Half, list);
  if (!count && call.registers[Register::mask_counter] != 0)
    list.fault("works in normal mode only; call SetMaskNorm before it");
  const bool parts = !count && masked_repeats(call) > kPartRepeats;
  for (int source : {1, 2}) {
    if (parts && repeat_stride(call, source) < kRepeatBytes / kBlockBytes) {
      list.fault(std::string("overwrites what its next 32 repeats read of ") +
                 op.operands[source].name + "; its repeat stride is below 8");
    }
    count ? lose_count(call, source, list) : lose_repeats(call, source, list);
  }
  if (count) {
    list.add(AccessKind::Write, 0, 0, call.params[op.count] * call.itemsize(0));
  } else {
    masked_access(call, 0, AccessKind::Write, list);
  }
  const int64_t distance = call.operands[1] - call.operands[2];
  int64_t reach[3] = {};
  for (const Access& access : list)
    reach[access.operand] = std::max(reach[access.operand], access.end());
  if (distance < reach[2] && -distance < reach[1])
    list.fault("src0 and src1 overlap, and both are overwritten on the way");
}

void run(Call& call, Memories& memories) {
  constexpr float kSmaller = 0x1p-17F;
  constexpr float kLarger = 0x1p17F;
  const auto scale = static_cast<float>(deq_scale(call));
  const bool finite = saturates(call);
  const auto lane = [=](int32_t a, int32_t b) {
    const Int<int32_t> sum = Int<int32_t>(a) + Int<int32_t>(b);
    const Half half(static_cast<float>(sum.bits) * kSmaller * scale * kLarger);
    return max(Half(0), finite ? saturated(half) : half);
  };
  auto* dst = memories.operand<Half>(call, 0);
  const auto* src0 = memories.operand<const int32_t>(call, 1);
  const auto* src1 = memories.operand<const int32_t>(call, 2);
  if (call.op->form == Form::Count) {
    std::transform(src0, src0 + call.params[call.op->count], src1, dst, lane);
    return;
  }
  const Strided<Half> to(call, 0, dst);
  const Strided<const int32_t> first(call, 1, src0);
  const Strided<const int32_t> second(call, 2, src1);
  each_run(call, [&](int64_t repeat, const LaneRun& run) {
    for (int64_t i = run.first; i < run.first + run.count; ++i)
      *to.at(repeat, i) = lane(*first.at(repeat, i), *second.at(repeat, i));
  });
}

}  // namespace

extern const Body body_add_deq_relu;
const Body body_add_deq_relu{access, run};

}  // namespace tvm_ascend::sim

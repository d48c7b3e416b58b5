// SPDX-License-Identifier: Apache-2.0
// CastDequant from int16 to bytes: times the scale plus the offset, rounded and saturated. The 16
// results of a block of src fill one half of a block of dst.
#include <algorithm>
#include <cmath>

#include "../strided.h"
#include "dequant.h"

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kLanes = kBlockBytes / 2;  // of a block of src

int64_t first_byte(const Call& call) { return call.params[0] != 0 ? kLanes : 0; }

// Calls visit(byte of dst, lane of src, lanes) for the parts of one row of lanes.
template <typename Visit>
void each_part(int64_t first, int64_t count, int64_t block_bytes, Visit visit) {
  for (int64_t lane = first; lane < first + count;) {
    const int64_t lanes = std::min(first + count, (lane / kLanes + 1) * kLanes) - lane;
    visit(lane / kLanes * block_bytes + lane % kLanes, lane, lanes);
    lane += lanes;
  }
}

void access(const Call& call, AccessList& list) {
  const OpInfo& op = *call.op;
  const int64_t half = first_byte(call);
  if (op.form == Form::Count) {
    const int64_t count = call.params[op.count];
    list.add(AccessKind::Read, 1, 0, count * call.itemsize(1));
    list.add(AccessKind::Write, 0, half, kLanes, count / kLanes, kBlockBytes);
    list.add(AccessKind::Write, 0, count / kLanes * kBlockBytes + half, count % kLanes);
  } else {
    if (op.form == Form::Repeat && !check_mask(call, list)) return;
    masked_access(call, 1, AccessKind::Read, list);
    const int64_t block = block_stride(call, 0) * kBlockBytes;
    const int64_t repeat = repeat_stride(call, 0) * kBlockBytes;
    for (const LaneGroup& group : LaneGroups(call)) {
      for (const LaneRun& run : group.runs) {
        each_part(run.first, run.count, block, [&](int64_t byte, int64_t, int64_t lanes) {
          list.add(AccessKind::Write, 0, group.first * repeat + byte + half, lanes, group.repeats,
                   repeat);
        });
      }
    }
  }
  if (list.empty()) return;
  need_deq_scale(call, DeqForm::Offset, list);
  const bool is_signed = call.registers[Register::deq_signed] != 0;
  if (is_signed != (call.dtype(0) == DType::int8)) {
    list.fault(std::string("gives ") + name_of(call.dtype(0)) +
               ", and SetDeqScale was called for " + (is_signed ? "signed" : "unsigned") +
               " results; pass signMode " + (is_signed ? "false" : "true"));
  }
}

class Dequantiser {
 public:
  explicit Dequantiser(const Call& call)
      : scale_(bit_cast<float>(bit_cast<uint32_t>(static_cast<float>(deq_scale(call))) &
                               0xFFFFE000)),  // 10 mantissa bits
        offset_(static_cast<double>(call.registers[Register::deq_offset])),
        low_(call.dtype(0) == DType::int8 ? -128 : 0),
        high_(low_ + 255) {}

  uint8_t operator()(int16_t from) const {
    const double value = from * static_cast<double>(scale_) + offset_;  // exact
    if (std::isnan(value)) return 0;
    return static_cast<uint8_t>(static_cast<int>(std::clamp(std::nearbyint(value), low_, high_)));
  }

 private:
  float scale_;
  double offset_;
  double low_;
  double high_;
};

void run(Call& call, Memories& memories) {
  const Dequantiser converted(call);
  uint8_t* dst = memories.operand<uint8_t>(call, 0) + first_byte(call);
  const auto* src = memories.operand<const int16_t>(call, 1);
  if (call.op->form == Form::Count) {
    each_part(0, call.params[call.op->count], kBlockBytes,
              [&](int64_t byte, int64_t lane, int64_t lanes) {
                std::transform(src + lane, src + lane + lanes, dst + byte, converted);
              });
    return;
  }
  const Strided<const int16_t> from(call, 1, src);
  const int64_t repeat_bytes = repeat_stride(call, 0) * kBlockBytes;
  each_run(call, [&](int64_t repeat, const LaneRun& run) {
    each_part(run.first, run.count, block_stride(call, 0) * kBlockBytes,
              [&](int64_t byte, int64_t lane, int64_t lanes) {
                const int16_t* at = from.at(repeat, lane);
                std::transform(at, at + lanes, dst + repeat * repeat_bytes + byte, converted);
              });
  });
}

}  // namespace

extern const Body body_cast_dequant;
const Body body_cast_dequant{access, run};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// Select: a lane of src0 where its bit is set, else a lane of src1 or a scalar. The bits are in UB,
// those of the first repeat for all in the first mode, or in CmpMask, where the scalar may be too.
#include <cstring>
#include <string_view>

#include "../strided.h"
#include "body.h"

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kBits = 8;
constexpr int kDst = 0;
enum { kFirstRepeat };  // of the modes: the order of the row's values

// Where a row has what it chooses by and from; -1: nowhere.
struct Operands {
  explicit Operands(const OpInfo& op)
      : bits(std::string_view(op.operands[1].name) == "sel_mask" ? 1 : -1),
        src0(bits < 0 ? 1 : 2),
        src1(src0 + 1 < op.n_operands ? src0 + 1 : -1) {}

  int bits;
  int src0;
  int src1;
};

bool reads_cmp_mask(const Call& call) {
  const Operands in(*call.op);
  return in.bits < 0 || (in.src1 < 0 && call.op->scalar < 0);
}

// The bits of the first repeat serve all.
bool repeats_bits(const Call& call) {
  const int mode = param_index(*call.op, "mode");
  return mode < 0 ? Operands(*call.op).bits < 0 : call.params[mode] == kFirstRepeat;
}

int64_t repeat_lanes(const Call& call) { return kRepeatBytes / call.itemsize(kDst); }

void access_bits(const Call& call, int bits, AccessList& list) {
  const int64_t bytes = repeat_lanes(call) / kBits;
  if (repeats_bits(call)) {
    list.add(AccessKind::Read, bits, 0, bytes);
    return;
  }
  for (const LaneGroup& group : LaneGroups(call)) {
    list.add(AccessKind::Read, bits, group.first * bytes, div_up(group.runs.lanes(), kBits),
             group.repeats, bytes);
  }
}

void access(const Call& call, AccessList& list) {
  const OpInfo& op = *call.op;
  const Operands in(op);
  if (op.count >= 0) {
    const int64_t count = call.params[op.count];
    if (count == 0) return;
    const int64_t bits = repeats_bits(call) ? repeat_lanes(call) : count;
    list.add(AccessKind::Read, in.bits, 0, div_up(bits, kBits));
    for (int i = in.src0; i < op.n_operands; ++i)
      list.add(AccessKind::Read, i, 0, count * call.itemsize(i));
    list.add(AccessKind::Write, kDst, 0, count * call.itemsize(kDst));
  } else {
    if (!check_mask(call, list) || masked_repeats(call) == 0) return;
    if (in.bits >= 0) access_bits(call, in.bits, list);
    for (int i = in.src0; i < op.n_operands; ++i) masked_access(call, i, AccessKind::Read, list);
    masked_access(call, kDst, AccessKind::Write, list);
  }
  no_overlap(call, list);
}

void data_access(const Call& call, const Memories* memories, AccessList& list) {
  if (reads_cmp_mask(call)) need_cmp_mask(memories, list);
}

// The same function of (repeat, lane) for every operand that is not there.
template <typename T>
struct Lanes {
  Lanes(const Call& call, int operand, Memories& memories)
      : strided(call, std::max(operand, 0), memories.operand<const T>(call, std::max(operand, 0))),
        there(operand >= 0) {}

  Strided<const T> strided;
  bool there;
};

template <typename T>
T scalar_of(const Call& call, const Memories& memories) {
  if (call.op->scalar >= 0) return scalar_from_word<T>(call.params[call.op->scalar]);
  T scalar;
  std::memcpy(&scalar, memories.cmp_mask().bytes.data(), sizeof(T));
  return scalar;
}

template <typename T>
void select(const Call& call, Memories& memories) {
  const OpInfo& op = *call.op;
  const Operands in(op);
  const uint8_t* bits = in.bits < 0 ? memories.cmp_mask().bytes.data()
                                    : memories.operand<const uint8_t>(call, in.bits);
  const Lanes<T> src0(call, in.src0, memories);
  const Lanes<T> src1(call, in.src1, memories);
  const Strided<T> dst(call, kDst, memories.operand<T>(call, kDst));
  const T scalar = src1.there ? T() : scalar_of<T>(call, memories);
  const bool shared = repeats_bits(call);
  auto choose = [&](int64_t repeat, int64_t lane) {
    const int64_t bit = (shared ? 0 : repeat * repeat_lanes(call)) + lane;
    const bool set = (bits[bit / kBits] >> (bit % kBits) & 1) != 0;
    const T other = src1.there ? *src1.strided.at(repeat, lane) : scalar;
    *dst.at(repeat, lane) = set ? *src0.strided.at(repeat, lane) : other;
  };
  if (op.count >= 0) {
    for (int64_t i = 0; i < call.params[op.count]; ++i)
      choose(i / repeat_lanes(call), i % repeat_lanes(call));
  } else {
    each_run(call, [&](int64_t repeat, const LaneRun& run) {
      for (int64_t lane = run.first; lane < run.first + run.count; ++lane) choose(repeat, lane);
    });
  }
  // The call left there what its mode needs: bits, a scalar or an address.
  if (!reads_cmp_mask(call)) memories.cmp_mask().known = false;
}

void run(Call& call, Memories& memories) {
  if (call.op->count >= 0 && call.params[call.op->count] == 0) return;
  if (call.dtype(kDst) == DType::float16) {
    select<Half>(call, memories);
  } else {
    select<float>(call, memories);
  }
}

}  // namespace

extern const Body body_select;
const Body body_select{access, run, nullptr, nullptr, nullptr, data_access};

}  // namespace tvm_ascend::sim

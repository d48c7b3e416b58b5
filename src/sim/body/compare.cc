// SPDX-License-Identifier: Apache-2.0
// Compare and Compares: a bit per lane, packed into bytes from the lowest bit.
#include "../strided.h"
#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum class Mode : uint8_t { LT, GT, EQ, LE, GE, NE };  // the order of the row's values

constexpr int64_t kBits = 8;

bool has_scalar(const Call& call) { return call.op->scalar >= 0; }
Mode mode_of(const Call& call) { return static_cast<Mode>(call.params[has_scalar(call) ? 1 : 0]); }
int64_t repeat_lanes(const Call& call) { return kRepeatBytes / call.itemsize(1); }

int64_t repeats(const Call& call) {
  return call.op->count < 0 ? call.params[call.op->repeat]
                            : call.params[call.op->count] / repeat_lanes(call);
}

void access(const Call& call, AccessList& list) {
  const OpInfo& op = *call.op;
  if (op.count >= 0 && call.params[op.count] % repeat_lanes(call) != 0) {
    list.fault("count " + std::to_string(call.params[op.count]) + " is not a multiple of the " +
               std::to_string(repeat_lanes(call)) + " lanes of " + name_of(call.dtype(1)) +
               " in a repeat");
    return;
  }
  list.add(AccessKind::Write, 0, 0, repeats(call) * repeat_lanes(call) / kBits);
  for (int i = 1; i < op.n_operands; ++i) {
    list.add(AccessKind::Read, i, 0, kBlockBytes, kRepeatBytes / kBlockBytes,
             block_stride(call, i) * kBlockBytes, repeats(call),
             repeat_stride(call, i) * kBlockBytes);
  }
  no_overlap(call, list);
}

template <typename V>
bool holds(V a, V b, Mode mode) {
  switch (mode) {
    case Mode::LT:
      return a < b;
    case Mode::GT:
      return a > b;
    case Mode::EQ:
      return a == b;
    case Mode::LE:
      return a <= b;
    case Mode::GE:
      return a >= b;
    default:
      return a < b || a > b;
  }
}

template <typename T>
auto plain(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, float>) {
    return float(value);
  } else {
    return value.bits;
  }
}

template <typename T>
void compare(const Call& call, Memories& memories) {
  const Strided<const T> first(call, 1, memories.operand<const T>(call, 1));
  const int other = has_scalar(call) ? 1 : 2;
  const Strided<const T> second(call, other, memories.operand<const T>(call, other));
  const T scalar = has_scalar(call) ? scalar_from_word<T>(call.params[0]) : T();
  uint8_t* dst = memories.operand<uint8_t>(call, 0);
  for (int64_t repeat = 0; repeat < repeats(call); ++repeat) {
    for (int64_t lane = 0; lane < repeat_lanes(call); lane += kBits, ++dst) {
      unsigned bits = 0;
      for (int bit = 0; bit < kBits; ++bit) {
        const T b = has_scalar(call) ? scalar : *second.at(repeat, lane + bit);
        const bool set = holds(plain(*first.at(repeat, lane + bit)), plain(b), mode_of(call));
        bits |= static_cast<unsigned>(set) << bit;
      }
      *dst = static_cast<uint8_t>(bits);
    }
  }
}

void access_mask(const Call& call, AccessList& list) {
  if (!check_mask(call, list)) return;
  for (int i = 0; i < call.op->n_operands; ++i) masked_access(call, i, AccessKind::Read, list);
}

// Lanes that the mask leaves out give no bit [guess].
template <typename T>
void compare_to_mask(const Call& call, Memories& memories) {
  const Strided<const T> first(call, 0, memories.operand<const T>(call, 0));
  const Strided<const T> second(call, 1, memories.operand<const T>(call, 1));
  CmpMask& mask = memories.cmp_mask();
  mask = {};
  each_run(call, [&](int64_t repeat, const LaneRun& run) {
    for (int64_t lane = run.first; lane < run.first + run.count; ++lane) {
      if (holds(plain(*first.at(repeat, lane)), plain(*second.at(repeat, lane)), mode_of(call)))
        mask.bytes[lane / kBits] |= static_cast<uint8_t>(1U << (lane % kBits));
    }
  });
  mask.known = true;
}

void run_mask(Call& call, Memories& memories) {
  if (call.dtype(0) == DType::float16) {
    compare_to_mask<Half>(call, memories);
  } else {
    compare_to_mask<float>(call, memories);
  }
}

void run(Call& call, Memories& memories) {
  switch (call.dtype(1)) {
    case DType::float16:
      return compare<Half>(call, memories);
    case DType::float32:
      return compare<float>(call, memories);
    default:
      return compare<Int<int32_t>>(call, memories);
  }
}

}  // namespace

extern const Body body_compare;
const Body body_compare{access, run};
extern const Body body_compare_mask;
const Body body_compare_mask{access_mask, run_mask};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// Select: a lane of src0 where its bit is set, else a lane of src1 or a scalar.
#include "body.h"

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kBits = 8;
enum { kDst, kMask, kSrc0, kSrc1 };

bool has_scalar(const Call& call) { return call.op->scalar >= 0; }
// The bits of the first repeat serve all.
bool repeats_bits(const Call& call) { return call.params[has_scalar(call) ? 1 : 0] == 0; }

int64_t bits_used(const Call& call) {
  return repeats_bits(call) ? kRepeatBytes / call.itemsize(kDst) : call.params[call.op->count];
}

void access(const Call& call, AccessList& list) {
  const int64_t count = call.params[call.op->count];
  if (count == 0) return;
  list.add(AccessKind::Read, kMask, 0, div_up(bits_used(call), kBits));
  for (int i = kSrc0; i < call.op->n_operands; ++i)
    list.add(AccessKind::Read, i, 0, count * call.itemsize(i));
  list.add(AccessKind::Write, kDst, 0, count * call.itemsize(kDst));
  no_overlap(call, list);
}

template <typename T>
void select(const Call& call, Memories& memories) {
  const auto* mask = memories.operand<const uint8_t>(call, kMask);
  const T* src0 = memories.operand<const T>(call, kSrc0);
  const T* src1 = has_scalar(call) ? nullptr : memories.operand<const T>(call, kSrc1);
  const T scalar = has_scalar(call) ? scalar_from_word<T>(call.params[0]) : T();
  T* dst = memories.operand<T>(call, kDst);
  const int64_t bits = bits_used(call);
  for (int64_t i = 0; i < call.params[call.op->count]; ++i) {
    const int64_t bit = i % bits;
    if ((mask[bit / kBits] >> (bit % kBits) & 1) != 0) {
      dst[i] = src0[i];
    } else {
      dst[i] = src1 == nullptr ? scalar : src1[i];
    }
  }
}

void run(Call& call, Memories& memories) {
  if (call.params[call.op->count] == 0) return;
  if (call.dtype(kDst) == DType::float16) {
    select<Half>(call, memories);
  } else {
    select<float>(call, memories);
  }
}

}  // namespace

extern const Body body_select;
const Body body_select{access, run};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// SetValue: one element from an int64 or from the bits of a float64.
#include "body.h"

namespace tvm_ascend::sim {

namespace {

void access(const Call& call, AccessList& list) {
  list.add(AccessKind::Write, 0, 0, call.itemsize(0));
}

template <DType kDType>
void write(const Call& call, Memories& memories) {
  using T = typename LaneType<kDType>::type;
  *memories.operand<T>(call, 0) = scalar_from_word<T>(call.params[0]);
}

void run(Call& call, Memories& memories) {
  switch (call.dtype(0)) {
    case DType::float16:
      return write<DType::float16>(call, memories);
    case DType::bfloat16:
      return write<DType::bfloat16>(call, memories);
    case DType::float32:
      return write<DType::float32>(call, memories);
    case DType::int8:
    case DType::uint8:
    case DType::boolean:
      return write<DType::uint8>(call, memories);
    case DType::int16:
    case DType::uint16:
      return write<DType::uint16>(call, memories);
    case DType::int32:
    case DType::uint32:
      return write<DType::uint32>(call, memories);
    default:
      return write<DType::uint64>(call, memories);
  }
}

}  // namespace

extern const Body body_set_value;
const Body body_set_value{access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

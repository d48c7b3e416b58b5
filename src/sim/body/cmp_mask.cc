// SPDX-License-Identifier: Apache-2.0
// GetCmpMask and SetCmpMask: CmpMask to and from UB.
#include <algorithm>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

template <AccessKind kKind>
void access(const Call& /*call*/, AccessList& list) {
  list.add(kKind, 0, 0, kCmpMaskBytes);
}

void data_access(const Call& /*call*/, const Memories* memories, AccessList& list) {
  need_cmp_mask(memories, list);
}

void get(Call& call, Memories& memories) {
  std::copy_n(memories.cmp_mask().bytes.data(), kCmpMaskBytes, memories.operand<uint8_t>(call, 0));
}

void set(Call& call, Memories& memories) {
  CmpMask& mask = memories.cmp_mask();
  std::copy_n(memories.operand<const uint8_t>(call, 0), kCmpMaskBytes, mask.bytes.data());
  mask.known = true;
}

}  // namespace

extern const Body body_get_cmp_mask;
extern const Body body_set_cmp_mask;
const Body body_get_cmp_mask{
    access<AccessKind::Write>, get, nullptr, nullptr, nullptr, data_access};
const Body body_set_cmp_mask{access<AccessKind::Read>, set};

}  // namespace tvm_ascend::sim

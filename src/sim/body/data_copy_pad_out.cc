// SPDX-License-Identifier: Apache-2.0
// DataCopyPad, UB to GM: rows of any length, each starting on a 32-byte block; nothing past a row's
// bytes is stored.
#include "body.h"
#include "store.h"

namespace tvm_ascend::sim {

namespace {

enum { kCount, kLength, kSrcStride, kDstStride };

int64_t src_pitch(const Call& call) {
  return (div_up(call.params[kLength], kBlockBytes) + call.params[kSrcStride]) * kBlockBytes;
}

int64_t dst_pitch(const Call& call) { return call.params[kLength] + call.params[kDstStride]; }

void access(const Call& call, AccessList& list) {
  const int64_t bytes = call.params[kLength];
  need_whole_elements(call, kLength, list);
  if (call.params[kCount] > 1) need_whole_elements(call, kDstStride, list);
  list.add(AccessKind::Read, 1, 0, bytes, call.params[kCount], src_pitch(call));
  list.add(AccessKind::Write, 0, 0, bytes, call.params[kCount], dst_pitch(call));
}

void run(Call& call, Memories& memories) {
  for (int64_t r = 0; r < call.params[kCount]; ++r) {
    store(call, memories.operand<uint8_t>(call, 0) + r * dst_pitch(call),
          memories.operand<const uint8_t>(call, 1) + r * src_pitch(call), call.params[kLength]);
  }
}

}  // namespace

extern const Body body_data_copy_pad_out;
const Body body_data_copy_pad_out{access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// Copies in bursts: runs of bytes with gaps between them on both sides.
#ifndef TVM_ASCEND_SIM_BODY_BURSTS_H_
#define TVM_ASCEND_SIM_BODY_BURSTS_H_

#include "body.h"
#include "store.h"

namespace tvm_ascend::sim {

struct Bursts {
  // The parameters of DataCopyParams; lengths of dst count in `unit` bytes, its gaps too. A burst
  // of src has `narrow` times fewer bytes, gaps of src count in blocks.
  Bursts(const Call& call, int64_t unit, int64_t narrow = 1)
      : count(call.params[1] == 0 ? 0 : call.params[0]),
        dst_bytes(call.params[1] * unit),
        src_bytes(dst_bytes / narrow),
        dst_pitch(dst_bytes + call.params[3] * unit),
        src_pitch(src_bytes + call.params[2] * kBlockBytes) {}

  // On-chip bytes may be undefined as long as they stay on the chip.
  void access(const Call& call, AccessList& list) const {
    const bool looks = call.spaces[0] == Space::GM;
    list.add(looks ? AccessKind::Read : AccessKind::Copy, 1, 0, src_bytes, count, src_pitch);
    list.add(AccessKind::Write, 0, 0, dst_bytes, count, dst_pitch);
  }

  void run(const Call& call, Memories& memories) const {
    for (int64_t i = 0; i < count; ++i) {
      store(call, memories.operand<uint8_t>(call, 0) + i * dst_pitch,
            memories.operand<const uint8_t>(call, 1) + i * src_pitch, src_bytes);
    }
  }

  void poison(const Call& call, PoisonMaps& maps) const {
    if (call.spaces[0] == Space::GM || call.spaces[1] == Space::GM) return;
    for (int64_t i = 0; i < count; ++i) {
      maps.copy(call.spaces[0], call.operands[0] + i * dst_pitch, call.spaces[1],
                call.operands[1] + i * src_pitch, src_bytes);
    }
  }

  int64_t count;
  int64_t dst_bytes;
  int64_t src_bytes;
  int64_t dst_pitch;
  int64_t src_pitch;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_BODY_BURSTS_H_

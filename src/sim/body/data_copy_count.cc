// SPDX-License-Identifier: Apache-2.0
// DataCopy with a count: one run of whole 32-byte blocks.
#include "body.h"
#include "store.h"

namespace tvm_ascend::sim {

namespace {

int64_t bytes(const Call& call) { return call.params[0] * call.itemsize(0); }

void access(const Call& call, AccessList& list) {
  if (bytes(call) % kBlockBytes != 0) {
    list.fault("count " + std::to_string(call.params[0]) + " is " + std::to_string(bytes(call)) +
               " bytes, not a multiple of 32; use DataCopyPad");
  }
  const bool looks = call.spaces[0] == Space::GM;
  list.add(looks ? AccessKind::Read : AccessKind::Copy, 1, 0, bytes(call));
  list.add(AccessKind::Write, 0, 0, bytes(call));
}

void run(Call& call, Memories& memories) {
  store(call, memories.operand<uint8_t>(call, 0), memories.operand<const uint8_t>(call, 1),
        bytes(call));
}

void poison(const Call& call, PoisonMaps& maps) {
  if (call.spaces[0] == Space::GM || call.spaces[1] == Space::GM) return;
  maps.copy(call.spaces[0], call.operands[0], call.spaces[1], call.operands[1], bytes(call));
}

}  // namespace

extern const Body body_data_copy_count;
const Body body_data_copy_count{access, run, poison, nullptr, nullptr};

}  // namespace tvm_ascend::sim

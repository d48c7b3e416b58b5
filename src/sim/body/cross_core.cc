// SPDX-License-Identifier: Apache-2.0
// The rows that order cores.
#include "sync.h"

namespace tvm_ascend::sim {

namespace {

bool set_flag(const Call& call, Core& core) {
  static constexpr Reach kModes[] = {Reach::Kind, Reach::Pair, Reach::AiCore};
  const int pipe = pipe_index(call.op->params[1].values[call.params[1]]);
  if (pipe == kPipes) return core.refuse(call, " names PIPE_ALL; a flag leaves one pipe");
  return core.cross_core_set(call, static_cast<Pipe>(pipe), kModes[call.params[0]],
                             static_cast<int>(call.params[2]));
}

bool wait_flag(const Call& call, Core& core) {
  return core.cross_core_wait(call, static_cast<int>(call.params[0]));
}

bool sync_all(const Call& call, Core& core) { return core.sync_all(call, Reach::Kind); }

bool sync_all_mix(const Call& call, Core& core) { return core.sync_all(call, Reach::Everyone); }

// Barriers and flags by polling GM.
void access(const Call&, AccessList& list) {
  list.fault("waits for or signals another core through GM, which is not simulated");
}

}  // namespace

extern const Body body_cross_core_set_flag, body_cross_core_wait_flag, body_sync_all,
    body_sync_all_mix, body_cross_core_soft;
const Body body_cross_core_set_flag{nullptr, nullptr, nullptr, nullptr, set_flag};
const Body body_cross_core_wait_flag{nullptr, nullptr, nullptr, nullptr, wait_flag};
const Body body_sync_all{nullptr, nullptr, nullptr, nullptr, sync_all};
const Body body_sync_all_mix{nullptr, nullptr, nullptr, nullptr, sync_all_mix};
const Body body_cross_core_soft{access, nullptr, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

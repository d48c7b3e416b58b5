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

constexpr int64_t kWordBytes = 32;  // each word of GM has a block of its own

bool sync_all_soft(const Call& call, Core& core) {
  const Program& program = core.context().program;
  if (program.mixed())
    return core.refuse(call,
                       " counts AI Cores, not their Vector cores; call SyncAll() without "
                       "workspaces in a mixed kernel");
  if (std::string problem = core.context().cross_core.problem_of_polling(); !problem.empty())
    return core.refuse(call, problem);
  const int64_t used = call.params[0] == 0 ? program.grid : call.params[0];
  if (used > program.grid)
    return core.refuse(
        call, " waits for " + std::to_string(used) + " cores of " + std::to_string(program.grid));
  const int64_t self = core.place().block_idx;
  if (self >= used)
    return core.refuse(call, " is called by core " + std::to_string(self) +
                                 ", and only cores below " + std::to_string(used) + " take part");
  AccessList list;
  list.add(AccessKind::Write, 0, self * kWordBytes, kWordBytes);
  list.add(AccessKind::Undefined, 1, 0, used * kWordBytes);
  const int id = core.context().cross_core.soft_id(CrossCore::Soft::Barrier, call.operands[0],
                                                   static_cast<int>(used));
  return core.poll_all(call, list, id, call.operands[0] + self * kWordBytes);
}

bool ib(const Call& call, Core& core, CrossCore::Soft wait, CrossCore::Soft give, int32_t value) {
  const Program& program = core.context().program;
  CrossCore& flags = core.context().cross_core;
  if (std::string problem = flags.problem_of_polling(); !problem.empty())
    return core.refuse(call, problem);
  const int64_t block = call.params[0];
  if (block >= program.grid)
    return core.refuse(call, " names block " + std::to_string(block) + " of " +
                                 std::to_string(program.grid) +
                                 ": its word is that of another event");
  const int64_t offset = (call.params[1] * program.grid + block) * kWordBytes;
  AccessList list;
  list.add(AccessKind::Write, 0, offset, kWordBytes);
  list.add(AccessKind::Undefined, 1, 0, kWordBytes);
  const int64_t word = call.operands[0] + offset;
  return core.poll(call, list, flags.soft_id(wait, word), flags.soft_id(give, word), word, value);
}

bool ib_set(const Call& call, Core& core) {
  return ib(call, core, CrossCore::Soft::Down, CrossCore::Soft::Up, 1);
}

bool ib_wait(const Call& call, Core& core) {
  return ib(call, core, CrossCore::Soft::Up, CrossCore::Soft::Down, 0);
}

}  // namespace

extern const Body body_cross_core_set_flag, body_cross_core_wait_flag, body_sync_all,
    body_sync_all_mix, body_sync_all_soft, body_ib_set, body_ib_wait;
const Body body_cross_core_set_flag{nullptr, nullptr, nullptr, nullptr, set_flag};
const Body body_cross_core_wait_flag{nullptr, nullptr, nullptr, nullptr, wait_flag};
const Body body_sync_all{nullptr, nullptr, nullptr, nullptr, sync_all};
const Body body_sync_all_mix{nullptr, nullptr, nullptr, nullptr, sync_all_mix};
const Body body_sync_all_soft{nullptr, nullptr, nullptr, nullptr, sync_all_soft};
const Body body_ib_set{nullptr, nullptr, nullptr, nullptr, ib_set};
const Body body_ib_wait{nullptr, nullptr, nullptr, nullptr, ib_wait};

}  // namespace tvm_ascend::sim

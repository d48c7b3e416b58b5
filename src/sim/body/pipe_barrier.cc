// SPDX-License-Identifier: Apache-2.0
#include "sync.h"

namespace tvm_ascend::sim {

namespace {

bool control(const Call& call, Core& core) {
  const int pipe = pipe_index(call.op->params[0].values[call.params[0]]);
  return pipe == kPipes ? core.barrier_all(call) : core.barrier(call, static_cast<Pipe>(pipe));
}

}  // namespace

extern const Body body_pipe_barrier;
const Body body_pipe_barrier{nullptr, nullptr, nullptr, nullptr, control};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
#include "sync.h"

namespace tvm_ascend::sim {

namespace {

bool control(const Call& call, Core& core) { return core.trap(call); }

}  // namespace

extern const Body body_trap;
const Body body_trap{nullptr, nullptr, nullptr, nullptr, control};

}  // namespace tvm_ascend::sim

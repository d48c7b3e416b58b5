// SPDX-License-Identifier: Apache-2.0
#include "sync.h"

namespace tvm_ascend::sim {

namespace {

bool control(const Call& call, Core& core) { return core.wait_flag(call, flag_of(call)); }

}  // namespace

extern const Body body_wait_flag;
const Body body_wait_flag{nullptr, nullptr, nullptr, nullptr, control};

}  // namespace tvm_ascend::sim

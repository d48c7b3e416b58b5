// SPDX-License-Identifier: Apache-2.0
// The rows that order cores: refused, as the cores of a launch run one after the other.
#include "body.h"

namespace tvm_ascend::sim {

namespace {

void access(const Call&, AccessList& list) {
  list.fault("waits for or signals another core, which is not simulated");
}

}  // namespace

extern const Body body_cross_core;
const Body body_cross_core{access, nullptr, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

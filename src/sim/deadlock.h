// SPDX-License-Identifier: Apache-2.0
// Cores that all wait for each other.
#ifndef TVM_ASCEND_SIM_DEADLOCK_H_
#define TVM_ASCEND_SIM_DEADLOCK_H_

#include <optional>
#include <vector>

#include "core.h"

namespace tvm_ascend::sim {

// Where a core stands that cannot go on: at a wait, or behind its last statement.
struct CoreState {
  int core;
  Ref last;
  std::optional<Core::Wait> wait;
};

// Reports the cores that wait, one hazard for each statement they wait at. False when none does.
bool report_deadlock(Context& context, const std::vector<CoreState>& states);

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_DEADLOCK_H_

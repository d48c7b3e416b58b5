// SPDX-License-Identifier: Apache-2.0
// Runs every block of a kernel and reports.
#ifndef TVM_ASCEND_SIM_LAUNCH_H_
#define TVM_ASCEND_SIM_LAUNCH_H_

#include <functional>
#include <string>
#include <vector>

#include "context.h"
#include "core.h"

namespace tvm_ascend::sim {

// The program of one core: issues its instructions through the functions below.
using CoreProgram = std::function<void(const CorePlace&)>;

// Runs the blocks that the options select. Throws InputError, or whatever `program` throws.
void run_blocks(Context& context, const CoreProgram& program);

// The report of a launch as JSON text.
std::string report_json(const Context& context);

// From the program of a core that waits for others: runs those until it can go on. False: it never
// can, and its program ends.
bool wait_for_other_cores();

// From the program of a core: lets those go first whose next request starts earlier than `start`.
void take_turn(int64_t start);

// The core whose program runs on this thread, or null.
Core* current_core();
// Runs one instruction on it, filled in from a site and its `n` dynamic arguments, or by the
// caller. Leaves the fiber for good when a hazard or a fault of the simulator ends the program.
// Returns Call::result.
int64_t issue_site(uint32_t site, const int64_t* dynamic, int n);
int64_t issue_call(const std::function<Call(Core&)>& make);

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_LAUNCH_H_

// SPDX-License-Identifier: Apache-2.0
// Fixpipe with CFG_NZ, to GM or L1.
#include "fixpipe.h"

namespace tvm_ascend::sim {

namespace {

void access(const Call& call, AccessList& list) { Drain(call, true).access(call, list); }
void run(Call& call, Memories& memories) { Drain(call, true).run(call, memories); }

}  // namespace

extern const Body body_fixpipe_nz;
const Body body_fixpipe_nz{access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

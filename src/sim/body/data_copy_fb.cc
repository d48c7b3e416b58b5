// SPDX-License-Identifier: Apache-2.0
// DataCopy from L1 to the fixpipe buffer: bursts and gaps of dst count in 128 bytes.
#include "bursts.h"

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kUnit = 128;

void access(const Call& call, AccessList& list) { Bursts(call, kUnit).access(call, list); }
void run(Call& call, Memories& memories) { Bursts(call, kUnit).run(call, memories); }
void poison(const Call& call, PoisonMaps& maps) { Bursts(call, kUnit).poison(call, maps); }

}  // namespace

extern const Body body_data_copy_fb;
const Body body_data_copy_fb{access, run, poison, nullptr, nullptr};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// DataCopy with DataCopyParams: bursts of whole 32-byte blocks.
#include "bursts.h"

namespace tvm_ascend::sim {

namespace {

void access(const Call& call, AccessList& list) { Bursts(call, kBlockBytes).access(call, list); }
void run(Call& call, Memories& memories) { Bursts(call, kBlockBytes).run(call, memories); }
void poison(const Call& call, PoisonMaps& maps) { Bursts(call, kBlockBytes).poison(call, maps); }

}  // namespace

extern const Body body_data_copy;
const Body body_data_copy{access, run, poison, nullptr, nullptr};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// DataCacheCleanAndInvalid for GM: one line or the whole data cache of the scalar unit.
#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum { kLine };

int64_t cleans(const Call& call) { return call.params[kLine] == 0 ? call.operands[0] : 0; }

}  // namespace

extern const Body body_data_cache_clean;
const Body body_data_cache_clean{nullptr, nullptr, nullptr, nullptr,
                                 nullptr, nullptr, nullptr, cleans};

}  // namespace tvm_ascend::sim

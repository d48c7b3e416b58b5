// SPDX-License-Identifier: Apache-2.0
// Cast from int32 to half: times the dequantisation scale, rounded once.
#include "../strided.h"
#include "dequant.h"

namespace tvm_ascend::sim {

namespace {

void access(const Call& call, AccessList& list) {
  lane_access(call, list);
  if (!list.empty()) need_deq_scale(call, DeqForm::Half, list);
}

void run(Call& call, Memories& memories) {
  const double scale = deq_scale(call);
  const bool finite = saturates(call);
  each_lane<Half, Int<int32_t>>(call, memories, [=](Int<int32_t> from) {
    const Half to(static_cast<double>(from.bits) * scale);
    return finite ? saturated(to) : to;
  });
}

}  // namespace

extern const Body body_cast_deq;
const Body body_cast_deq{access, run};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// Cast from int32 to half: times the dequantisation scale, rounded once.
#include "../strided.h"
#include "body.h"

namespace tvm_ascend::sim {

namespace {

void run(Call& call, Memories& memories) {
  const auto scale = bit_cast<double>(call.registers[Register::deq_scale]);
  const bool finite = saturates(call);
  each_lane<Half, Int<int32_t>>(call, memories, [=](Int<int32_t> from) {
    const Half to(static_cast<double>(from.bits) * scale);
    return finite ? saturated(to) : to;
  });
}

}  // namespace

extern const Body body_cast_deq;
const Body body_cast_deq{lane_access, run};

}  // namespace tvm_ascend::sim

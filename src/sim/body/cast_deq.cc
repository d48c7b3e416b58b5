// SPDX-License-Identifier: Apache-2.0
// Cast from int32 to half: times the dequantisation scale, rounded once.
#include "../strided.h"
#include "body.h"

namespace tvm_ascend::sim {

namespace {

void run(Call& call, Memories& memories) {
  const auto scale = bit_cast<double>(call.registers[Register::deq_scale]);
  each_lane<Half, Int<int32_t>>(call, memories, [scale](Int<int32_t> from) {
    return Half(static_cast<double>(from.bits) * scale);
  });
}

}  // namespace

extern const Body body_cast_deq;
const Body body_cast_deq{lane_access, run};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
#include "traffic.h"

#include <algorithm>
#include <cmath>

namespace tvm_ascend::sim {

bool moves_global(const Call& call) {
  if (!is_dma(call.op->pipe)) return false;
  for (int i = 0; i < call.op->n_operands; ++i) {
    if (call.spaces[i] == Space::GM) return true;
  }
  return false;
}

Traffic::Traffic(const Program& program, const GlobalMemory& gm)
    : gm_(gm),
      l2_(gm, {static_cast<int64_t>(program.constant(Constant::L2_BYTES)),
               static_cast<int64_t>(program.constant(Constant::L2_WARM_BYTES)),
               program.constant(Constant::L2_DIRTY_SHARE)}),
      l2_rate_(program.constant(Constant::L2_BYTES_PER_CYCLE)),
      hbm_rate_(program.constant(Constant::HBM_BYTES_PER_CYCLE)),
      hbm_bytes_per_cycle_(program.constant(Constant::HBM_BYTES_PER_CYCLE)),
      hbm_packet_bytes_(program.constant(Constant::HBM_PACKET_BYTES)) {}

double Traffic::hbm_units(const L2Traffic& moved) const {
  return static_cast<double>(moved.hbm()) + static_cast<double>(moved.lines) * hbm_packet_bytes_;
}

int64_t Traffic::serve(const Call& call, const AccessList& list, const CoreKind& kind,
                       int64_t start) {
  L2Traffic moved;
  for (const Access& access : list) {
    if (call.spaces[access.operand] != Space::GM) continue;
    const int64_t address = call.operands[access.operand];
    const GmArg* arg = gm_.find({}, address);
    if (arg == nullptr) continue;
    for (int64_t o = 0; o < access.outer; ++o) {
      for (int64_t i = 0; i < access.inner; ++i) {
        const int64_t low =
            address - arg->base + access.start + o * access.outer_stride + i * access.inner_stride;
        if (access.writes()) {
          l2_.write(*arg, low, low + access.bytes, &moved);
        } else {
          l2_.read(*arg, low, low + access.bytes, &moved);
        }
      }
    }
  }
  total_.add(moved);
  const auto missed = static_cast<double>(moved.hbm_read);
  const double short_of = static_cast<double>(moved.lines) - missed / kLineBytes;
  const double own = missed / kind.constant(Constant::GM_MISS_BYTES_PER_CYCLE) +
                     short_of * kind.constant(Constant::GM_PACKET_CYCLES);
  return std::max({start + static_cast<int64_t>(std::ceil(own)),
                   l2_rate_.take(start, static_cast<double>(moved.moved())),
                   hbm_rate_.take(start, hbm_units(moved))});
}

int64_t Traffic::hbm_cycles() const {
  return static_cast<int64_t>(std::ceil(hbm_units(total_) / hbm_bytes_per_cycle_));
}

}  // namespace tvm_ascend::sim

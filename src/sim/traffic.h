// SPDX-License-Identifier: Apache-2.0
// Global memory in time: each request takes from L2 what is there and from HBM what is not.
#ifndef TVM_ASCEND_SIM_TRAFFIC_H_
#define TVM_ASCEND_SIM_TRAFFIC_H_

#include <cstdint>

#include "access.h"
#include "gm.h"
#include "l2.h"
#include "program.h"
#include "shared_rate.h"

namespace tvm_ascend::sim {

// Whether the instruction moves bytes from or to global memory.
bool moves_global(const Call& call);

class Traffic {
 public:
  Traffic(const Program& program, const GlobalMemory& gm);

  // When a request of a core that starts at `start` has been served, as far as others decide.
  int64_t serve(const Call& call, const AccessList& list, const CoreKind& kind, int64_t start);

  const L2Traffic& total() const { return total_; }
  // Of HBM, to move all that it moved.
  int64_t hbm_cycles() const;

 private:
  // What HBM could deliver in the time that it takes for that.
  double hbm_units(const L2Traffic& moved) const;

  const GlobalMemory& gm_;
  L2 l2_;
  SharedRate l2_rate_;
  SharedRate hbm_rate_;
  double hbm_bytes_per_cycle_;
  double hbm_packet_bytes_;
  L2Traffic total_;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_TRAFFIC_H_

// SPDX-License-Identifier: Apache-2.0
// The flag of each 512-byte unit of L0C, by which Mmad and Fixpipe wait for each other where they
// ask for it: Mmad for units that are down, Fixpipe for units that are up [doc: ASCEND 3.9].
#ifndef TVM_ASCEND_SIM_UNIT_FLAGS_H_
#define TVM_ASCEND_SIM_UNIT_FLAGS_H_

#include <string>
#include <vector>

#include "access.h"
#include "clocks.h"
#include "hazard.h"

namespace tvm_ascend::sim {

class UnitFlags {
 public:
  // The units of L0C that an instruction with unitFlag touches, from low to high; none for others.
  static std::vector<int64_t> units(const Call& call, const AccessList& list);

  // What keeps the instruction waiting although nothing before it in the program does what it waits
  // for; empty if nothing does.
  std::string problem(const Call& call, const std::vector<int64_t>& units,
                      const SiteTable& sites) const;
  // What the units tell about those that turned their flags.
  Epochs known(const std::vector<int64_t>& units) const;
  // When an instruction of so many cycles can start, which goes from unit to unit evenly [guess].
  int64_t earliest(const std::vector<int64_t>& units, int64_t cycles) const;
  // Records that it ran so; unitFlag 3 turns the flags.
  void pass(const Call& call, const std::vector<int64_t>& units, uint32_t epoch, int64_t start,
            int64_t end, int64_t latency);
  // Flags that are up at the end.
  void finish(int core, const SiteTable& sites, std::vector<Hazard>* found) const;

 private:
  struct Unit {
    bool up = false;
    Ref last;           // who touched it with a flag
    Epochs known{};     // what is finished with the unit since its flag turned
    int64_t ready = 0;  // cycle of that
  };

  std::vector<Unit> flags_;  // as many as were ever touched
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_UNIT_FLAGS_H_

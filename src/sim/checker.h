// SPDX-License-Identifier: Apache-2.0
// Finds what is wrong with the accesses of one core's instructions.
#ifndef TVM_ASCEND_SIM_CHECKER_H_
#define TVM_ASCEND_SIM_CHECKER_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "access.h"
#include "clocks.h"
#include "context.h"
#include "memory.h"
#include "shadow.h"

namespace tvm_ascend::sim {

class Checker {
 public:
  Checker(Context& context, const CorePlace& place);

  // The instruction's own rules: core kind, parameter ranges. Appends at most one hazard.
  void check_params(const Call& call, std::vector<Hazard>* found) const;
  // Alignment, bounds and overlap of its operands. Appends at most one hazard.
  void check_accesses(const Call& call, const AccessList& list, std::vector<Hazard>* found) const;
  // Races and reads of undefined bytes; records the accesses. `clocks` already counts the
  // instruction.
  void check_order(const Call& call, const AccessList& list, const Clocks& clocks,
                   std::vector<Hazard>* found);

 private:
  Hazard at_operand(const char* kind, const Call& call, int operand) const;
  std::string place(const Call& call, int operand, int64_t low, int64_t high) const;
  void check_align(const Call& call, int operand, std::vector<Hazard>* found) const;
  void check_bounds(const Call& call, const Access& access, std::vector<Hazard>* found) const;
  void record(const Call& call, const Access& access, const Accessor& by,
              std::vector<Hazard>* found);
  void check_poison(const Call& call, const Access& access, std::vector<Hazard>* found);
  void race(const Call& call, const Access& access, const Conflict& conflict,
            std::vector<Hazard>* found) const;
  Shadow& shadow(const Call& call, int operand, int64_t* offset);
  PoisonMap* undefined(const Call& call, int operand, int64_t* offset);
  void excuse(const Call& call, Accessor* by);

  // The last instruction with a Body::tile key into an address.
  struct Tile {
    int64_t key;
    Stamp stamp;
  };

  Context& context_;
  const CorePlace& place_;
  std::vector<Shadow> shadows_;  // by space, the one of GM unused
  PoisonMaps poison_;
  std::unordered_map<int64_t, Tile> tiles_;
  std::vector<Conflict> conflicts_;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_CHECKER_H_

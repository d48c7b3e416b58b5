// SPDX-License-Identifier: Apache-2.0
// What every body file needs.
#ifndef TVM_ASCEND_SIM_BODY_BODY_H_
#define TVM_ASCEND_SIM_BODY_BODY_H_

#include <string>

#include "../access.h"
#include "../memory.h"
#include "../numeric.h"
#include "../op.h"

namespace tvm_ascend::sim {

// Faults a byte count that ends inside an element of the first operand.
inline void need_whole_elements(const Call& call, int param, AccessList& list) {
  if (call.params[param] % call.itemsize(0) == 0) return;
  list.fault(std::string(call.op->params[param].name) + " " + std::to_string(call.params[param]) +
             " is not a whole number of " + name_of(call.dtype(0)) + " elements");
}

// Faults an instruction one of whose sources shares bytes with dst without being it.
inline void no_overlap(const Call& call, AccessList& list) {
  auto low = [&](const Access& a) { return call.operands[a.operand] + a.start; };
  auto high = [&](const Access& a) { return call.operands[a.operand] + a.end(); };
  for (const Access& write : list) {
    if (!write.writes()) continue;
    for (const Access& read : list) {
      if (read.writes() || call.spaces[read.operand] != call.spaces[write.operand]) continue;
      if (low(read) >= high(write) || low(write) >= high(read)) continue;
      if (low(read) == low(write) && read.same_bytes(write)) continue;
      list.fault(std::string(call.op->operands[read.operand].name) + " overlaps " +
                 call.op->operands[write.operand].name);
      return;
    }
  }
}

// Faults an instruction that looks at CmpMask when nothing a program may use is there.
inline void need_cmp_mask(const Memories* memories, AccessList& list) {
  if (memories == nullptr || memories->cmp_mask().known) return;
  list.fault(
      "looks at CmpMask, which holds no comparison: a Select with a mask of its own overwrites it; "
      "call Compare without dst, or SetCmpMask, just before");
}

inline int64_t div_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_BODY_BODY_H_

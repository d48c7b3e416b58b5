// SPDX-License-Identifier: Apache-2.0
// The scale of SetDeqScale, which has to be of the form that an instruction takes.
#ifndef TVM_ASCEND_SIM_BODY_DEQUANT_H_
#define TVM_ASCEND_SIM_BODY_DEQUANT_H_

#include "body.h"

namespace tvm_ascend::sim {

enum class DeqForm : uint8_t { None, Half, Offset };  // the values of the register deq_form

inline double deq_scale(const Call& call) {
  return bit_cast<double>(call.registers[Register::deq_scale]);
}

inline void need_deq_scale(const Call& call, DeqForm form, AccessList& list) {
  const auto set = static_cast<DeqForm>(call.registers[Register::deq_form]);
  if (set == form) return;
  const bool half = form == DeqForm::Half;
  list.fault(
      std::string("multiplies by the scale of SetDeqScale, ") +
      (set == DeqForm::None ? "which nothing called" : "whose last call was of the other form") +
      "; call SetDeqScale(" + (half ? "half scale" : "float scale, offset, signMode") +
      ") before it");
}

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_BODY_DEQUANT_H_

// SPDX-License-Identifier: Apache-2.0
// DataCopy out of L0C: Fixpipe with its scales and its number of matrices from registers.
#include "fixpipe.h"

namespace tvm_ascend::sim {

namespace {

// The words of the columns, in the fixpipe buffer, come with the modes whose name starts with V.
bool has_column_scales(const Call& call) {
  const int quant = param_index(*call.op, "quant_pre");
  return call.op->params[quant].values[call.params[quant]][0] == 'V';
}

Drain drain(const Call& call) {
  const int rows = param_index(*call.op, "nz2nd");
  Drain out(call, rows < 0 || call.params[rows] == 0);
  const Registers& registers = call.registers;
  out.word = registers[Register::quant_pre];
  out.scale = registers[Register::quant_pre_address];
  out.vector = has_column_scales(call);
  if (!out.nz) {
    out.matrices = registers[Register::nd_num];
    out.src_matrix = registers[Register::src_nd_stride] * Drain::kSide * Drain::kRowBytes;
    out.dst_matrix = registers[Register::dst_nd_stride] * out.size;
    if (out.matrices == 0) out.n = 0;
  }
  return out;
}

void access(const Call& call, AccessList& list) { drain(call).access(call, list); }
void run(Call& call, Memories& memories) { drain(call).run(call, memories); }

}  // namespace

extern const Body body_data_copy_co12;
const Body body_data_copy_co12{access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

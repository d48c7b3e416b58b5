// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "formula.h"
#include "op.h"

namespace tvm_ascend::sim {

#include "../isa/isa_table.inc"

int find_op(const std::string& key) {
  for (int i = 0; i < kOpCount; ++i) {
    if (key == kOps[i].key) return i;
  }
  return -1;
}

int find_variant(const OpInfo& op, const std::string& dtypes) {
  for (int i = 0; i < op.n_variants; ++i) {
    if (dtypes == op.variants[i].dtypes) return i;
  }
  return -1;
}

bool stores_atomically(const Call& call) {
  return call.registers[Register::atomic] != 0 && call.op->pipe != Pipe::S &&
         call.op->n_operands > 0 && call.spaces[0] == Space::GM;
}

int param_index(const OpInfo& op, const char* name) {
  for (int i = 0; i < op.n_params; ++i) {
    if (std::strcmp(op.params[i].name, name) == 0) return i;
  }
  return -1;
}

}  // namespace tvm_ascend::sim

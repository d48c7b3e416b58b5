// SPDX-License-Identifier: Apache-2.0
#include "twin.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "launch.h"
#include "numeric.h"
#include "twin_api.h"

namespace tvm_ascend::sim {

namespace {

// A handle is the row's index times this, plus the index of its dtypes.
constexpr int32_t kVariants = 256;

int32_t find(const char* key, const char* dtypes) {
  const int op = find_op(key);
  const int variant = op < 0 ? -1 : find_variant(kOps[op], dtypes);
  return variant < 0 ? -1 : op * kVariants + variant;
}

const OpInfo* row_of(int32_t handle) {
  return handle < 0 || handle / kVariants >= kOpCount ? nullptr : &kOps[handle / kVariants];
}

int32_t enum_value(int32_t handle, int32_t param, const char* value) {
  const OpInfo* op = row_of(handle);
  if (op == nullptr || param < 0 || param >= op->n_params || op->params[param].values == nullptr)
    return -1;
  for (int64_t i = 0; i <= op->params[param].high; ++i) {
    if (std::strcmp(op->params[param].values[i], value) == 0) return static_cast<int32_t>(i);
  }
  return -1;
}

Call make_call(Core& core, int32_t handle, const uint8_t* spaces, const TwinRange* ranges,
               const int64_t* args, int32_t n_args, const char* where) {
  const OpInfo* op = row_of(handle);
  if (op == nullptr)
    throw InputError("the twin issues an instruction that the table does not have");
  if (n_args != op->n_operands + op->n_params) {
    throw InputError(std::string("the twin issues ") + op->key + " with " + std::to_string(n_args) +
                     " arguments, the row has " + std::to_string(op->n_operands + op->n_params));
  }
  core.context().program.require_timing(*op);
  Call call;
  call.op = op;
  call.variant = &op->variants[handle % kVariants];
  call.site = core.context().sites.intern(*op, *call.variant, spaces, where);
  call.result = 0;
  for (int i = 0; i < op->n_operands; ++i) {
    if (spaces[i] >= kSpaces || (op->operands[i].spaces >> spaces[i] & 1) == 0) {
      throw InputError(std::string("the twin passes operand ") + op->operands[i].name + " of " +
                       op->key + " in a wrong memory");
    }
    call.spaces[i] = static_cast<Space>(spaces[i]);
    if (ranges != nullptr) call.buffers[i] = {ranges[i].low, ranges[i].high};
  }
  std::copy_n(args, op->n_operands, call.operands);
  std::copy_n(args + op->n_operands, op->n_params, call.params);
  return call;
}

int64_t issue_any(int32_t handle, const uint8_t* spaces, const TwinRange* ranges,
                  const int64_t* args, int32_t n_args, const char* where) {
  if (current_core() == nullptr) return -1;
  return issue_call(
      [=](Core& core) { return make_call(core, handle, spaces, ranges, args, n_args, where); });
}

int32_t issue(int32_t handle, const uint8_t* spaces, const TwinRange* ranges, const int64_t* args,
              int32_t n_args, const char* where) {
  return static_cast<int32_t>(issue_any(handle, spaces, ranges, args, n_args, where));
}

int64_t get_int(int32_t handle, int32_t space, TwinRange range, int64_t address,
                const char* where) {
  const auto spaces = static_cast<uint8_t>(space);
  return issue_any(handle, &spaces, &range, &address, 1, where);
}

double get_float(int32_t handle, int32_t space, TwinRange range, int64_t address,
                 const char* where) {
  return bit_cast<double>(get_int(handle, space, range, address, where));
}

int32_t set_int(int32_t handle, int32_t space, TwinRange range, int64_t address, int64_t value,
                const char* where) {
  const auto spaces = static_cast<uint8_t>(space);
  const int64_t args[] = {address, value};
  return issue(handle, &spaces, &range, args, 2, where);
}

int32_t set_float(int32_t handle, int32_t space, TwinRange range, int64_t address, double value,
                  const char* where) {
  return set_int(handle, space, range, address, bit_cast<int64_t>(value), where);
}

int64_t block_idx() { return current_core() == nullptr ? -1 : current_core()->place().block_idx; }
int64_t sub_block_idx() { return current_core() == nullptr ? -1 : current_core()->place().sub; }
int64_t sub_block_num() {
  if (current_core() == nullptr) return 0;
  const Program& program = current_core()->context().program;
  return program.mixed() && !current_core()->place().kind->cube() ? program.vector_cores : 1;
}
int32_t is_cube() { return current_core() != nullptr && current_core()->place().kind->cube(); }
int64_t block_num() {
  return current_core() == nullptr ? 0 : current_core()->context().program.grid;
}

constexpr TwinApi kApi = {TVM_ASCEND_TWIN_VERSION,
                          find,
                          enum_value,
                          issue,
                          get_float,
                          get_int,
                          set_float,
                          set_int,
                          block_idx,
                          block_num,
                          sub_block_idx,
                          sub_block_num,
                          is_cube};

std::string last_error() {
  const char* text = dlerror();
  return text == nullptr ? "unknown reason" : text;
}

}  // namespace

TwinLibrary::TwinLibrary(const std::string& path)
    : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) throw InputError("the twin " + path + " does not load: " + last_error());
  auto bind =
      reinterpret_cast<const char* (*)(const TwinApi*)>(dlsym(handle_, "tvm_ascend_twin_bind"));
  run_ = reinterpret_cast<void (*)(const int64_t*)>(dlsym(handle_, "tvm_ascend_twin_run"));
  std::string problem;
  if (bind == nullptr || run_ == nullptr) {
    problem = "it exports no tvm_ascend_twin_bind and tvm_ascend_twin_run";
  } else if (const char* refused = bind(&kApi)) {
    problem = refused;
  }
  if (problem.empty()) return;
  dlclose(handle_);
  throw InputError("the twin " + path + " cannot run: " + problem);
}

TwinLibrary::~TwinLibrary() { dlclose(handle_); }

}  // namespace tvm_ascend::sim

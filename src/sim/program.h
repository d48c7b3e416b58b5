// SPDX-License-Identifier: Apache-2.0
// A kernel as the simulator gets it: its sites, parameters and the constants of the chip.
#ifndef TVM_ASCEND_SIM_PROGRAM_H_
#define TVM_ASCEND_SIM_PROGRAM_H_

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "json.h"
#include "memory.h"
#include "op.h"

namespace tvm_ascend::sim {

constexpr int kMaxWords = kMaxOperands + kMaxParams;

// One statement of the kernel that issues an instruction.
struct Site {
  const OpInfo* op = nullptr;
  const Variant* variant = nullptr;
  std::array<Space, kMaxOperands> spaces{};
  std::array<std::string, kMaxOperands> buffers;
  std::array<Range, kMaxOperands> ranges;  // of the on-chip buffers
  std::array<int64_t, kMaxWords> words{};  // operands, then parameters
  std::array<int8_t, kMaxWords>
      slots{};  // -1: the word is constant, else the dynamic argument it comes from
  int dynamic = 0;
  std::string text;
  std::string where;
  std::vector<std::shared_ptr<const std::string>> strings;  // that words point to
};

struct VectorRate {
  double head = 0;
  double tail = 0;
  std::array<double, 3> cycles{};  // per 256-byte repeat, by element of 1, 2, 4 bytes
};

// Banks of the unified buffer; a repeat is written `write_depth` cycles after it was read.
struct BankLayout {
  int64_t groups = 0;
  int64_t bank_bytes = 0;
  int64_t write_depth = 0;
};

struct KernelParam {
  std::string name;
  DType dtype;
  bool tensor;
};

struct Program {
  static Program parse(const std::string& json);

  // Throws InputError when the program lacks a constant that the row's timing reads.
  void require_timing(const OpInfo& op) const;
  double constant(Constant name) const { return constants[static_cast<int>(name)]; }

  std::string kernel;
  uint32_t core_bit = 0;  // as in OpInfo::cores
  std::string core_type;
  int grid = 1;
  SpaceBytes space_bytes{};
  std::array<double, kConstants> constants{};
  std::array<VectorRate, kTimings> rates{};
  BankLayout ub_banks;
  double clock_hz = 1;
  int event_ids = 8;
  int usable_event_ids = 8;
  std::vector<KernelParam> params;
  std::vector<Site> sites;
};

struct Options {
  static Options parse(const std::string& json);

  bool numerics = true;
  bool hazards = true;
  bool trace = false;
  bool strict = true;
  bool late_dma = false;
  bool all_cores = true;
  std::vector<int> cores;
  int max_hazards = 16;
  std::vector<int> fresh;  // parameters whose tensors the caller allocated for this launch
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_PROGRAM_H_

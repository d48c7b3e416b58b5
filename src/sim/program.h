// SPDX-License-Identifier: Apache-2.0
// A kernel as the simulator gets it: its sites, parameters and the constants of the chip.
#ifndef TVM_ASCEND_SIM_PROGRAM_H_
#define TVM_ASCEND_SIM_PROGRAM_H_

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
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

using Constants = std::array<double, kConstants>;

// One kind of core that a kernel runs on.
struct CoreKind {
  double constant(Constant name) const { return constants[static_cast<int>(name)]; }
  // "AIC" or "AIV".
  const char* name() const { return cube() ? "AIC" : "AIV"; }
  bool cube() const { return bit == 1; }

  uint32_t bit = 0;  // as in OpInfo::cores
  int physical = 0;  // how many the chip has
  Constants constants{};
};

// A core of a launch: its number, and what GetBlockIdx and GetSubBlockIdx tell its program.
struct CorePlace {
  int index = 0;
  const CoreKind* kind = nullptr;
  int block = 0;  // of the AI Core
  int sub = 0;    // among the Vector cores of the AI Core
  int block_idx = 0;
  std::string name;
};

struct Program {
  static constexpr int kMaxCores = 256;  // of a launch
  static Program parse(const std::string& json);

  // Throws InputError when the program lacks a constant that the row's timing reads.
  void require_timing(const OpInfo& op) const;
  // A constant of the launch as a whole.
  double constant(Constant name) const { return kinds.front().constant(name); }
  // Cube and Vector cores together.
  bool mixed() const { return kinds.size() > 1; }
  // Whether its cores can signal each other.
  bool cross_core() const { return kernel_type.rfind("MIX", 0) == 0; }
  int cores_per_block() const { return mixed() ? 1 + vector_cores : 1; }
  // Every core of a launch, AI Core by AI Core: in a mixed kernel a Cube core and two Vector cores.
  std::vector<CorePlace> places() const;

  std::string kernel;
  std::vector<CoreKind> kinds;
  std::string kernel_type;  // AIC_ONLY, AIV_ONLY or MIX_...: with flags between cores
  int grid = 1;             // AI Cores of a mixed kernel, else cores
  int vector_cores = 2;     // of one AI Core
  SpaceBytes space_bytes{};
  std::array<VectorRate, kTimings> rates{};
  BankLayout ub_banks;
  double clock_hz = 1;
  int event_ids = 8;
  int usable_event_ids = 8;
  int cross_core_ids = 16;
  int usable_cross_core_ids = 11;
  int cross_core_depth = 15;  // what the counter of a flag holds
  std::vector<KernelParam> params;
  std::vector<Site> sites;
  std::set<uint32_t> watched;  // sites of which the report says whether they were reached
};

struct Options {
  static Options parse(const std::string& json);

  bool numerics = true;
  bool hazards = true;
  bool trace = false;
  bool strict = true;
  bool late_dma = false;
  bool by_number = false;    // cores take turns by their numbers, whatever the time
  std::optional<int> block;  // run this block alone
  std::optional<int> core;   // run this core alone
  int max_hazards = 16;
  std::vector<int> fresh;    // parameters whose tensors the caller allocated for this launch
  bool redundant = false;    // report which statements hand each other flags
  std::vector<int> without;  // sites that do nothing

  bool every_core() const { return !block && !core; }
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_PROGRAM_H_

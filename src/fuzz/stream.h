// SPDX-License-Identifier: Apache-2.0
// Random programs for the simulator, legal and not.
#ifndef TVM_ASCEND_FUZZ_STREAM_H_
#define TVM_ASCEND_FUZZ_STREAM_H_

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "../sim/gm.h"
#include "../sim/op.h"

namespace tvm_ascend::fuzz {

// What one run of the simulator gets, as text, and the memory it may touch.
struct Stream {
  std::string program;
  std::string calls;  // one list of calls per core
  std::string options;
  std::vector<std::vector<uint8_t>> tensors;  // exactly as large as the arguments say

  std::vector<sim::GmArg> args();
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  // The stream of this seed. Some are legal but for their synchronisation, some have a few illegal
  // words, some many, and some are no program at all.
  Stream stream();

 private:
  struct Site {
    const sim::OpInfo* op;
    std::vector<int> dynamic;  // the words that a call passes, in the order of their slots
    const sim::Variant* variant;
    std::array<sim::Space, sim::kMaxOperands> spaces;
  };

  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  bool chance(double p) { return std::uniform_real_distribution<>()(random_) < p; }
  bool bad() { return chance(wrong_); }
  bool unfit(double p) { return broken_ && chance(p); }

  int64_t any_word();
  int64_t address(sim::Space space);
  int64_t integer(const sim::ParamInfo& param);
  std::string text();
  std::string program();
  std::string calls();
  std::string call_list(uint32_t core_bit);
  std::string options();
  std::string site();
  // The word of an operand or a parameter, as JSON; `constant` words may be names and strings.
  std::string word(const Site& site, int index, bool constant);
  sim::Space space(const sim::OperandInfo& operand);
  void damage(std::string* text);

  std::mt19937_64 random_;
  double wrong_ = 0;        // the share of words that may be illegal
  bool broken_ = false;     // the program itself may be one that cannot be loaded
  uint32_t core_bits_ = 2;  // as in OpInfo::cores; both: blocks of a Cube and two Vector cores
  int grid_ = 1;
  std::array<int64_t, sim::kSpaces> bytes_{};
  std::vector<std::vector<uint8_t>> tensors_;
  std::vector<Site> sites_;
};

}  // namespace tvm_ascend::fuzz

#endif  // TVM_ASCEND_FUZZ_STREAM_H_

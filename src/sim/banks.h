// SPDX-License-Identifier: Apache-2.0
// Bank conflicts of the unified buffer: what vector instructions lose to where their operands lie.
#ifndef TVM_ASCEND_SIM_BANKS_H_
#define TVM_ASCEND_SIM_BANKS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "program.h"

namespace tvm_ascend::sim {

// UB is rows of banks, one bank of each group in a row; blocks of 32 bytes go to the groups in
// turn. In one cycle a group serves one read and one write, a bank one of either [doc: ASCEND 1.7].
class Banks {
 public:
  explicit Banks(const Program& program);

  // Cycles that one instruction takes beyond those of its repeats. The blocks of a repeat that
  // share a group, and sources that do, are read one after the other; so are blocks written. A read
  // waits while an earlier repeat writes the same bank [doc: ASCEND 5.5d]. What the instruction
  // before it still writes is not looked at.
  int64_t lost(const Call& call);

 private:
  static constexpr int kMost = 3;  // dst, which may be absent, and two sources
  static constexpr int kCycles = 256;

  // The blocks of one operand: those of a repeat, and from repeat to repeat.
  struct Stream {
    int64_t first = 0;
    int64_t block_stride = 0;
    int64_t repeat_stride = 0;
    int64_t blocks = 0;

    bool operator==(const Stream& o) const {
      return first == o.first && block_stride == o.block_stride &&
             repeat_stride == o.repeat_stride && blocks == o.blocks;
    }
  };
  // Everything that the loss depends on.
  struct Pattern {
    std::array<Stream, kMost> streams;  // dst first
    int sources = 0;
    int64_t repeats = 0;
    int64_t cycles = 0;  // of a repeat without conflicts

    bool operator==(const Pattern& o) const {
      return streams == o.streams && sources == o.sources && repeats == o.repeats &&
             cycles == o.cycles;
    }
  };
  // What is touched in one cycle, a bit for each.
  struct Touch {
    uint64_t groups = 0;
    uint64_t banks = 0;
  };
  // The cycles of one repeat, at most two for each block.
  struct Touches {
    std::array<Touch, 16> cycles{};
    int size = 0;

    void add(const Touch& touch) { cycles[size++] = touch; }
  };

  bool pattern_of(const Call& call, Pattern* pattern) const;
  Stream stream_of(const Call& call, int operand, int64_t lanes) const;
  Touches touches(const Stream& stream, int64_t repeat, int64_t cycles) const;
  Touches reads(const Pattern& pattern, int64_t repeat) const;
  bool in_phase(const Pattern& pattern) const;
  int64_t simulate(const Pattern& pattern) const;

  const Program& program_;
  int64_t groups_;
  int64_t row_blocks_;  // blocks of a row of banks
  int64_t write_depth_;
  // Loops use few patterns: the last ones are kept by their hash.
  std::vector<Pattern> known_;
  std::vector<int64_t> losses_;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_BANKS_H_

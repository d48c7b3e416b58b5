// SPDX-License-Identifier: Apache-2.0
// Who touched each byte of a memory last: the record that races are found in.
#ifndef TVM_ASCEND_SIM_SHADOW_H_
#define TVM_ASCEND_SIM_SHADOW_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "clocks.h"
#include "op.h"

namespace tvm_ascend::sim {

// One instruction: epoch on its pipe, site, pipe and core, in one word. 0 is nobody.
class Stamp {
 public:
  Stamp() = default;
  Stamp(int core, Pipe pipe, uint32_t site, uint32_t epoch, bool atomic = false)
      : bits_(static_cast<uint64_t>(core) << 56 | static_cast<uint64_t>(atomic) << 55 |
              static_cast<uint64_t>(pipe) << 52 | static_cast<uint64_t>(site & kMaxSites) << 32 |
              epoch) {}

  static constexpr uint32_t kMaxSites = (1U << 20) - 1;

  bool empty() const { return bits_ == 0; }
  bool operator==(Stamp other) const { return bits_ == other.bits_; }
  // Whether both are of one pipe of one core, and combine with what is there alike.
  bool same_source(Stamp other) const { return bits_ >> 52 == other.bits_ >> 52; }
  int core() const { return static_cast<int>(bits_ >> 56); }
  // Whether it combines with what is there: such stores need no order among each other.
  bool atomic() const { return (bits_ >> 55 & 1) != 0; }
  Pipe pipe() const { return static_cast<Pipe>((bits_ >> 52) & 0x7); }
  uint32_t site() const { return (bits_ >> 32) & kMaxSites; }
  uint32_t epoch() const { return static_cast<uint32_t>(bits_); }

 private:
  uint64_t bits_ = 0;
};

struct Conflict {
  Stamp earlier;
  bool earlier_writes;
  bool later_writes;
  int64_t low;  // the bytes both touch, relative to the shadow
  int64_t high;
};

// One instruction looking at a shadow.
struct Accessor {
  Stamp stamp;
  Epochs after_write;  // by pipe: writes up to here are finished before this instruction
  Epochs after_read;   // the same for reads; a pipe reads in order, so its own reads never matter
  Stamp excused;       // an earlier write that the chip orders by itself
  const Knowledge* others;  // what is finished on other cores

  // Whether an earlier access is finished before this instruction.
  bool follows(Stamp earlier, bool write) const {
    const auto core = static_cast<size_t>(earlier.core()),
               pipe = static_cast<size_t>(earlier.pipe());
    if (earlier.core() == stamp.core())
      return earlier.epoch() <= (write ? after_write : after_read)[pipe];
    return core < others->size() && earlier.epoch() <= (*others)[core].epochs[pipe];
  }
};

// Keeps of every byte what a later access may race with: the last write, and since then the last
// read and the last atomic store of each pipe of each core. What came before these is finished
// before what they are finished before, or was reported with them.
class Shadow {
 public:
  // Of one pipe of one core each, in no order; never changed once made, so bytes share them.
  using Stamps = std::shared_ptr<const std::vector<Stamp>>;

  // One access of an instruction: all its bytes, range by range. Remembers what neighbouring bytes
  // had in common.
  class Visit {
   public:
    // Appends what the access conflicts with, one entry per earlier instruction.
    Visit(const Accessor& by, std::vector<Conflict>* conflicts) : by_(by), conflicts_(conflicts) {}

   private:
    friend class Shadow;
    const Accessor& by_;
    std::vector<Conflict>* conflicts_;
    Stamp ordered_write_;  // the last earlier write and read found to be ordered
    Stamp ordered_read_;
    Stamps ordered_;     // the same of others
    Stamp joined_read_;  // the read and the others that last became `joined_`
    Stamps joined_others_;
    Stamps joined_;
  };

  explicit Shadow(int64_t bytes) : pages_((bytes + kPageBytes - 1) / kPageBytes) {}

  // An access to [low, high).
  void read(Visit& visit, int64_t low, int64_t high);
  void write(Visit& visit, int64_t low, int64_t high);
  // The last write that covers a byte.
  Stamp writer(int64_t address) const;

 private:
  static constexpr int64_t kChunkBlocks = kFractalBytes / kBlockBytes;
  static constexpr int64_t kPageChunks = 64;
  static constexpr int64_t kPageBlocks = kPageChunks * kChunkBlocks;
  static constexpr int64_t kPageBytes = kPageBlocks * kBlockBytes;

  struct Cell {
    Stamp write;
    Stamp read;     // the last
    Stamps others;  // reads of other pipes and cores, and atomic stores; null: none
  };
  using Bytes = std::array<Cell, kBlockBytes>;
  using Blocks = std::array<Cell, kPageBlocks>;
  // One cell speaks for all bytes of a chunk, until its blocks differ: then each has a cell, and
  // one whose bytes differ has a cell per byte in `split`.
  struct Page {
    std::array<Cell, kPageChunks> chunks;
    std::array<bool, kPageChunks> mixed{};
    std::unique_ptr<Blocks> blocks;             // of mixed chunks; null until there is one
    std::vector<std::unique_ptr<Bytes>> split;  // empty until a block of the page is split
  };

  template <bool kWrite>
  void access(Visit& visit, int64_t low, int64_t high);
  template <bool kWrite>
  static void touch(Visit& visit, Cell& cell, int64_t low, int64_t high);
  template <bool kWrite>
  static void touch_blocks(Visit& visit, Page& page, int64_t chunk, int64_t low, int64_t high);
  template <bool kWrite>
  static void touch_bytes(Visit& visit, Page& page, int64_t block, int64_t low, int64_t high);
  static bool check(Visit& visit, const Conflict& conflict);
  static void check_others(Visit& visit, const Stamps& others, bool write, int64_t low,
                           int64_t high);
  static void join(Visit& visit, Cell& cell, Stamp stamp);
  Page& page(int64_t index);

  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_SHADOW_H_

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
  int reader_slot;
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

class Shadow {
 public:
  explicit Shadow(int64_t bytes) : pages_((bytes + kPageBytes - 1) / kPageBytes) {}

  // Records an access to [low, high) and appends what it conflicts with, one entry per earlier
  // instruction.
  void read(const Accessor& by, int64_t low, int64_t high, std::vector<Conflict>* conflicts);
  void write(const Accessor& by, int64_t low, int64_t high, std::vector<Conflict>* conflicts);
  // The last write that covers a byte.
  Stamp writer(int64_t address) const;

  // Reader slot of a pipe in a space: each space is read by at most three pipes.
  static int reader_slot(Space space, Pipe pipe);

 private:
  static constexpr int kSlots = 3;
  static constexpr int kOtherCore = 2;  // in GM: a reader or an atomic writer of another core
  static constexpr int64_t kChunkBlocks = kFractalBytes / kBlockBytes;
  static constexpr int64_t kPageChunks = 64;
  static constexpr int64_t kPageBlocks = kPageChunks * kChunkBlocks;
  static constexpr int64_t kPageBytes = kPageBlocks * kBlockBytes;

  struct Cell {
    Stamp write;
    std::array<Stamp, kSlots> reads;
  };
  using Bytes = std::array<Cell, kBlockBytes>;
  // One cell speaks for all bytes of a chunk, until its blocks differ: then each has a cell, and
  // one whose bytes differ has a cell per byte in `split`.
  struct Page {
    std::array<Cell, kPageChunks> chunks;
    std::array<bool, kPageChunks> mixed{};
    std::array<Cell, kPageBlocks> cells;        // of mixed chunks
    std::vector<std::unique_ptr<Bytes>> split;  // empty until a block of the page is split
  };
  struct Visit {
    const Accessor& by;
    Stamp ordered_write;  // the last earlier write and read found to be ordered
    Stamp ordered_read;
    std::vector<Conflict>* conflicts;
  };

  template <bool kWrite>
  void access(const Accessor& by, int64_t low, int64_t high, std::vector<Conflict>* conflicts);
  template <bool kWrite>
  static void touch(Visit& visit, Cell& cell, int64_t low, int64_t high);
  template <bool kWrite>
  static void touch_blocks(Visit& visit, Page& page, int64_t chunk, int64_t low, int64_t high);
  template <bool kWrite>
  static void touch_bytes(Visit& visit, Page& page, int64_t block, int64_t low, int64_t high);
  static void check(Visit& visit, const Conflict& conflict);
  Page& page(int64_t index);

  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_SHADOW_H_

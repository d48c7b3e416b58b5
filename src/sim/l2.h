// SPDX-License-Identifier: Apache-2.0
// Which bytes of global memory the L2 cache holds.
#ifndef TVM_ASCEND_SIM_L2_H_
#define TVM_ASCEND_SIM_L2_H_

#include <cstdint>
#include <vector>

#include "gm.h"

namespace tvm_ascend::sim {

// What requests moved, in bytes.
struct L2Traffic {
  int64_t hits = 0;         // of reads, whole sectors
  int64_t misses = 0;       // of reads, whole sectors
  int64_t written = 0;      // to L2, whole sectors
  int64_t hbm_read = 0;     // for misses: whole lines where a run starts inside a sector
  int64_t lines = 0;        // that hbm_read is from
  int64_t hbm_written = 0;  // dirty sectors that had to make room

  void add(const L2Traffic& other) {
    hits += other.hits;
    misses += other.misses;
    written += other.written;
    hbm_read += other.hbm_read;
    lines += other.lines;
    hbm_written += other.hbm_written;
  }
  int64_t moved() const { return hits + misses + written; }
  int64_t hbm() const { return hbm_read + hbm_written; }
};

// Write-back. Sectors are kept, lines of them allocated, and groups of lines replaced: the one that
// was used longest ago. At the start it holds the first bytes that the launch will read, which the
// kernel before it has written, and else lines of other kernels, some of them dirty.
class L2 {
 public:
  struct Start {
    int64_t capacity;
    int64_t warm;        // bytes that are there before they are read
    double dirty_share;  // of the other kernels' lines
  };
  L2(const GlobalMemory& gm, const Start& start);

  // A run of bytes of an argument, [low, high) from its first byte.
  void read(const GmArg& arg, int64_t low, int64_t high, L2Traffic* traffic);
  void write(const GmArg& arg, int64_t low, int64_t high, L2Traffic* traffic);

 private:
  static constexpr int64_t kGroupSectors = 64;
  static constexpr int64_t kGroupBytes = kGroupSectors * kSectorBytes;
  static constexpr uint32_t kNone = ~uint32_t{0};
  // A bit per sector.
  struct Group {
    uint64_t held = 0;
    uint64_t dirty = 0;
    uint32_t newer = kNone;
    uint32_t older = kNone;
  };

  // Calls visit(index of the group, mask of its sectors) for a run.
  template <typename Visit>
  void each_group(const GmArg& arg, int64_t low, int64_t high, Visit visit);
  void hold(uint32_t index, uint64_t sectors, L2Traffic* traffic);
  int64_t dirty_of(int64_t foreign) const;
  void use(uint32_t index);
  void unlink(uint32_t index);
  void evict(L2Traffic* traffic);

  const GlobalMemory& gm_;
  int64_t capacity_;
  int64_t warm_;  // bytes of the launch's own that nothing read yet
  double dirty_share_;
  int64_t used_ = 0;             // bytes of allocated lines
  int64_t foreign_;              // bytes of other kernels' lines
  std::vector<uint32_t> first_;  // group of the first byte of each argument's region
  std::vector<Group> groups_;
  uint32_t newest_ = kNone;
  uint32_t oldest_ = kNone;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_L2_H_

// SPDX-License-Identifier: Apache-2.0
// Which bytes one instruction touches.
#ifndef TVM_ASCEND_SIM_ACCESS_H_
#define TVM_ASCEND_SIM_ACCESS_H_

#include <string>
#include <vector>

#include "op.h"

namespace tvm_ascend::sim {

enum class AccessKind : uint8_t {
  Read,       // looks at the bytes: undefined ones are a hazard
  Copy,       // reads without looking: undefined bytes travel on, see Body::poison
  Write,      // gives the bytes a value
  Undefined,  // writes, and leaves the bytes without a value a program may use
};

// `outer` times `inner` runs of `bytes` bytes; offsets count from the operand's address.
struct Access {
  int operand;
  AccessKind kind;
  int64_t start;
  int64_t bytes;
  int64_t inner;
  int64_t inner_stride;
  int64_t outer;
  int64_t outer_stride;

  bool writes() const { return kind == AccessKind::Write || kind == AccessKind::Undefined; }
  int64_t end() const {
    return start + (outer - 1) * outer_stride + (inner - 1) * inner_stride + bytes;
  }
  bool same_bytes(const Access& other) const {
    return bytes == other.bytes && inner == other.inner && inner_stride == other.inner_stride &&
           outer == other.outer && outer_stride == other.outer_stride;
  }
  int64_t total() const { return bytes * inner * outer; }
};

class AccessList {
 public:
  void add(AccessKind kind, int operand, int64_t start, int64_t bytes, int64_t inner = 1,
           int64_t inner_stride = 0, int64_t outer = 1, int64_t outer_stride = 0) {
    if (bytes <= 0 || inner <= 0 || outer <= 0) return;
    if (inner == 1) {
      inner = outer;
      inner_stride = outer_stride;
      outer = 1;
    }
    if (inner_stride == bytes) {
      bytes *= inner;
      inner = outer;
      inner_stride = outer_stride;
      outer = 1;
    }
    const Access access{operand, kind, start, bytes, inner, inner_stride, outer, outer_stride};
    if (size_ < kFew) {
      few_[size_++] = access;
      return;
    }
    if (many_.empty()) many_.assign(few_, few_ + kFew);
    many_.push_back(access);
  }

  // The instruction is wrong in itself, for a reason beyond the ranges of the row; the first reason
  // stays.
  void fault(std::string reason) {
    if (fault_.empty()) fault_ = std::move(reason);
  }

  const std::string& fault() const { return fault_; }
  const Access* begin() const { return many_.empty() ? few_ : many_.data(); }
  const Access* end() const { return begin() + (many_.empty() ? size_ : many_.size()); }
  bool empty() const { return size_ == 0; }

 private:
  static constexpr size_t kFew = 16;
  Access few_[kFew];
  size_t size_ = 0;
  std::vector<Access> many_;  // all of them, once there are more than a few
  std::string fault_;
};

// Accesses of the count and repeat forms, from the operands' directions.
void lane_access(const Call& call, AccessList& list);

// Whether a mask count fits a repeat; faults the list if not.
bool check_mask(const Call& call, AccessList& list);
// The lanes of one operand that the mask chooses.
void masked_access(const Call& call, int operand, AccessKind kind, AccessList& list);

// Whether dst and a source of a lane-wise instruction overlap in a way the chip does not define;
// says how.
std::string illegal_overlap(const Call& call);

// Lanes that follow each other in a mask.
struct LaneRun {
  int64_t first;
  int64_t count;
};

// The lanes of a repeat that a mask chooses, as runs from low to high.
class LaneRuns {
 public:
  LaneRuns() = default;
  // The first `count` lanes.
  explicit LaneRuns(int64_t count);
  // The lanes of the mask of a repeat, bits or preset form; in counter mode those of its first
  // repeat.
  explicit LaneRuns(const Call& call);
  const LaneRun* begin() const { return runs_; }
  const LaneRun* end() const { return runs_ + size_; }
  bool empty() const { return size_ == 0; }
  // One more than the highest lane.
  int64_t lanes() const { return size_ == 0 ? 0 : runs_[size_ - 1].first + runs_[size_ - 1].count; }

 private:
  static constexpr int kCapacity = 64;
  LaneRun runs_[kCapacity];
  int size_ = 0;
};

// Repeats that follow each other and have the same lanes.
struct LaneGroup {
  int64_t first;
  int64_t repeats;
  LaneRuns runs;
};

// All repeats of an instruction with a mask: one group, or in counter mode the whole repeats and
// then what is left of the count.
class LaneGroups {
 public:
  explicit LaneGroups(const Call& call);
  const LaneGroup* begin() const { return groups_; }
  const LaneGroup* end() const { return groups_ + size_; }

 private:
  LaneGroup groups_[2];
  int size_ = 0;
};

// Whether the mask is a count of elements over all repeats, which then are as many as it needs.
bool counts_elements(const Call& call);
int64_t counted_elements(const Call& call);
// Repeats of an instruction with a mask.
int64_t masked_repeats(const Call& call);

// Lanes of a repeat: as many as the widest operand has elements in 256 bytes.
int64_t lanes_per_repeat(const Call& call);

// Strides of an operand in the repeat form, in blocks.
int64_t block_stride(const Call& call, int operand);
int64_t repeat_stride(const Call& call, int operand);

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_ACCESS_H_

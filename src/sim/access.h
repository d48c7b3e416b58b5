// SPDX-License-Identifier: Apache-2.0
// Which bytes one instruction touches.
#ifndef TVM_ASCEND_SIM_ACCESS_H_
#define TVM_ASCEND_SIM_ACCESS_H_

#include <string>

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
    if (size_ < kCapacity) {
      items_[size_++] = {operand, kind, start, bytes, inner, inner_stride, outer, outer_stride};
    } else {
      fault("has more access patterns than the simulator keeps");
    }
  }

  // The instruction is wrong in itself, for a reason beyond the ranges of the row; the first reason
  // stays.
  void fault(std::string reason) {
    if (fault_.empty()) fault_ = std::move(reason);
  }

  const std::string& fault() const { return fault_; }
  const Access* begin() const { return items_; }
  const Access* end() const { return items_ + size_; }
  bool empty() const { return size_ == 0; }

 private:
  static constexpr int kCapacity = 16;
  Access items_[kCapacity];
  int size_ = 0;
  std::string fault_;
};

// Accesses of the count and repeat forms, from the operands' directions.
void lane_access(const Call& call, AccessList& list);

// Whether dst and a source of a lane-wise instruction overlap in a way the chip does not define;
// says how.
std::string illegal_overlap(const Call& call);

// Strides of an operand in the repeat form, in blocks.
int64_t block_stride(const Call& call, int operand);
int64_t repeat_stride(const Call& call, int operand);

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_ACCESS_H_

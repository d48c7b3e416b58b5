// SPDX-License-Identifier: Apache-2.0
// Lanes of a strided operand.
#ifndef TVM_ASCEND_SIM_STRIDED_H_
#define TVM_ASCEND_SIM_STRIDED_H_

#include "access.h"
#include "op.h"

namespace tvm_ascend::sim {

// An operand of the repeat forms: where each lane of each repeat is.
template <typename T>
class Strided {
 public:
  Strided(const Call& call, int operand, T* base)
      : base_(base),
        block_(block_stride(call, operand) * kLanes),
        repeat_(repeat_stride(call, operand) * kLanes) {}

  T* at(int64_t repeat, int64_t lane) const {
    return base_ + repeat * repeat_ + lane / kLanes * block_ + lane % kLanes;
  }
  bool whole() const { return block_ == kLanes; }

 private:
  static constexpr int64_t kLanes = kBlockBytes / static_cast<int64_t>(sizeof(T));
  T* base_;
  int64_t block_;
  int64_t repeat_;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_STRIDED_H_

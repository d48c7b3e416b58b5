// SPDX-License-Identifier: Apache-2.0
// ReduceRepeat (once WholeReduce*): one result per repeat, by a pairwise tree over neighbouring
// lanes.
#ifndef TVM_ASCEND_SIM_BODY_WHOLE_REDUCE_H_
#define TVM_ASCEND_SIM_BODY_WHOLE_REDUCE_H_

#include <string>

#include "body.h"

namespace tvm_ascend::sim {

struct WholeReduce {
  enum { kMask, kRepeat, kDstRep, kSrcBlk, kSrcRep };

  static void access(const Call& call, AccessList& list) {
    const int64_t size = call.itemsize(1);
    const int64_t bytes = call.params[kMask] * size;
    if (bytes > kRepeatBytes) {
      list.fault("mask " + std::to_string(call.params[kMask]) + " is more than the " +
                 std::to_string(kRepeatBytes / size) + " lanes of " + name_of(call.dtype(1)) +
                 " in a repeat");
      return;
    }
    const int64_t repeats = call.params[kRepeat];
    const int64_t whole = bytes / kBlockBytes;
    const int64_t block = call.params[kSrcBlk] * kBlockBytes;
    const int64_t repeat = call.params[kSrcRep] * kBlockBytes;
    list.add(AccessKind::Read, 1, 0, kBlockBytes, whole, block, repeats, repeat);
    list.add(AccessKind::Read, 1, whole * block, bytes % kBlockBytes, repeats, repeat);
    list.add(AccessKind::Write, 0, 0, size, repeats, call.params[kDstRep] * size);
  }

  template <typename T, typename Combine>
  static void reduce(const Call& call, Memories& memories, Combine combine) {
    constexpr auto kLanes = static_cast<int64_t>(kRepeatBytes / sizeof(T));
    constexpr auto kLanesPerBlock = static_cast<int64_t>(kBlockBytes / sizeof(T));
    T* dst = memories.operand<T>(call, 0);
    const T* src = memories.operand<const T>(call, 1);
    for (int64_t r = 0; r < call.params[kRepeat]; ++r) {
      T lanes[kLanes];
      int64_t left = call.params[kMask];
      for (int64_t i = 0; i < left; ++i) {
        const int64_t block = r * call.params[kSrcRep] + i / kLanesPerBlock * call.params[kSrcBlk];
        lanes[i] = src[block * kLanesPerBlock + i % kLanesPerBlock];
      }
      for (; left > 1; left = (left + 1) / 2) {
        for (int64_t i = 0; i < left / 2; ++i) lanes[i] = combine(lanes[2 * i], lanes[2 * i + 1]);
        if (left % 2 != 0) lanes[left / 2] = lanes[left - 1];
      }
      dst[r * call.params[kDstRep]] = lanes[0];
    }
  }

  template <typename Combine>
  static void run(Call& call, Memories& memories, Combine combine) {
    if (call.dtype(0) == DType::float16) {
      reduce<Half>(call, memories, combine);
    } else {
      reduce<float>(call, memories, combine);
    }
  }
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_BODY_WHOLE_REDUCE_H_

// SPDX-License-Identifier: Apache-2.0
#include "whole_reduce.h"

namespace tvm_ascend::sim {

namespace {

void run(Call& call, Memories& memories) {
  WholeReduce::run(call, memories, [](auto a, auto b) { return min(a, b); });
}

}  // namespace

extern const Body body_whole_reduce_min;
const Body body_whole_reduce_min{WholeReduce::access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

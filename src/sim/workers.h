// SPDX-License-Identifier: Apache-2.0
// The host's other CPU cores, for the numerics of large instructions.
#ifndef TVM_ASCEND_SIM_WORKERS_H_
#define TVM_ASCEND_SIM_WORKERS_H_

#include <cstdint>

namespace tvm_ascend::sim {

// Calls work(context, i) for every i in [0, parts), on this thread and on idle ones of the process;
// returns when all are done. Calls must not throw and may come in any order. Threads are made at
// the first call of a process; while another launch uses them, this thread does all the work.
void share_work(int64_t parts, void (*work)(void* context, int64_t part), void* context);

template <typename Work>
void share_work(int64_t parts, Work work) {
  share_work(
      parts, [](void* context, int64_t part) { (*static_cast<Work*>(context))(part); }, &work);
}

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_WORKERS_H_

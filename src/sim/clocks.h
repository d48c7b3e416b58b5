// SPDX-License-Identifier: Apache-2.0
// What each pipe of a core knows to be finished on each other pipe.
#ifndef TVM_ASCEND_SIM_CLOCKS_H_
#define TVM_ASCEND_SIM_CLOCKS_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "op.h"

namespace tvm_ascend::sim {

using Epochs =
    std::array<uint32_t, kPipes>;  // per pipe: everything up to this instruction is finished

// Instructions of a pipe start in order but may overlap, so a pipe does not know its own earlier
// ones to be finished until a barrier or a flag from elsewhere says so.
class Clocks {
 public:
  // Number of the next instruction on the pipe. It is issued by the scalar unit, so it starts after
  // all that unit knows.
  uint32_t advance(Pipe pipe) {
    join(pipe, seen_[static_cast<int>(Pipe::S)]);
    return ++issued_[static_cast<int>(pipe)];
  }

  const Epochs& seen(Pipe pipe) const { return seen_[static_cast<int>(pipe)]; }
  uint32_t issued(Pipe pipe) const { return issued_[static_cast<int>(pipe)]; }

  // What a flag raised by the pipe tells: all it knows, and that everything issued to it is
  // finished.
  Epochs finished(Pipe pipe) const {
    Epochs known = seen(pipe);
    known[static_cast<int>(pipe)] = issued(pipe);
    return known;
  }

  void join(Pipe pipe, const Epochs& known) {
    Epochs& mine = seen_[static_cast<int>(pipe)];
    for (int i = 0; i < kPipes; ++i) mine[i] = std::max(mine[i], known[i]);
  }

  void barrier(Pipe pipe) { join(pipe, finished(pipe)); }

  void barrier_all() {
    for (Epochs& known : seen_) known = issued_;
  }

 private:
  Epochs issued_{};
  std::array<Epochs, kPipes> seen_{};
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_CLOCKS_H_

// SPDX-License-Identifier: Apache-2.0
// What each pipe of a core knows to be finished on each other pipe, and on other cores.
#ifndef TVM_ASCEND_SIM_CLOCKS_H_
#define TVM_ASCEND_SIM_CLOCKS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "op.h"

namespace tvm_ascend::sim {

using Epochs =
    std::array<uint32_t, kPipes>;  // per pipe: everything up to this instruction is finished

// The same of every core of the launch; `waits` counts its waits for other cores that are over.
struct Finished {
  Epochs epochs{};
  uint32_t waits = 0;
};
using Knowledge = std::vector<Finished>;  // by core; empty: nothing is known

inline void join(Epochs* mine, const Epochs& other) {
  for (int i = 0; i < kPipes; ++i) (*mine)[i] = std::max((*mine)[i], other[i]);
}

inline void join(Knowledge* mine, const Knowledge& other) {
  if (mine->size() < other.size()) mine->resize(other.size());
  for (size_t i = 0; i < other.size(); ++i) {
    join(&(*mine)[i].epochs, other[i].epochs);
    (*mine)[i].waits = std::max((*mine)[i].waits, other[i].waits);
  }
}

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

  void join(Pipe pipe, const Epochs& known) { sim::join(&seen_[static_cast<int>(pipe)], known); }

  void barrier(Pipe pipe) { join(pipe, finished(pipe)); }

  void barrier_all() {
    for (Epochs& known : seen_) known = issued_;
  }

  // What this core, number `self` of `cores`, knows of the others. A wait for another core holds
  // every pipe, so all pipes know the same.
  const Knowledge& others() const { return others_; }
  // What a flag for another core tells once `own` is finished here.
  Knowledge tell(size_t self, size_t cores, const Epochs& own) const {
    Knowledge told = others_;
    told.resize(cores);
    told[self] = {own, waits_};
    return told;
  }
  void learn(size_t self, const Knowledge& told) {
    ++waits_;
    sim::join(&others_, told);
    join(Pipe::S, told[self].epochs);
  }
  uint32_t waits() const { return waits_; }

 private:
  Epochs issued_{};
  std::array<Epochs, kPipes> seen_{};
  Knowledge others_;
  uint32_t waits_ = 0;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_CLOCKS_H_

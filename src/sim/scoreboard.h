// SPDX-License-Identifier: Apache-2.0
// When things happen on one core: a scalar unit that issues in order into one queue per pipe.
#ifndef TVM_ASCEND_SIM_SCOREBOARD_H_
#define TVM_ASCEND_SIM_SCOREBOARD_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "op.h"

namespace tvm_ascend::sim {

struct Span {
  int64_t start;
  int64_t end;
};

class Scoreboard {
 public:
  Scoreboard(int64_t start, int64_t queue_depth, int64_t issue_cycles);

  // An instruction for a pipe's queue. `head` is paid when the pipe is idle at its start; its
  // result is there `latency` after it leaves the pipe. `scalar` are extra cycles of the scalar
  // unit before the issue.
  Span issue(Pipe pipe, int64_t cycles, int64_t head, int64_t latency, int64_t scalar);
  // An instruction of the scalar unit itself.
  Span scalar(int64_t cycles);

  // When a flag set now on the pipe is raised; the entry takes a place in the queue.
  int64_t set_flag(Pipe pipe, int64_t cycles);
  // Holds the pipe until `raised`.
  void wait_flag(Pipe pipe, int64_t raised, int64_t cycles);
  // The next entry of the pipe starts no earlier.
  void hold(Pipe pipe, int64_t until);
  void barrier(Pipe pipe, int64_t cycles);
  void barrier_all(int64_t cycles);

  // When an instruction that is issued to the pipe now would start.
  int64_t next_start(Pipe pipe) const {
    const Queue& to = pipes_[static_cast<int>(pipe)];
    return std::max({now_, to.starts[to.next], to.free});
  }

  int64_t now() const { return now_; }
  int64_t finish() const;
  int64_t busy(Pipe pipe) const { return pipes_[static_cast<int>(pipe)].busy; }
  // Cycles in which it had an instruction whose result was not there yet.
  int64_t in_flight(Pipe pipe) const { return pipes_[static_cast<int>(pipe)].in_flight; }

 private:
  struct Queue {
    int64_t free = 0;             // the next entry may start
    int64_t idle = 0;             // the last instruction left the pipe
    int64_t done = 0;             // every result is there
    int64_t busy = 0;             // cycles occupied
    int64_t in_flight = 0;        // cycles until the results were there
    std::vector<int64_t> starts;  // of the last entries, a ring
    size_t next = 0;
  };

  Queue& queue(Pipe pipe) { return pipes_[static_cast<int>(pipe)]; }
  // Puts an entry into the queue once there is room; returns when it can start.
  int64_t enqueue(Queue& queue, int64_t issue_cycles);
  void started(Queue& queue, int64_t start);

  int64_t now_;
  int64_t issue_cycles_;
  std::array<Queue, kPipes> pipes_;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_SCOREBOARD_H_

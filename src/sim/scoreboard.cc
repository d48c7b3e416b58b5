// SPDX-License-Identifier: Apache-2.0
#include "scoreboard.h"

#include <algorithm>

namespace tvm_ascend::sim {

Scoreboard::Scoreboard(int64_t start, int64_t queue_depth, int64_t issue_cycles)
    : now_(start), issue_cycles_(issue_cycles) {
  for (Queue& queue : pipes_) queue.starts.assign(std::max<int64_t>(1, queue_depth), 0);
}

int64_t Scoreboard::enqueue(Queue& queue, int64_t issue_cycles) {
  now_ = std::max(
      now_, queue.starts[queue.next]);  // a place is free once the entry `depth` ago has started
  const int64_t start = std::max(now_, queue.free);
  now_ += issue_cycles;
  return start;
}

void Scoreboard::started(Queue& queue, int64_t start) {
  queue.starts[queue.next] = start;
  if (++queue.next == queue.starts.size()) queue.next = 0;
}

Span Scoreboard::issue(Pipe pipe, int64_t cycles, int64_t head, int64_t latency, int64_t scalar) {
  if (pipe == Pipe::S) return this->scalar(cycles);
  now_ += scalar;
  Queue& to = queue(pipe);
  const int64_t start = enqueue(to, issue_cycles_);
  const int64_t end = start + cycles + (start > to.idle || to.busy == 0 ? head : 0);
  started(to, start);
  to.free = to.idle = end;
  to.in_flight += std::max<int64_t>(0, end + latency - std::max(start, to.done));
  to.done = std::max(to.done, end + latency);
  to.busy += end - start;
  return {start, end};
}

Span Scoreboard::scalar(int64_t cycles) {
  Queue& self = queue(Pipe::S);
  const int64_t start = now_;
  now_ += cycles;
  self.free = self.idle = self.done = now_;
  self.busy += cycles;
  self.in_flight += cycles;
  return {start, now_};
}

int64_t Scoreboard::set_flag(Pipe pipe, int64_t cycles) {
  if (pipe == Pipe::S) return scalar(cycles).end;
  Queue& from = queue(pipe);
  const int64_t start = enqueue(from, cycles);
  started(from, start);
  return std::max(start, from.done);
}

void Scoreboard::wait_flag(Pipe pipe, int64_t raised, int64_t cycles) {
  if (pipe == Pipe::S) {
    scalar(cycles);
    now_ = std::max(now_, raised);
    return;
  }
  Queue& to = queue(pipe);
  const int64_t start = std::max(enqueue(to, cycles), raised);
  started(to, start);
  to.free = start;
}

void Scoreboard::hold(Pipe pipe, int64_t until) {
  queue(pipe).free = std::max(queue(pipe).free, until);
}

void Scoreboard::barrier(Pipe pipe, int64_t cycles) {
  if (pipe == Pipe::S) {
    scalar(cycles);
    return;
  }
  Queue& at = queue(pipe);
  const int64_t start = std::max(enqueue(at, cycles), at.done);
  started(at, start);
  at.free = start;
}

void Scoreboard::barrier_all(int64_t cycles) {
  scalar(cycles);
  now_ = finish();
  for (Queue& each : pipes_) each.free = std::max(each.free, now_);
}

int64_t Scoreboard::finish() const {
  int64_t last = now_;
  for (const Queue& each : pipes_) last = std::max(last, each.done);
  return last;
}

}  // namespace tvm_ascend::sim

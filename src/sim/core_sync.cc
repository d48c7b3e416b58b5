// SPDX-License-Identifier: Apache-2.0
// The rows that order the pipes of a core, and cores.
#include <cmath>
#include <cstring>

#include "core.h"
#include "launch.h"

namespace tvm_ascend::sim {

int64_t Core::sync_cycles(const Call& call) const {
  return timing_of(context_.program, *place_.kind, call).cycles;
}

bool Core::set_flag(const Call& call, const Flag& flag) {
  const Ref at{call.site, flag.source};
  if (!events_.check(flag, at, &found_)) return report(&found_);
  clocks_.advance(flag.source);
  const int64_t raised = scoreboard_.set_flag(flag.source, sync_cycles(call));
  events_.set(flag, at, clocks_.finished(flag.source), raised, &found_);
  return found_.empty() || report(&found_);
}

bool Core::wait_flag(const Call& call, const Flag& flag) {
  const Ref at{call.site, flag.target};
  if (!events_.check(flag, at, &found_)) return report(&found_);
  if (!resolve_deadlock(at)) return false;
  const uint32_t epoch = clocks_.advance(flag.target);
  std::optional<Events::Raised> raised = events_.wait(flag, at, epoch);
  if (!raised) {
    const Ref last = last_[static_cast<int>(flag.source)];
    Hazard hazard;
    hazard.kind = "wait_without_set";
    hazard.core = id();
    hazard.first = last;
    hazard.at = at;
    hazard.fix = std::string("SetFlag<HardEvent::") + name_of(flag.source) + "_" +
                 name_of(flag.target) + ">(" + std::to_string(flag.id) + ")";
    hazard.message = context_.sites.describe(call.site) + " holds pipe " + name_of(flag.target) +
                     " forever, since cycle " + std::to_string(scoreboard_.now()) +
                     ": no statement before it raises " + Events::name(flag) +
                     "; the last statement on pipe " + name_of(flag.source) + " is " +
                     context_.sites.describe(last.site) + ", insert " + hazard.fix + " after it";
    deadlock_ = Deadlock{std::move(hazard), flag.target};
    raised = Events::Raised{clocks_.finished(flag.source), scoreboard_.finish(), -1};
  }
  context_.hand(raised->site, call.site);
  clocks_.join(flag.target, raised->known);
  land(raised->known);
  scoreboard_.wait_flag(flag.target, raised->time, sync_cycles(call));
  return true;
}

bool Core::refuse(const Call& call, const std::string& problem) {
  Hazard hazard;
  hazard.kind = "cross_core";
  hazard.core = id();
  hazard.first = hazard.at = {call.site, Pipe::S};
  hazard.message = context_.sites.describe(call.site) + problem;
  found_.push_back(std::move(hazard));
  return report(&found_);
}

bool Core::cross_core_set(const Call& call, Pipe pipe, Reach reach, int id) {
  const std::string problem = context_.cross_core.problem_of_set(place_, pipe, reach, id);
  return problem.empty() ? signal(call, pipe, reach, id) : refuse(call, problem);
}

bool Core::cross_core_wait(const Call& call, int id) {
  const std::string problem = context_.cross_core.problem_of_wait(id);
  return problem.empty() ? await(call, id) : refuse(call, problem);
}

bool Core::sync_all(const Call& call, Reach reach) {
  const std::string problem = context_.cross_core.problem_of_barrier();
  if (!problem.empty()) return refuse(call, problem);
  const int id = reach == Reach::Kind ? CrossCore::kSyncAll : CrossCore::kSyncAllMix;
  return barrier_all(call) && signal(call, Pipe::S, reach, id) && await(call, id);
}

bool Core::signal(const Call& call, Pipe pipe, Reach reach, int id) {
  const Ref at{call.site, pipe};
  if (!resolve_deadlock(at)) return false;
  clocks_.advance(pipe);
  const auto latency =
      static_cast<int64_t>(std::ceil(place_.kind->constant(Constant::CROSS_CORE_LATENCY)));
  context_.cross_core.set(signal_of(call, pipe, latency), reach, id, &found_);
  return found_.empty() || report(&found_);
}

CrossCore::Signal Core::signal_of(const Call& call, Pipe pipe, int64_t latency) {
  const Epochs finished = clocks_.finished(pipe);
  land(finished);
  const int64_t sent = scoreboard_.set_flag(pipe, sync_cycles(call)) + latency;
  const auto self = static_cast<size_t>(id());
  const Knowledge told = clocks_.tell(self, context_.places.size(), finished);
  return {sent, told, {call.site, pipe}, id()};
}

// The bytes of a call that polls GM, once everything before it is finished.
bool Core::check_words(const Call& call, const AccessList& list) {
  clocks_.advance(Pipe::S);
  if (context_.options.hazards) checker_.check_order(call, list, clocks_, &found_);
  return found_.empty() || report(&found_);
}

bool Core::poll(const Call& call, const AccessList& list, int wait, int give, int64_t word,
                int32_t value) {
  checker_.check_accesses(call, list, &found_);
  if (!found_.empty()) return report(&found_);
  if (!barrier_all(call) || !await(call, wait) || !check_words(call, list)) return false;
  if (context_.options.numerics) std::memcpy(memories_.at(Space::GM, word), &value, sizeof(value));
  const int64_t latency = timing_of(context_.program, *place_.kind, call).latency;
  context_.cross_core.give(signal_of(call, Pipe::S, latency), give);
  return barrier_all(call);
}

bool Core::poll_all(const Call& call, const AccessList& list, int id, int64_t word) {
  checker_.check_accesses(call, list, &found_);
  if (!found_.empty()) return report(&found_);
  if (!barrier_all(call) || !check_words(call, list)) return false;
  int32_t& passed = words_[word];
  if (context_.options.numerics) {
    int32_t held = 0;
    std::memcpy(&held, memories_.at(Space::GM, word), sizeof(held));
    if (held != passed)
      return refuse(call, ": the word of this core in gm_workspace is " + std::to_string(held) +
                              ", not " + std::to_string(passed) +
                              "; it has to be 0 before the first SyncAll, and only SyncAll may "
                              "change it");
    ++held;
    std::memcpy(memories_.at(Space::GM, word), &held, sizeof(held));
  }
  ++passed;
  const int64_t latency = timing_of(context_.program, *place_.kind, call).latency;
  context_.cross_core.set(signal_of(call, Pipe::S, latency), Reach::Soft, id, &found_);
  return await(call, id) && barrier_all(call);
}

bool Core::await(const Call& call, int id) {
  const Ref at{call.site, Pipe::S};
  if (!resolve_deadlock(at)) return false;
  const bool alone = context_.options.core && context_.program.mixed();
  if (alone && !context_.cross_core.up(this->id(), id)) {  // the flags of the others are all up
    clocks_.advance(Pipe::S);
    scoreboard_.wait_flag(Pipe::S, scoreboard_.now(), sync_cycles(call));
    return true;
  }
  waiting_ = Wait{at, id, scoreboard_.now()};
  const bool raised = context_.cross_core.up(this->id(), id) || wait_for_other_cores();
  waiting_.reset();
  if (!raised) return false;
  clocks_.advance(Pipe::S);
  const auto signal = context_.cross_core.take(this->id(), id, clocks_.waits() + 1);
  context_.hand(signal->at.site, call.site);
  clocks_.learn(static_cast<size_t>(this->id()), signal->known);
  land(clocks_.seen(Pipe::S));
  scoreboard_.wait_flag(Pipe::S, signal->time, sync_cycles(call));
  return true;
}

bool Core::trap(const Call& call) {
  Hazard hazard;
  hazard.kind = "trap";
  hazard.core = id();
  hazard.first = hazard.at = {call.site, Pipe::S};
  hazard.message = context_.sites.describe(call.site) +
                   " stops the core: an integer division by zero; guard the divisor";
  found_.push_back(std::move(hazard));
  report(&found_);
  return false;
}

bool Core::barrier(const Call& call, Pipe pipe) {
  if (!resolve_deadlock({call.site, pipe})) return false;
  context_.hand(call.site, call.site);
  clocks_.advance(pipe);
  clocks_.barrier(pipe);
  land(clocks_.seen(pipe));
  scoreboard_.barrier(pipe, sync_cycles(call));
  return true;
}

bool Core::barrier_all(const Call& call) {
  if (!resolve_deadlock({call.site, Pipe::S})) return false;
  if (call.op->body->control != nullptr) context_.hand(call.site, call.site);
  clocks_.barrier_all();
  land(clocks_.seen(Pipe::S));
  scoreboard_.barrier_all(sync_cycles(call));
  return true;
}

}  // namespace tvm_ascend::sim

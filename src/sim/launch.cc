// SPDX-License-Identifier: Apache-2.0
#include "launch.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "deadlock.h"
#include "fiber.h"

namespace tvm_ascend::sim {

namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// A core of the launch: its program's stack, and how far it came.
struct Runner {
  enum class State : uint8_t { New, Running, Paused, Waiting, Ended };

  Runner(Context& context, const CorePlace& place) : context(context), place(place) {}

  Context& context;
  const CorePlace& place;
  State state = State::New;
  int64_t start = 0;  // of its next request
  int64_t limit = 0;  // the first start of a request of another core
  std::optional<Core> core;
  std::unique_ptr<Fiber> fiber;
  Ref last;                    // statement of an ended program
  bool stopped = false;        // left before the end of its program
  bool hopeless = false;       // waits for what never comes
  std::exception_ptr failure;  // of the simulator itself
};

thread_local Runner* running = nullptr;

// Programs pause at this pace, so that Ctrl-C reaches a launch that is long or never ends.
using Clock = std::chrono::steady_clock;
constexpr uint32_t kIssuesPerLook = 256;
constexpr Clock::duration kBetweenPauses = std::chrono::milliseconds(100);
thread_local uint32_t issues = 0;
thread_local Clock::time_point last_pause;

void pause_if_due(Runner& runner) {
  if (++issues % kIssuesPerLook != 0) return;
  const Clock::time_point now = Clock::now();
  if (now - last_pause < kBetweenPauses) return;
  last_pause = now;
  runner.fiber->pause();
}

// Runs a program until it ends or waits for another core.
void resume(Runner& runner) {
  running = &runner;
  runner.state = Runner::State::Running;
  std::exception_ptr failure;
  try {
    runner.fiber->resume();
    while (runner.fiber->paused() && runner.state == Runner::State::Running) {
      runner.context.interrupt();
      runner.fiber->resume();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  running = nullptr;
  if (runner.failure) failure = runner.failure;
  if (failure) std::rethrow_exception(failure);
}

void check_choice(const Program& program, const char* name, const std::optional<int>& chosen,
                  size_t count) {
  if (!chosen || static_cast<size_t>(*chosen) < count) return;
  throw InputError("option `" + std::string(name) + "` is " + std::to_string(*chosen) +
                   ", and kernel `" + program.kernel + "` runs on " + std::to_string(count) + " " +
                   name + "s; give one from 0 to " + std::to_string(count - 1));
}

// The cores that the options choose.
std::vector<int> selected(const Context& context) {
  const Options& options = context.options;
  check_choice(context.program, "block", options.block, static_cast<size_t>(context.program.grid));
  check_choice(context.program, "core", options.core, context.places.size());
  std::vector<int> found;
  for (const CorePlace& place : context.places) {
    const bool block = !options.block || place.block == *options.block;
    const bool core = !options.core || place.index == *options.core;
    if (block && core) found.push_back(place.index);
  }
  return found;
}

// `[i, j]` of the element that holds a byte of a contiguous tensor.
std::string index_of(const GmArg& arg, int64_t byte) {
  int64_t elements = 1;
  for (int64_t extent : arg.shape) elements *= extent;
  int64_t element = byte / (arg.bytes / elements);
  std::string text = "]";
  for (size_t i = arg.shape.size(); i-- > 0; element /= arg.shape[i])
    text = (i == 0 ? "" : ", ") + std::to_string(element % arg.shape[i]) + text;
  return "[" + text;
}

// Garbage in what a call returns: bytes of its outputs that no statement wrote.
void check_outputs(Context& context) {
  for (const GmArg& arg : context.gm.args()) {
    const PoisonMap* map = context.gm.unwritten(arg);
    const int64_t first = map == nullptr ? -1 : map->find(0, arg.bytes);
    if (first < 0) continue;
    Hazard hazard;
    hazard.kind = "unwritten_output";
    hazard.core = -1;
    hazard.space = name_of(Space::GM);
    hazard.low = hazard.high = first;
    int64_t missing = 0;
    for (int64_t byte = first; byte >= 0; byte = map->find(byte + 1, arg.bytes), ++missing) {
      if (byte == hazard.high) ++hazard.high;
    }
    hazard.message = "output `" + arg.name + "` is returned with " + std::to_string(missing) +
                     " of its " + std::to_string(arg.bytes) + " bytes never written, first `" +
                     arg.name + index_of(arg, first) +
                     "`; write all of it, or pass an initialised tensor instead of out_idx";
    context.hazards.add(std::move(hazard));
  }
}

// Runs the cores of a launch in turn: always the one that can go on whose next request to global
// memory starts first, of several the first by number, so every run takes the same turns. Tests
// that predict what each core finds ask for turns by number, which need no times.
class Scheduler {
 public:
  Scheduler(Context& context, const CoreProgram& program) : context_(context), program_(program) {
    const std::vector<int> cores = selected(context);
    context.cross_core.select(cores);
    for (int core : cores) runners_.emplace_back(context, context.places[core]);
  }

  void run() {
    while (Runner* next = earliest_ready()) {
      if (next->state == Runner::State::New) start(next);
      resume(*next);
      if (next->state == Runner::State::Running) end(next);
      if (context_.options.strict && !context_.hazards.all().empty()) return;
    }
    context_.cross_core.finish(context_.sites, &found_);
    for (Hazard& hazard : found_) context_.hazards.add(std::move(hazard));
  }

 private:
  static bool ready(const Runner& runner) {
    if (runner.state == Runner::State::New || runner.state == Runner::State::Paused) return true;
    return runner.state == Runner::State::Waiting &&
           (runner.hopeless ||
            runner.context.cross_core.up(runner.place.index, runner.core->waiting()->id));
  }

  // Null when all have ended. Where every core waits, the first stops its program.
  Runner* earliest_ready() {
    Runner* earliest = nullptr;
    int64_t second = kNever;
    for (Runner& runner : runners_) {
      if (!ready(runner)) continue;
      if (context_.options.by_number) return &runner;
      if (earliest == nullptr || runner.start < earliest->start) {
        if (earliest != nullptr) second = earliest->start;
        earliest = &runner;
      } else {
        second = std::min(second, runner.start);
      }
    }
    if (earliest != nullptr) {
      earliest->limit = second;
      return earliest;
    }
    std::vector<CoreState> states;
    for (Runner& runner : runners_) {
      const bool waits = runner.state == Runner::State::Waiting;
      states.push_back({runner.place.index, waits ? runner.core->last() : runner.last,
                        waits ? runner.core->waiting() : std::nullopt});
    }
    if (!report_deadlock(context_, states)) return nullptr;
    Runner* first = nullptr;
    for (Runner& runner : runners_) {
      if (runner.state != Runner::State::Waiting) continue;
      runner.hopeless = true;
      if (first == nullptr) first = &runner;
    }
    return first;
  }

  void start(Runner* runner) {
    runner->core.emplace(context_, runner->place);
    if (fibers_.empty()) fibers_.push_back(std::make_unique<Fiber>(kStackBytes));
    runner->fiber = std::move(fibers_.back());
    fibers_.pop_back();
    runner->fiber->start([this, runner] { program_(runner->place); });
  }

  void end(Runner* runner) {
    if (!runner->stopped) runner->core->finish();
    context_.cores.push_back(runner->core->summary());
    runner->last = runner->core->last();
    runner->state = Runner::State::Ended;
    runner->core.reset();
    fibers_.push_back(std::move(runner->fiber));
  }

  Context& context_;
  const CoreProgram& program_;
  std::deque<Runner> runners_;
  std::vector<std::unique_ptr<Fiber>> fibers_;  // stacks free for another program
  std::vector<Hazard> found_;
};

}  // namespace

void run_blocks(Context& context, const CoreProgram& program) {
  if (running != nullptr) throw InputError("a kernel cannot launch another one");
  Scheduler(context, program).run();
  auto by_core = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(context.cores.begin(), context.cores.end(), by_core);
  std::stable_sort(context.printed.begin(), context.printed.end(),
                   [](const Printed& a, const Printed& b) { return a.core < b.core; });
  const Options& options = context.options;
  // A block left out, or one that stopped or skipped something, leaves its part unwritten.
  const bool complete = options.every_core() && context.hazards.all().empty();
  if (complete && options.numerics && options.hazards) check_outputs(context);
}

bool wait_for_other_cores() {
  Runner& runner = *running;
  runner.state = Runner::State::Waiting;
  runner.fiber->pause();
  return !runner.hopeless;
}

void take_turn(int64_t start) {
  Runner& runner = *running;
  runner.start = start;
  if (start <= runner.limit || runner.context.options.by_number) return;
  runner.state = Runner::State::Paused;
  runner.fiber->pause();
}

Core* current_core() { return running == nullptr ? nullptr : &*running->core; }

namespace {

template <typename Make>
int64_t issue_or_leave(Make make) {
  Runner& runner = *running;
  pause_if_due(runner);
  try {
    Call call = make(*runner.core);
    if (runner.core->issue(call)) return call.result;
  } catch (...) {
    runner.failure = std::current_exception();
  }
  runner.stopped = true;
  runner.fiber->abandon();
}

}  // namespace

int64_t issue_site(uint32_t site, const int64_t* dynamic, int n) {
  return issue_or_leave([=](Core& core) { return core.decode(site, dynamic, n); });
}

int64_t issue_call(const std::function<Call(Core&)>& make) { return issue_or_leave(make); }

}  // namespace tvm_ascend::sim

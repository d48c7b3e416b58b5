// SPDX-License-Identifier: Apache-2.0
#include "launch.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "fiber.h"

namespace tvm_ascend::sim {

namespace {

constexpr size_t kStackBytes = 256 * 1024;

// A block being run: its core, the stack its program runs on, and how it ended.
struct Block {
  explicit Block(Context& context, int id, Fiber* fiber) : core(context, id), fiber(fiber) {}

  Core core;
  Fiber* fiber;
  bool stopped = false;        // left before the end of its program
  std::exception_ptr failure;  // of the simulator itself
};

thread_local Block* running = nullptr;

// Programs pause at this pace, so that Ctrl-C reaches a launch that is long or never ends.
using Clock = std::chrono::steady_clock;
constexpr uint32_t kIssuesPerLook = 256;
constexpr Clock::duration kBetweenPauses = std::chrono::milliseconds(100);
thread_local uint32_t issues = 0;
thread_local Clock::time_point last_pause;

void pause_if_due(Block& block) {
  if (++issues % kIssuesPerLook != 0) return;
  const Clock::time_point now = Clock::now();
  if (now - last_pause < kBetweenPauses) return;
  last_pause = now;
  block.fiber->pause();
}

void resume(Block& block) {
  running = &block;
  std::exception_ptr failure;
  try {
    do {
      if (block.fiber->paused()) block.core.context().interrupt();
      block.fiber->resume();
    } while (block.fiber->paused());
  } catch (...) {
    failure = std::current_exception();
  }
  running = nullptr;
  if (block.failure) failure = block.failure;
  if (failure) std::rethrow_exception(failure);
}

std::vector<int> selected(const Context& context) {
  const int grid = context.program.grid;
  if (grid < 1 || grid > Stamp::kMaxCores) {
    throw InputError("a launch needs 1 to " + std::to_string(Stamp::kMaxCores) + " blocks, not " +
                     std::to_string(grid));
  }
  std::vector<int> blocks;
  if (context.options.all_cores) {
    for (int i = 0; i < grid; ++i) blocks.push_back(i);
  } else {
    blocks = context.options.cores;
  }
  for (int block : blocks) {
    if (block < 0 || block >= grid)
      throw InputError("no block " + std::to_string(block) + " in a launch of " +
                       std::to_string(grid));
  }
  return blocks;
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

}  // namespace

// Blocks do not wait for one another, so each runs to its end on the same stack before the next one
// starts.
void run_blocks(Context& context, const BlockProgram& block_program) {
  if (running != nullptr) throw InputError("a kernel cannot launch another one");
  Fiber fiber(kStackBytes);
  for (int id : selected(context)) {
    Block block(context, id, &fiber);
    fiber.start([&block_program, id] { block_program(id); });
    resume(block);
    if (!block.stopped) block.core.finish();
    context.cores.push_back(block.core.summary());
    if (context.options.strict && !context.hazards.all().empty()) return;
  }
  const Options& options = context.options;
  // A block left out, or one that stopped or skipped something, leaves its part unwritten.
  const bool complete = options.all_cores && context.hazards.all().empty();
  if (complete && options.numerics && options.hazards) check_outputs(context);
}

Core* current_core() { return running == nullptr ? nullptr : &running->core; }

namespace {

template <typename Make>
int64_t issue_or_leave(Make make) {
  Block& block = *running;
  pause_if_due(block);
  try {
    Call call = make(block.core);
    if (block.core.issue(call)) return call.result;
  } catch (...) {
    block.failure = std::current_exception();
  }
  block.stopped = true;
  block.fiber->abandon();
}

}  // namespace

int64_t issue_site(uint32_t site, const int64_t* dynamic, int n) {
  return issue_or_leave([=](Core& core) { return core.decode(site, dynamic, n); });
}

int64_t issue_call(const std::function<Call(Core&)>& make) { return issue_or_leave(make); }

}  // namespace tvm_ascend::sim

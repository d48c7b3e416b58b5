// SPDX-License-Identifier: Apache-2.0
#include "core.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "launch.h"
#include "numeric.h"

namespace tvm_ascend::sim {

namespace {

int64_t whole(double cycles) { return static_cast<int64_t>(std::ceil(cycles)); }

constexpr int64_t kMaskLanes = 128;  // bits of the vector mask

SpaceBytes sizes_for(const Context& context, const CoreKind& kind) {
  SpaceBytes sizes{};
  if (!context.options.numerics) return sizes;
  for (int i = 0; i < kSpaces; ++i) {
    if ((cores_of(static_cast<Space>(i)) & kind.bit) != 0)
      sizes[i] = context.program.space_bytes[i];
  }
  return sizes;
}

Timing vector_timing(const Program& program, const CoreKind& kind, const Call& call) {
  const OpInfo& op = *call.op;
  const VectorRate& rate = program.rates[op.timing];
  int64_t widest = 1;
  for (int i = 0; i < op.n_operands; ++i) widest = std::max(widest, call.itemsize(i));
  const bool count = op.count >= 0;
  double repeats = 0;
  if (op.repeats != nullptr) {
    repeats = op.repeats({kind.constants.data(), call.params, call.spaces, call.variant->operands,
                          call.registers.data()});
  } else if (count) {
    repeats =
        static_cast<double>((call.params[op.count] * widest + kRepeatBytes - 1) / kRepeatBytes);
  } else {
    repeats = static_cast<double>(masked_repeats(call));
  }
  const double per_repeat = rate.cycles[widest >= 4 ? 2 : widest - 1];
  const double scalar = count ? kind.constant(Constant::COUNT_FORM_ISSUE) : 0.0;
  return {whole(repeats * per_repeat), whole(rate.head), whole(rate.tail), whole(scalar)};
}

DType dtype_of(std::string_view name) {
  int i = 0;
  while (name != kDTypeNames[i]) ++i;
  return static_cast<DType>(i);
}

// A scalar word as a register of that dtype holds it.
int64_t rounded_word(DType dtype, int64_t word) {
  const auto value = [&] { return bit_cast<double>(word); };
  const auto rounded = [](float x) { return bit_cast<int64_t>(static_cast<double>(x)); };
  switch (dtype) {
    case DType::float16:
      return rounded(float(Half(value())));
    case DType::bfloat16:
      return rounded(float(BFloat(value())));
    case DType::float32:
      return rounded(static_cast<float>(value()));
    default:
      return word;
  }
}

// Atomic stores work on elements of the type that was set for them.
void check_atomic(const Call& call, AccessList& list) {
  if (!stores_atomically(call)) return;
  const auto type = static_cast<DType>(call.registers[Register::atomic_type]);
  if (call.dtype(0) == type) return;
  list.fault(std::string("stores ") + name_of(call.dtype(0)) + " while atomic stores are set for " +
             name_of(type));
}

// In counter mode the chip takes the low bits of a mask of lanes for a count of elements.
void check_mask_mode(const Call& call, AccessList& list) {
  const OpInfo& op = *call.op;
  if (op.pipe != Pipe::V || op.mask < 0 || op.bits) return;
  if (call.registers[Register::mask_counter] == 0 || op.params[op.mask].high > kMaskLanes) return;
  list.fault(
      "sets a mask of lanes in counter mode; call SetMaskNorm before it, or leave the mask "
      "to SetVectorMask");
}

}  // namespace

Timing timing_of(const Program& program, const CoreKind& kind, const Call& call) {
  const OpInfo& op = *call.op;
  if (op.timing >= 0) return vector_timing(program, kind, call);
  const TimingArgs args{kind.constants.data(), call.params, call.spaces, call.variant->operands,
                        call.registers.data()};
  return {whole(op.cycles(args)), 0, whole(op.latency(args)), 0};
}

void list_accesses(const Call& call, AccessList& list) {
  if (call.op->body != nullptr) {
    if (call.op->body->access != nullptr) call.op->body->access(call, list);
  } else if (call.op->lanes != nullptr) {
    lane_access(call, list);
  }
  check_atomic(call, list);
  check_mask_mode(call, list);
}

Core::Core(Context& context, const CorePlace& place)
    : context_(context),
      place_(place),
      memories_(sizes_for(context, *place.kind)),
      checker_(context, place),
      events_(context, place),
      scoreboard_(whole(place.kind->constant(Constant::CORE_START_CYCLES)),
                  whole(place.kind->constant(Constant::QUEUE_DEPTH)),
                  whole(place.kind->constant(Constant::SCALAR_ISSUE))),
      cache_(context, place.index) {}

Call Core::decode(uint32_t index, const int64_t* dynamic, int n) const {
  if (index >= context_.sites.size())
    throw InputError("the control program names site " + std::to_string(index) +
                     ", which does not exist");
  const Site& site = context_.sites[index];
  if (n < site.dynamic)
    throw InputError("the control program passes too few arguments to site " +
                     std::to_string(index));
  Call call;
  call.op = site.op;
  call.variant = site.variant;
  call.site = index;
  call.result = 0;
  auto word = [&](int i) { return site.slots[i] < 0 ? site.words[i] : dynamic[site.slots[i]]; };
  for (int i = 0; i < site.op->n_operands; ++i) {
    call.spaces[i] = site.spaces[i];
    call.operands[i] = word(i);
    call.buffers[i] = site.ranges[i];
  }
  for (int i = 0; i < site.op->n_params; ++i) call.params[i] = word(site.op->n_operands + i);
  return call;
}

bool Core::report(std::vector<Hazard>* found) {
  bool go_on = true;
  for (Hazard& hazard : *found) go_on = context_.hazards.add(std::move(hazard)) && go_on;
  found->clear();
  return go_on;
}

bool Core::resolve_deadlock(const Ref& user) {
  if (!deadlock_ || (user.site >= 0 && user.pipe != deadlock_->pipe && deadlock_->pipe != Pipe::S))
    return true;
  Hazard hazard = std::move(deadlock_->hazard);
  deadlock_.reset();
  if (user.site >= 0) {
    // Where nothing ran on the source pipe yet, the two statements are the wait and its user.
    if (hazard.first.site < 0) hazard.first = hazard.at;
    hazard.second = user;
    hazard.message +=
        "; the next statement that waits with it is " + context_.sites.describe(user.site);
  }
  found_.push_back(std::move(hazard));
  return report(&found_);
}

bool Core::issue(Call& call) {
  const OpInfo& op = *call.op;
  if (context_.leaves_out(call.site)) return true;
  const bool global = moves_global(call);
  if (global) take_turn(scoreboard_.next_start(op.pipe));
  if (context_.options.hazards) context_.reach(call.site);
  ++context_.instructions[&op - kOps];
  latest_ = {call.site, op.pipe};
  call.registers = registers_;
  checker_.check_params(call, &found_);
  if (!found_.empty()) return report(&found_);
  const Body* body = op.body;
  if (body != nullptr && body->control != nullptr) return body->control(call, *this);
  if (!resolve_deadlock({call.site, op.pipe})) return false;
  if (body != nullptr && body->print != nullptr && !barrier_all(call)) return false;
  AccessList list;
  list_accesses(call, list);
  checker_.check_accesses(call, list, &found_);
  if (found_.empty() && body != nullptr && body->data_access != nullptr) {
    body->data_access(call, context_.options.numerics ? &memories_ : nullptr, list);
    checker_.check_accesses(call, list, &found_);
  }
  if (!found_.empty()) return report(&found_);
  const std::vector<int64_t> units = UnitFlags::units(call, list);
  if (!units.empty() && !check_units(call, units)) return false;
  const uint32_t epoch = clocks_.advance(op.pipe);
  last_[static_cast<int>(op.pipe)] = {call.site, op.pipe};
  if (context_.options.hazards) {
    if (units.empty()) {
      checker_.check_order(call, list, clocks_, &found_);
    } else {  // the units tell this instruction alone who has finished with them
      Clocks told = clocks_;
      told.join(op.pipe, unit_flags_.known(units));
      checker_.check_order(call, list, told, &found_);
    }
    if (found_.empty()) cache_.check(call, list, &found_);
    if (!found_.empty() && !report(&found_)) return false;
  }
  set_registers(call);
  if (op.pipe == Pipe::V) set_mask(call);
  if (body != nullptr && body->cleans != nullptr) cache_.clean(body->cleans(call));
  if (body != nullptr && body->print != nullptr) print(call);
  // One that touches no byte may have an operand anywhere, so nothing looks at its addresses.
  const bool idle = op.n_operands > 0 && list.empty();
  if ((context_.options.numerics || op.pipe == Pipe::S) && !idle) run(call, epoch);
  count(call, list);
  time(call, global ? &list : nullptr, units, epoch);
  return true;
}

bool Core::check_units(const Call& call, const std::vector<int64_t>& units) {
  land(unit_flags_.known(units));
  const std::string problem = unit_flags_.problem(call, units, context_.sites);
  if (problem.empty()) return true;
  Hazard hazard;
  hazard.kind = "wait_without_set";
  hazard.core = id();
  hazard.space = name_of(Space::L0C);
  hazard.first = hazard.at = {call.site, call.op->pipe};
  hazard.fix = "unitFlag 3";
  hazard.message = context_.sites.describe(call.site) + problem;
  found_.push_back(std::move(hazard));
  report(&found_);
  return false;
}

void Core::set_registers(const Call& call) {
  for (int i = 0; i < call.op->n_sets; ++i) {
    const Setting& setting = call.op->sets[i];
    int64_t& into = registers_[setting.name];
    switch (setting.from) {
      case From::Param:
        into = setting.value == call.op->scalar
                   ? rounded_word(call.variant->scalar, call.params[setting.value])
                   : call.params[setting.value];
        break;
      case From::Dtype:
        into = static_cast<int64_t>(
            dtype_of(call.op->params[setting.value].values[call.params[setting.value]]));
        break;
      case From::Operand:
        into = call.operands[setting.value];
        break;
      case From::Type:
        into = static_cast<int64_t>(call.variant->scalar);
        break;
      case From::Constant:
        into = setting.value;
        break;
    }
  }
}

// What the forms leave in the vector mask. A count of more than a repeat has is set as it is, and
// what sets counter mode for itself returns to normal mode [doc: the vendor's implementation].
void Core::set_mask(const Call& call) {
  const OpInfo& op = *call.op;
  int64_t& low = registers_[Register::vector_mask_low];
  int64_t& high = registers_[Register::vector_mask_high];
  const bool of_elements = op.mask >= 0 && !op.bits && op.params[op.mask].high > kMaskLanes;
  if (op.count >= 0 || of_elements) registers_[Register::mask_counter] = 0;
  if (op.count >= 0) {
    low = high = kFirstValues[static_cast<int>(Register::vector_mask_low)];
  } else if (of_elements) {
    low = call.params[op.mask];
    high = 0;
  } else if (op.bits) {
    low = call.params[op.mask];
    high = call.params[op.mask + 1];
  } else if (op.mask >= 0) {
    const auto first = [](int64_t lanes) {
      const uint64_t most =
          lanes >= kMaskLanes / 2 ? ~uint64_t{0} : (uint64_t{1} << std::max<int64_t>(0, lanes)) - 1;
      return static_cast<int64_t>(most);
    };
    low = first(call.params[op.mask]);
    high = first(call.params[op.mask] - kMaskLanes / 2);
  }
}

// A tensor is printed once every pipe has finished, as the vendor's call waits for them.
void Core::print(const Call& call) {
  const bool data = context_.options.numerics || call.spaces[0] == Space::GM;
  context_.printed.push_back(
      {id(), call.site, call.op->body->print(call, data ? &memories_ : nullptr)});
}

void Core::run(Call& call, uint32_t epoch) {
  if (call.op->n_sets > 0 || (call.op->body != nullptr && call.op->body->run == nullptr)) return;
  if (call.op->lanes != nullptr) {
    call.op->lanes[call.variant - call.op->variants](call, memories_);
    return;
  }
  // Without data there is only global memory to load from or store to.
  if (!context_.options.numerics && call.spaces[0] != Space::GM) return;
  if (context_.options.late_dma && is_dma(call.op->pipe)) {
    landing_[static_cast<int>(call.op->pipe)].push_back({epoch, call});
  } else {
    call.op->body->run(call, memories_);
  }
}

void Core::land(const Epochs& known) {
  if (!context_.options.late_dma) return;
  for (int pipe = 0; pipe < kPipes; ++pipe) {
    std::deque<Landing>& queue = landing_[pipe];
    for (; !queue.empty() && queue.front().epoch <= known[pipe]; queue.pop_front()) {
      queue.front().call.op->body->run(queue.front().call, memories_);
    }
  }
}

void Core::count(const Call& call, const AccessList& list) {
  if (!is_dma(call.op->pipe) || call.op->n_operands < 2) return;
  const int outside = call.spaces[0] == Space::GM || call.spaces[1] != Space::GM ? 0 : 1;
  int64_t bytes = 0;
  for (const Access& access : list) {
    if (access.operand == outside && access.kind != AccessKind::Undefined) bytes += access.total();
  }
  context_.moved[static_cast<int>(call.spaces[1])][static_cast<int>(call.spaces[0])] += bytes;
}

void Core::time(const Call& call, const AccessList* list, const std::vector<int64_t>& units,
                uint32_t epoch) {
  const Timing timing = timing_of(context_.program, *place_.kind, call);
  const int64_t lost = context_.banks.lost(call);
  if (lost > 0) {
    if (context_.conflicts.size() <= call.site) context_.conflicts.resize(call.site + 1);
    context_.conflicts[call.site] += lost;
  }
  const Pipe pipe = call.op->pipe;
  if (!units.empty()) scoreboard_.hold(pipe, unit_flags_.earliest(units, timing.cycles));
  int64_t cycles = timing.cycles + lost;
  if (list != nullptr) {
    const int64_t start = scoreboard_.next_start(pipe);
    cycles = std::max(cycles, context_.traffic.serve(call, *list, *place_.kind, start) - start);
  }
  const Span span = scoreboard_.issue(pipe, cycles, timing.head, timing.latency, timing.scalar);
  unit_flags_.pass(call, units, epoch, span.start, span.end, timing.latency);
  if (context_.options.trace)
    context_.trace.push_back({id(), call.op->pipe, span.start, span.end, call.site});
}

void Core::finish() {
  if (!resolve_deadlock(Ref{})) return;
  clocks_.barrier_all();
  land(clocks_.seen(Pipe::S));
  events_.finish(last_, &found_);
  unit_flags_.finish(id(), context_.sites, &found_);
  cache_.finish(&found_);
  report(&found_);
}

CoreSummary Core::summary() const {
  CoreSummary summary{id(), place_.name, scoreboard_.finish(), {}, {}};
  for (int i = 0; i < kPipes; ++i) {
    summary.busy[i] = scoreboard_.busy(static_cast<Pipe>(i));
    summary.in_flight[i] = scoreboard_.in_flight(static_cast<Pipe>(i));
  }
  return summary;
}

}  // namespace tvm_ascend::sim

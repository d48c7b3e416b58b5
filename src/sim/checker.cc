// SPDX-License-Identifier: Apache-2.0
#include "checker.h"

#include <algorithm>
#include <limits>

namespace tvm_ascend::sim {

namespace {

std::string range(int64_t low, int64_t high) {
  return "[" + std::to_string(low) + ", " + std::to_string(high) + ")";
}

// Calls visit(low, high) for every run of an access, as byte offsets from the operand.
template <typename Visit>
void each_run(const Access& access, Visit visit) {
  for (int64_t o = 0; o < access.outer; ++o) {
    for (int64_t i = 0; i < access.inner; ++i) {
      const int64_t low = access.start + o * access.outer_stride + i * access.inner_stride;
      visit(low, low + access.bytes);
    }
  }
}

// Beyond the addresses of any host; what an instruction adds to an address stays far below it, so
// nothing overflows within.
constexpr int64_t kFarthest = int64_t{1} << 56;

// What orders two accesses of different cores.
std::string cross_core_fix(const Program& program, const CorePlace& first, Pipe pipe,
                           const CorePlace& second) {
  if (!program.cross_core()) return "disjoint bytes per core";
  const bool same_kind = first.kind == second.kind, same_block = first.block == second.block;
  if (!same_kind && !same_block) return "SyncAll<false>";
  const char* mode = same_kind ? same_block ? "1" : "0" : "2";
  return std::string("CrossCoreSetFlag<") + mode + ", PIPE_" + name_of(pipe) +
         "> and CrossCoreWaitFlag";
}

std::string fix_for(Stamp earlier, Pipe pipe) {
  const std::string later = name_of(pipe);
  if (earlier.pipe() == pipe) return "PipeBarrier<PIPE_" + later + ">";
  return std::string("SetFlag/WaitFlag<HardEvent::") + name_of(earlier.pipe()) + "_" + later + ">";
}

}  // namespace

Checker::Checker(Context& context, const CorePlace& place)
    : context_(context), place_(place), poison_(context.program.space_bytes) {
  for (int64_t bytes : context.program.space_bytes) shadows_.emplace_back(bytes);
}

Hazard Checker::at_operand(const char* kind, const Call& call, int operand) const {
  Hazard hazard;
  hazard.kind = kind;
  hazard.core = place_.index;
  hazard.first = {call.site, call.op->pipe};
  if (operand >= 0) hazard.space = name_of(call.spaces[operand]);
  return hazard;
}

// Names bytes of an operand, counted from the start of its memory or argument.
std::string Checker::place(const Call& call, int operand, int64_t low, int64_t high) const {
  const std::string& buffer = context_.sites[call.site].buffers[operand];
  if (call.spaces[operand] != Space::GM) {
    return std::string(name_of(call.spaces[operand])) + " bytes " + range(low, high) +
           (buffer.empty() ? "" : " (`" + buffer + "`)");
  }
  const GmArg* arg = context_.gm.find(buffer, call.operands[operand]);
  return arg == nullptr ? "gm" : "gm bytes " + range(low, high) + " of `" + arg->name + "`";
}

void Checker::check_params(const Call& call, std::vector<Hazard>* found) const {
  const OpInfo& op = *call.op;
  if ((op.cores & place_.kind->bit) == 0) {
    Hazard hazard = at_operand("core", call, -1);
    hazard.message = context_.sites.describe(call.site) + " cannot run on " + place_.kind->name() +
                     ": pipe " + name_of(op.pipe) + " belongs to the other kind of core";
    found->push_back(std::move(hazard));
    return;
  }
  for (int i = 0; i < op.n_operands; ++i) {
    if (call.operands[i] < -kFarthest || call.operands[i] > kFarthest) {
      found->push_back(at_operand("out_of_bounds", call, i));
      found->back().low = found->back().high = call.operands[i];
      found->back().message = context_.sites.describe(call.site) + " has operand " +
                              op.operands[i].name + " at " + std::to_string(call.operands[i]) +
                              ", an address that no memory has";
      return;
    }
    if ((cores_of(call.spaces[i]) & place_.kind->bit) != 0) continue;
    found->push_back(at_operand("core", call, i));
    found->back().message = context_.sites.describe(call.site) + " has operand " +
                            op.operands[i].name + " in " + name_of(call.spaces[i]) +
                            ", a memory that " + place_.kind->name() + " does not have";
    return;
  }
  for (int i = 0; i < op.n_params; ++i) {
    const ParamInfo& param = op.params[i];
    if (param.kind == ParamKind::Scalar || param.kind == ParamKind::Text) continue;
    if (call.params[i] >= param.low && call.params[i] <= param.high) {
      if (param.kind != ParamKind::Enum || (call.variant->choices >> call.params[i] & 1) != 0)
        continue;
      found->push_back(at_operand("parameter", call, -1));
      found->back().message = context_.sites.describe(call.site) + " has " + param.name + " = " +
                              param.values[call.params[i]] + ", which (" + call.variant->dtypes +
                              ") does not have";
      return;
    }
    Hazard hazard = at_operand("parameter", call, -1);
    hazard.message = context_.sites.describe(call.site) + " has " + param.name + " = " +
                     std::to_string(call.params[i]) + "; allowed is " + std::to_string(param.low) +
                     " to " + std::to_string(param.high);
    found->push_back(std::move(hazard));
    return;
  }
}

void Checker::check_align(const Call& call, int operand, std::vector<Hazard>* found) const {
  const OperandInfo& info = call.op->operands[operand];
  int64_t align =
      info.align != 0 ? info.align : kSpaceAlign[static_cast<int>(call.spaces[operand])];
  if (align < 0) align *= -call.itemsize(operand);
  if (call.operands[operand] % align == 0) return;
  Hazard hazard = at_operand("misaligned", call, operand);
  hazard.low = call.operands[operand];
  if (const GmArg* arg = context_.gm.find("", call.operands[operand]); arg != nullptr)
    hazard.low -= arg->base;
  hazard.high = hazard.low + call.itemsize(operand);
  hazard.message = context_.sites.describe(call.site) + " has operand " + info.name + " at byte " +
                   std::to_string(hazard.low) + " of " + hazard.space +
                   "; it must be a multiple of " + std::to_string(align);
  found->push_back(std::move(hazard));
}

void Checker::check_bounds(const Call& call, const Access& access,
                           std::vector<Hazard>* found) const {
  const Space space = call.spaces[access.operand];
  const std::string& buffer = context_.sites[call.site].buffers[access.operand];
  int64_t low = call.operands[access.operand] + access.start;
  int64_t high = call.operands[access.operand] + access.end();
  Range limit{0, context_.program.space_bytes[static_cast<int>(space)]};
  const GmArg* arg = nullptr;
  if (space == Space::GM) arg = context_.gm.find(buffer, call.operands[access.operand]);
  if (arg != nullptr) {
    low -= arg->base;
    high -= arg->base;
    limit.high = arg->bytes;
  }
  const Range& held = call.buffers[access.operand];
  const bool narrower = held.known() && held.high <= limit.high;
  const Range& allowed = narrower ? held : limit;
  if (low >= allowed.low && high <= allowed.high) return;
  std::string whole;
  if (narrower) {
    whole = (buffer.empty() ? "its tensor" : "`" + buffer + "`") + " at " + name_of(space) +
            " bytes " + range(held.low, held.high);
  } else {
    whole = arg != nullptr       ? "`" + arg->name + "`"
            : space == Space::GM ? "every argument"
                                 : name_of(space);
    whole += " of " + std::to_string(limit.high) + " bytes";
  }
  Hazard hazard = at_operand("out_of_bounds", call, access.operand);
  hazard.low = low;
  hazard.high = high;
  hazard.message = context_.sites.describe(call.site) + (access.writes() ? " writes" : " reads") +
                   " bytes " + range(low, high) + " through operand " +
                   call.op->operands[access.operand].name + ", outside " + whole;
  found->push_back(std::move(hazard));
}

void Checker::check_accesses(const Call& call, const AccessList& list,
                             std::vector<Hazard>* found) const {
  if (!list.fault().empty()) {
    found->push_back(at_operand("parameter", call, -1));
    found->back().message = context_.sites.describe(call.site) + ": " + list.fault();
    return;
  }
  uint32_t aligned = 0;
  for (const Access& access : list) {
    if ((aligned >> access.operand & 1) == 0) check_align(call, access.operand, found);
    aligned |= 1U << access.operand;
    if (found->empty()) check_bounds(call, access, found);
    if (!found->empty()) return;
  }
  std::string overlap = illegal_overlap(call);
  if (overlap.empty()) return;
  found->push_back(at_operand("overlap", call, 0));
  found->back().message = context_.sites.describe(call.site) + ": " + overlap +
                          "; operands must coincide or be disjoint";
}

Shadow& Checker::shadow(const Call& call, int operand, int64_t* offset) {
  const Space space = call.spaces[operand];
  *offset = call.operands[operand];
  if (space != Space::GM) return shadows_[static_cast<int>(space)];
  const GmArg* arg =
      context_.gm.find(context_.sites[call.site].buffers[operand], call.operands[operand]);
  *offset += context_.gm.offset(*arg) - arg->base;
  return context_.gm.shadow(*arg);
}

void Checker::race(const Call& call, const Access& access, const Conflict& conflict,
                   std::vector<Hazard>* found) const {
  const Stamp earlier = conflict.earlier;
  struct Side {
    Ref ref;
    const CorePlace* core;
    bool writes;
  };
  Side first{
      {earlier.site(), earlier.pipe()}, &context_.places[earlier.core()], conflict.earlier_writes};
  Side second{{call.site, call.op->pipe}, &place_, conflict.later_writes};
  const bool other_core = first.core != second.core;
  // Which core came first is chance. What one reads and the other writes goes from that to this.
  const bool turned =
      first.writes == second.writes ? first.core->index > second.core->index : second.writes;
  if (other_core && turned) std::swap(first, second);
  Hazard hazard = at_operand("race", call, access.operand);
  hazard.core = second.core->index;
  hazard.first = first.ref;
  hazard.second = second.ref;
  hazard.low = conflict.low;
  hazard.high = conflict.high;
  hazard.fix = other_core
                   ? cross_core_fix(context_.program, *first.core, first.ref.pipe, *second.core)
                   : fix_for(earlier, call.op->pipe);
  const bool insert = !other_core || context_.program.cross_core();
  hazard.message = context_.sites.describe(second.ref.site) + " on pipe " +
                   name_of(second.ref.pipe) + (second.writes ? " writes " : " reads ") +
                   place(call, access.operand, conflict.low, conflict.high) + " that " +
                   context_.sites.describe(first.ref.site) + " on pipe " + name_of(first.ref.pipe) +
                   (other_core ? " of " + first.core->name : std::string()) +
                   (first.writes ? " writes" : " reads") + ", and nothing orders them; " +
                   (insert ? "insert " : "cores must touch ") + hazard.fix;
  found->push_back(std::move(hazard));
}

// The map of undefined bytes that an operand is in, null if they all have values, and where in it
// the operand is.
PoisonMap* Checker::undefined(const Call& call, int operand, int64_t* offset) {
  const Space space = call.spaces[operand];
  *offset = call.operands[operand];
  if (space != Space::GM) return &poison_.of(space);
  const GmArg* arg =
      context_.gm.find(context_.sites[call.site].buffers[operand], call.operands[operand]);
  *offset -= arg->base;
  return context_.gm.unwritten(*arg);
}

void Checker::check_poison(const Call& call, const Access& access, std::vector<Hazard>* found) {
  const Space space = call.spaces[access.operand];
  int64_t base = 0;
  const PoisonMap* map = undefined(call, access.operand, &base);
  if (map == nullptr) return;
  int64_t bad = -1;
  each_run(access, [&](int64_t low, int64_t high) {
    if (bad < 0) bad = map->find(base + low, base + high);
  });
  if (bad < 0) return;
  Hazard hazard = at_operand("poison", call, access.operand);
  const Stamp writer = space == Space::GM ? Stamp() : shadows_[static_cast<int>(space)].writer(bad);
  hazard.second = {call.site, call.op->pipe};
  hazard.first = writer.empty() ? Ref{} : Ref{writer.site(), writer.pipe()};
  hazard.low = bad;
  hazard.high = bad + 1;
  hazard.message =
      context_.sites.describe(call.site) + " reads " + place(call, access.operand, bad, bad + 1) +
      ", which holds no defined value: " +
      (writer.empty() ? "nobody wrote it"
                      : context_.sites.describe(writer.site()) + " left it as padding");
  found->push_back(std::move(hazard));
}

void Checker::record(const Call& call, const Access& access, const Accessor& by,
                     std::vector<Hazard>* found) {
  int64_t offset = 0;
  Shadow& shadow = this->shadow(call, access.operand, &offset);
  const Space space = call.spaces[access.operand];
  conflicts_.clear();
  Shadow::Visit visit(by, &conflicts_);
  each_run(access, [&](int64_t low, int64_t high) {
    if (access.writes()) {
      shadow.write(visit, offset + low, offset + high);
    } else {
      shadow.read(visit, offset + low, offset + high);
    }
  });
  // A flag from another pipe often orders this pipe's own earlier access too, so it is named first.
  std::stable_partition(conflicts_.begin(), conflicts_.end(), [&](const Conflict& conflict) {
    return conflict.earlier.pipe() != call.op->pipe;
  });
  const int64_t to_operand = space == Space::GM ? offset - call.operands[access.operand] : 0;
  for (Conflict& conflict : conflicts_) {
    if (space == Space::GM) {  // from the region to the argument
      const GmArg* arg = context_.gm.find(context_.sites[call.site].buffers[access.operand],
                                          call.operands[access.operand]);
      conflict.low -= to_operand + arg->base;
      conflict.high -= to_operand + arg->base;
    }
    race(call, access, conflict, found);
  }
}

void Checker::excuse(const Call& call, Accessor* by) {
  const int64_t key = call.op->body->tile(call, context_.program);
  Tile& tile = tiles_[call.operands[0]];
  if (key != 0 && tile.key == key) by->excused = tile.stamp;
  tile = {key, by->stamp};
}

void Checker::check_order(const Call& call, const AccessList& list, const Clocks& clocks,
                          std::vector<Hazard>* found) {
  const Pipe pipe = call.op->pipe;
  const auto stamp = [&](bool atomic) {
    return Stamp(place_.index, pipe, call.site, clocks.issued(pipe), atomic);
  };
  const bool combines = stores_atomically(call);
  Accessor by{stamp(false), clocks.seen(pipe), clocks.seen(pipe), Stamp(), &clocks.others()};
  constexpr uint32_t kAlways = std::numeric_limits<uint32_t>::max();
  by.after_read[static_cast<int>(pipe)] = kAlways;
  if (pipe == Pipe::S) by.after_write[static_cast<int>(pipe)] = kAlways;
  const Body* body = call.op->body;
  if (body != nullptr && body->tile != nullptr) excuse(call, &by);
  for (bool writes : {false, true}) {
    by.stamp = stamp(writes && combines);
    for (const Access& access : list) {
      if (access.writes() != writes) continue;
      record(call, access, by, found);
      const bool gm = call.spaces[access.operand] == Space::GM;
      const bool looks = writes ? gm && combines : gm || access.kind == AccessKind::Read;
      if (looks) check_poison(call, access, found);
    }
  }
  for (const Access& access : list) {
    if (!access.writes()) continue;
    int64_t base = 0;
    PoisonMap* map = undefined(call, access.operand, &base);
    if (map == nullptr) continue;
    each_run(access, [&](int64_t low, int64_t high) {
      map->set(base + low, base + high, access.kind == AccessKind::Undefined);
    });
  }
  if (body != nullptr && body->poison != nullptr) body->poison(call, poison_);
}

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
#include "unit_flags.h"

#include <algorithm>

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kUnitBytes = kFractalBytes;
constexpr int64_t kTurns = 3;  // the value of unitFlag that turns the flags, 2 leaves them

// The place of the parameter in a row, -1 if it has none.
int flag_param(const Call& call) {
  static const std::vector<int> places = [] {
    std::vector<int> found;
    for (int i = 0; i < kOpCount; ++i) found.push_back(param_index(kOps[i], "unit_flag"));
    return found;
  }();
  return places[call.op - kOps];
}

// Whether it waits for raised flags, as those that read L0C do.
bool wants_up(const Call& call) { return call.op->pipe == Pipe::FIX; }

}  // namespace

std::vector<int64_t> UnitFlags::units(const Call& call, const AccessList& list) {
  std::vector<int64_t> found;
  if (flag_param(call) < 0) return found;
  for (const Access& access : list) {
    if (call.spaces[access.operand] != Space::L0C || access.kind == AccessKind::Undefined) continue;
    for (int64_t o = 0; o < access.outer; ++o) {
      for (int64_t i = 0; i < access.inner; ++i) {
        const int64_t low = call.operands[access.operand] + access.start + o * access.outer_stride +
                            i * access.inner_stride;
        for (int64_t unit = low / kUnitBytes; unit * kUnitBytes < low + access.bytes; ++unit)
          found.push_back(unit);
      }
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string UnitFlags::problem(const Call& call, const std::vector<int64_t>& units,
                               const SiteTable& sites) const {
  for (int64_t unit : units) {
    const Unit flag = static_cast<size_t>(unit) < flags_.size() ? flags_[unit] : Unit{};
    if (flag.up == wants_up(call)) continue;
    const std::string where = " the flag of L0C bytes [" + std::to_string(unit * kUnitBytes) +
                              ", " + std::to_string((unit + 1) * kUnitBytes) + ")";
    if (flag.up) {
      return " waits for" + where + ", which " + sites.describe(flag.last.site) +
             " raised, to be lowered, and no Fixpipe before it does that; drain the tile with "
             "unitFlag 3 first";
    }
    return " waits for" + where +
           " to be raised, and no Mmad before it does that; give the last "
           "Mmad of the tile unitFlag 3" +
           (flag.last.site < 0 ? ""
                               : ": the last one with a flag is " + sites.describe(flag.last.site));
  }
  return "";
}

Epochs UnitFlags::known(const std::vector<int64_t>& units) const {
  Epochs known{};
  for (int64_t unit : units) {
    if (static_cast<size_t>(unit) >= flags_.size()) break;
    join(&known, flags_[unit].known);
  }
  return known;
}

int64_t UnitFlags::earliest(const std::vector<int64_t>& units, int64_t cycles) const {
  int64_t start = 0;
  const auto count = static_cast<int64_t>(units.size());
  for (int64_t i = 0; i < count; ++i) {
    if (static_cast<size_t>(units[i]) >= flags_.size()) break;
    start = std::max(start, flags_[units[i]].ready - cycles * i / count);
  }
  return start;
}

void UnitFlags::pass(const Call& call, const std::vector<int64_t>& units, uint32_t epoch,
                     int64_t start, int64_t end, int64_t latency) {
  if (units.empty()) return;
  if (flags_.size() <= static_cast<size_t>(units.back())) flags_.resize(units.back() + 1);
  const bool turns = call.params[flag_param(call)] == kTurns;
  const auto count = static_cast<int64_t>(units.size());
  for (int64_t i = 0; i < count; ++i) {
    Unit& flag = flags_[units[i]];
    flag.last = {call.site, call.op->pipe};
    if (!turns) continue;
    flag.up = !flag.up;
    flag.known[static_cast<int>(call.op->pipe)] = epoch;
    flag.ready = start + (end - start) * (i + 1) / count + latency;
  }
}

void UnitFlags::finish(int core, const SiteTable& sites, std::vector<Hazard>* found) const {
  const auto at =
      std::find_if(flags_.begin(), flags_.end(), [](const Unit& flag) { return flag.up; });
  if (at == flags_.end()) return;
  Hazard hazard;
  hazard.kind = "unconsumed_flag";
  hazard.core = core;
  hazard.space = name_of(Space::L0C);
  hazard.low = (at - flags_.begin()) * kUnitBytes;
  hazard.high = hazard.low + kUnitBytes;
  hazard.first = hazard.at = at->last;
  hazard.fix = "a Fixpipe with unitFlag 3";
  hazard.message = sites.describe(at->last.site) + " leaves the flag of L0C bytes [" +
                   std::to_string(hazard.low) + ", " + std::to_string(hazard.high) +
                   ") raised, and the kernel ends before " + hazard.fix +
                   " lowers it: the next kernel on this core would start with it up";
  found->push_back(std::move(hazard));
}

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
#include "deadlock.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace tvm_ascend::sim {

namespace {

constexpr const char* kModes[] = {"0", "1", "2"};

class Writer {
 public:
  Writer(Context& context, const std::vector<CoreState>& states)
      : context_(context), sites_(context.sites) {
    for (const CoreState& state : states) states_[state.core] = &state;
  }

  Hazard hazard(const CoreState& state, const std::string& others) const {
    const Core::Wait& wait = *state.wait;
    Hazard hazard;
    hazard.kind = "deadlock";
    hazard.core = state.core;
    hazard.first = hazard.at = wait.at;
    hazard.message = name(state) + others + " waits forever at " + sites_.describe(wait.at.site) +
                     " for " + flag_name(wait.id) + ", since cycle " + std::to_string(wait.since) +
                     ": " + cause(state, &hazard);
    return hazard;
  }

 private:
  const std::string& name(const CoreState& state) const { return context_.places[state.core].name; }

  // The ways in which the flag of a core may be raised: how it was set before, else how statements
  // of the program that name it set it.
  std::vector<Reach> modes(const CoreState& state) const {
    const int id = state.wait->id;
    if (id >= CrossCore::kFirstSoft) {
      if (CrossCore::soft_kind(id) == CrossCore::Soft::Barrier) return {Reach::Soft};
      return {};
    }
    if (id == CrossCore::kSyncAll) return {Reach::Kind};
    if (id == CrossCore::kSyncAllMix) return {Reach::Everyone};
    std::vector<Reach> found = context_.cross_core.modes(state.core, id);
    if (!found.empty()) return found;
    static const int set = find_op("cross_core_set_flag");
    std::set<int64_t> modes;
    for (uint32_t i = 0; i < sites_.size(); ++i) {
      const Site& site = sites_[i];
      if (site.op != &kOps[set] || site.slots[0] >= 0) continue;
      if (site.slots[2] >= 0 || site.words[2] == id) modes.insert(site.words[0]);
    }
    for (int64_t mode : modes) found.push_back(static_cast<Reach>(mode));
    return found;
  }

  // Why the flag does not come, and what would raise it.
  std::string cause(const CoreState& state, Hazard* hazard) const {
    const int id = state.wait->id;
    for (Reach reach : modes(state)) {
      for (int absent : context_.cross_core.missing(state.core, reach, id)) {
        const auto at = states_.find(absent);
        if (absent == state.core || at == states_.end()) continue;
        const CoreState& other = *at->second;
        hazard->second = other.wait ? other.wait->at : other.last;
        const bool all = reach == Reach::Everyone || reach == Reach::Soft;
        hazard->fix = all || id == CrossCore::kSyncAll
                          ? "SyncAll on " + name(other)
                          : std::string("CrossCoreSetFlag<") + kModes[static_cast<int>(reach)] +
                                ", ...>(" + std::to_string(id) + ") on " + name(other);
        return hazard->fix + " would raise it, and " + name(other) + where(other);
      }
    }
    hazard->second = state.last;
    if (id >= CrossCore::kFirstSoft) {
      const bool raise = CrossCore::soft_kind(id) == CrossCore::Soft::Up;
      hazard->fix = raise ? "IBSet" : "IBWait";
      return "no other core does that; insert " + hazard->fix +
             " of the same block and event where " +
             (raise ? "what it waits for is done" : "the last one is waited for");
    }
    hazard->fix = "CrossCoreSetFlag(" + std::to_string(id) + ")";
    return "no statement sets it; insert " + hazard->fix + " where what it waits for is done";
  }

  std::string where(const CoreState& state) const {
    if (state.wait) {
      return " itself waits at " + sites_.describe(state.wait->at.site) + " for " +
             flag_name(state.wait->id) + ", since cycle " + std::to_string(state.wait->since);
    }
    return state.last.site < 0 ? " has no statements"
                               : " has ended after " + sites_.describe(state.last.site);
  }

  Context& context_;
  const SiteTable& sites_;
  std::map<int, const CoreState*> states_;
};

}  // namespace

bool report_deadlock(Context& context, const std::vector<CoreState>& states) {
  std::map<int64_t, std::vector<const CoreState*>> by_site;
  std::vector<int64_t> order;
  for (const CoreState& state : states) {
    if (!state.wait) continue;
    std::vector<const CoreState*>& at = by_site[state.wait->at.site];
    if (at.empty()) order.push_back(state.wait->at.site);
    at.push_back(&state);
  }
  const Writer writer(context, states);
  for (int64_t site : order) {
    const std::vector<const CoreState*>& stuck = by_site[site];
    const std::string others =
        stuck.size() == 1 ? "" : " (and " + std::to_string(stuck.size() - 1) + " more)";
    context.hazards.add(writer.hazard(*stuck.front(), others));
  }
  return !order.empty();
}

}  // namespace tvm_ascend::sim

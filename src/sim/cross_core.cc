// SPDX-License-Identifier: Apache-2.0
#include "cross_core.h"

#include <algorithm>

namespace tvm_ascend::sim {

namespace {

constexpr int kAnyCore = -1;

bool is_soft(int id) { return id >= CrossCore::kFirstSoft; }

}  // namespace

std::string flag_name(int id) {
  if (is_soft(id)) {
    switch (CrossCore::soft_kind(id)) {
      case CrossCore::Soft::Barrier:
        return "SyncAll through GM";
      case CrossCore::Soft::Up:
        return "a word of GM that IBSet raises";
      default:
        return "a word of GM that IBWait lowers";
    }
  }
  if (id == CrossCore::kSyncAll || id == CrossCore::kSyncAllMix) return "SyncAll";
  return "cross-core flag " + std::to_string(id);
}

template <typename Matches>
std::vector<int> CrossCore::cores(Matches matches) const {
  std::vector<int> found;
  for (int core : selected_) {
    if (matches(places_[core])) found.push_back(core);
  }
  return found;
}

std::string CrossCore::problem_of_kernel() const {
  if (program_.cross_core()) return "";
  return " needs a kernel of type MIX_...: the scheduler that passes flags between cores is off "
         "for " +
         program_.kernel_type;
}

std::string CrossCore::problem_of_wait(int id) const {
  if (id >= 0 && id < program_.usable_cross_core_ids) return problem_of_kernel();
  const bool exists = id >= 0 && id < program_.cross_core_ids;
  return ": cross-core flag " + std::to_string(id) + (exists ? " is reserved" : " does not exist") +
         "; ids 0 to " + std::to_string(program_.usable_cross_core_ids - 1) + " are free";
}

std::string CrossCore::problem_of_set(const CorePlace& sender, Pipe pipe, Reach reach,
                                      int id) const {
  if (std::string problem = problem_of_wait(id); !problem.empty()) return problem;
  if ((cores_of(pipe) & sender.kind->bit) == 0) {
    return std::string(" names pipe ") + name_of(pipe) + ", which " + sender.kind->name() +
           " does not have";
  }
  if (reach == Reach::Kind) return problem_of_barrier();
  if (!program_.mixed()) {
    return " signals inside an AI Core, and the kernel runs on one kind of core only; use mode 0";
  }
  if (reach == Reach::Pair && sender.kind->cube())
    return " signals between the Vector cores of an AI Core (mode 1) from its Cube core; use mode "
           "2";
  return "";
}

std::string CrossCore::problem_of_barrier() const {
  if (std::string problem = problem_of_kernel(); !problem.empty()) return problem;
  return problem_of_polling();
}

std::string CrossCore::problem_of_polling() const {
  const CoreKind& kind = program_.kinds.front();
  if (program_.grid <= kind.physical) return "";
  return " waits for all " + std::to_string(program_.grid) + " blocks, of which only " +
         std::to_string(kind.physical) + " run at once: the others never come; launch at most " +
         std::to_string(kind.physical);
}

// The members of an AI Core are told apart by kind; a barrier has the same on both sides.
std::vector<int> CrossCore::senders(const CorePlace& sender, Reach reach) const {
  return cores([&](const CorePlace& place) {
    const bool kind = place.kind == sender.kind;
    const bool block = place.block == sender.block;
    return reach == Reach::Everyone || (kind && (reach == Reach::Kind || block));
  });
}

std::vector<int> CrossCore::receivers(const CorePlace& sender, Reach reach) const {
  if (reach != Reach::AiCore) return senders(sender, reach);
  return cores([&](const CorePlace& place) {
    return place.kind != sender.kind && place.block == sender.block;
  });
}

CrossCore::Key CrossCore::key(const CorePlace& sender, Reach reach, int id) const {
  const auto kind = static_cast<int>(sender.kind->bit);
  const int group = reach == Reach::Everyone || reach == Reach::Soft ? 0
                    : reach == Reach::Kind                           ? kind
                                                                     : sender.block * 4 + kind;
  return {reach, group, id};
}

CrossCore::Channel& CrossCore::channel(const CorePlace& sender, Reach reach, int id) {
  auto [at, fresh] = channels_.try_emplace(key(sender, reach, id));
  Channel& channel = at->second;
  if (fresh) {
    channel.senders = senders(sender, reach);
    channel.receivers = receivers(sender, reach);
  }
  return channel;
}

void CrossCore::check_depth(const Signal& signal, const Channel& channel, int id,
                            std::vector<Hazard>* found) const {
  if (is_soft(id)) return;  // words count on
  const auto own = static_cast<int64_t>(channel.pending.at(signal.core).size());
  for (int receiver : channel.receivers) {
    int64_t outstanding = own;
    if (auto at = counters_.find({receiver, id}); at != counters_.end()) {
      const std::vector<uint32_t>& taken = at->second.taken;
      const uint32_t known = signal.known[receiver].waits;
      outstanding +=
          at->second.raised - (std::upper_bound(taken.begin(), taken.end(), known) - taken.begin());
    }
    if (outstanding <= program_.cross_core_depth) continue;
    Hazard hazard;
    hazard.kind = "flag_overflow";
    hazard.core = signal.core;
    hazard.first = hazard.at = signal.at;
    hazard.fix = "a flag that " + places_[receiver].name + " sets back";
    hazard.message = places_[signal.core].name + " sets " + flag_name(id) + " although up to " +
                     std::to_string(outstanding) + " sets may not have been " + "waited for by " +
                     places_[receiver].name + "; its counter holds " +
                     std::to_string(program_.cross_core_depth) + ". Wait for " + hazard.fix +
                     " before setting again";
    found->push_back(std::move(hazard));
    return;
  }
}

void CrossCore::set(const Signal& signal, Reach reach, int id, std::vector<Hazard>* found) {
  Channel& channel = this->channel(places_[signal.core], reach, id);
  channel.pending[signal.core].push_back(signal);
  check_depth(signal, channel, id, found);
  for (int sender : channel.senders) {
    if (channel.pending[sender].empty()) return;
  }
  auto raised = std::make_shared<Signal>(signal);
  for (int sender : channel.senders) {
    std::deque<Signal>& pending = channel.pending[sender];
    raised->time = std::max(raised->time, pending.front().time);
    join(&raised->known, pending.front().known);
    pending.pop_front();
  }
  for (int receiver : channel.receivers) {
    Counter& counter = counters_[{receiver, id}];
    counter.up.push_back(raised);
    ++counter.raised;
  }
}

std::pair<int, int> CrossCore::counter_of(int core, int id) {
  const bool any = is_soft(id) && soft_kind(id) != Soft::Barrier;
  return {any ? kAnyCore : core, id};
}

int CrossCore::soft_id(Soft kind, int64_t address, int members) {
  const auto [at, fresh] = soft_.try_emplace(address, static_cast<int>(soft_.size()));
  const int first = kFirstSoft + 3 * at->second;
  const int id = first + static_cast<int>(kind);
  if (kind == Soft::Barrier) {
    const Key key{Reach::Soft, 0, id};
    Channel& channel = channels_[key];
    channel.senders = channel.receivers =
        cores([&](const CorePlace& place) { return place.block_idx < members; });
  } else if (fresh) {
    auto down = std::make_shared<Signal>();
    down->core = kAnyCore;
    down->known.resize(places_.size());
    counters_[counter_of(kAnyCore, first + static_cast<int>(Soft::Down))].up.push_back(down);
  }
  return id;
}

void CrossCore::give(const Signal& signal, int id) {
  counters_[counter_of(kAnyCore, id)].up.push_back(std::make_shared<Signal>(signal));
}

bool CrossCore::up(int core, int id) const {
  auto at = counters_.find(counter_of(core, id));
  return at != counters_.end() && !at->second.up.empty();
}

std::shared_ptr<const CrossCore::Signal> CrossCore::take(int core, int id, uint32_t wait) {
  Counter& counter = counters_.at(counter_of(core, id));
  std::shared_ptr<const Signal> signal = std::move(counter.up.front());
  counter.up.pop_front();
  counter.taken.push_back(wait);
  return signal;
}

void CrossCore::finish(const SiteTable& sites, std::vector<Hazard>* found) const {
  auto report = [&](const Signal& signal, int id, const std::string& what) {
    Hazard hazard;
    hazard.kind = "unconsumed_flag";
    hazard.core = signal.core;
    hazard.first = hazard.at = signal.at;
    hazard.fix = "CrossCoreWaitFlag(" + std::to_string(id) + ")";
    hazard.message = sites.describe(signal.at.site) + " on " + places_[signal.core].name +
                     " sets " + flag_name(id) + what;
    found->push_back(std::move(hazard));
  };
  for (const auto& [at, counter] : counters_) {
    if (counter.up.empty()) continue;
    if (is_soft(at.second)) {
      if (soft_kind(at.second) != Soft::Up) continue;
      report(
          *counter.up.front(), at.second,
          ", and the kernel ends before a core waits for it: the next kernel would find the word "
          "raised");
      found->back().fix = "IBWait";
      continue;
    }
    report(*counter.up.front(), at.second,
           ", and the kernel ends before " + places_[at.first].name +
               " waits for it: the next kernel would start with it up");
  }
  for (const auto& [key, channel] : channels_) {
    for (const auto& [core, pending] : channel.pending) {
      if (pending.empty()) continue;
      const auto absent =
          std::find_if(channel.senders.begin(), channel.senders.end(), [&](int sender) {
            auto sets = channel.pending.find(sender);
            return sets == channel.pending.end() || sets->second.empty();
          });
      report(pending.front(), std::get<2>(key),
             ", which is raised only once every core of its group has set it, and the kernel ends "
             "without a set of " +
                 places_[*absent].name);
    }
  }
}

std::vector<int> CrossCore::missing(int core, Reach reach, int id) const {
  if (reach == Reach::Soft) {
    std::vector<int> absent;
    const Channel& channel = channels_.at({reach, 0, id});
    for (int sender : channel.senders) {
      const auto sets = channel.pending.find(sender);
      if (sets == channel.pending.end() || sets->second.empty()) absent.push_back(sender);
    }
    return absent;
  }
  // The senders for a core are those of any core that reaches it.
  for (int sender : selected_) {
    const std::vector<int> reached = receivers(places_[sender], reach);
    if (std::find(reached.begin(), reached.end(), core) == reached.end()) continue;
    std::vector<int> absent = senders(places_[sender], reach);
    if (auto at = channels_.find(key(places_[sender], reach, id)); at != channels_.end()) {
      absent.erase(std::remove_if(absent.begin(), absent.end(),
                                  [&](int other) {
                                    auto sets = at->second.pending.find(other);
                                    return sets != at->second.pending.end() &&
                                           !sets->second.empty();
                                  }),
                   absent.end());
    }
    return absent;
  }
  return {};
}

std::vector<Reach> CrossCore::modes(int core, int id) const {
  std::vector<Reach> found;
  for (const auto& [key, channel] : channels_) {
    if (std::get<2>(key) == id && std::find(channel.receivers.begin(), channel.receivers.end(),
                                            core) != channel.receivers.end())
      found.push_back(std::get<0>(key));
  }
  return found;
}

}  // namespace tvm_ascend::sim

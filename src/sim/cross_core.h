// SPDX-License-Identifier: Apache-2.0
// Flags between the cores of a launch: what a set counts up on other cores and a wait counts down.
#ifndef TVM_ASCEND_SIM_CROSS_CORE_H_
#define TVM_ASCEND_SIM_CROSS_CORE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "clocks.h"
#include "hazard.h"

namespace tvm_ascend::sim {

// Who sets a flag together and for whom: modes 0 to 2 of CrossCoreSetFlag, SyncAll<false>, and
// SyncAll through GM.
enum class Reach : uint8_t { Kind, Pair, AiCore, Everyone, Soft };

class CrossCore {
 public:
  // The flags of the barriers of all cores [doc: ASCEND 4.4].
  static constexpr int kSyncAll = 14;
  static constexpr int kSyncAllMix = 11;

  CrossCore(const Program& program, const std::vector<CorePlace>& places)
      : program_(program), places_(places) {}

  // Flags in GM have the ids from here on: a barrier, or of a word of IBSet whether it is up, and
  // whether it is down again.
  static constexpr int kFirstSoft = 16;
  enum class Soft : uint8_t { Barrier, Up, Down };
  static Soft soft_kind(int id) { return static_cast<Soft>((id - kFirstSoft) % 3); }

  // Only these cores run; flags of the others are not waited for.
  void select(const std::vector<int>& cores) { selected_ = cores; }

  // Why a core may not do that; empty when it may. Texts continue the name of a statement.
  std::string problem_of_set(const CorePlace& sender, Pipe pipe, Reach reach, int id) const;
  std::string problem_of_wait(int id) const;
  std::string problem_of_barrier() const;
  // Why cores that wait by polling GM may wait forever.
  std::string problem_of_polling() const;

  // A set as it leaves its pipe: when, what it tells, its statement.
  struct Signal {
    int64_t time;
    Knowledge known;
    Ref at;
    int core;
  };

  // Appends a hazard when more sets may be outstanding than the counter holds.
  void set(const Signal& signal, Reach reach, int id, std::vector<Hazard>* found);
  // Whether a wait of the core for that flag can go on.
  bool up(int core, int id) const;
  // Counts it down; it must be up. `wait` numbers the core's waits.
  std::shared_ptr<const Signal> take(int core, int id, uint32_t wait);
  // The id of a flag in GM at an address. The members of a barrier are the first cores; a word of
  // IBSet is down at first.
  int soft_id(Soft kind, int64_t address, int members = 0);
  // One more of a flag in GM that any core may take.
  void give(const Signal& signal, int id);

  // Flags that no wait consumed.
  void finish(const SiteTable& sites, std::vector<Hazard>* found) const;

  // The cores that have to set the flag once more before it is up on a core.
  std::vector<int> missing(int core, Reach reach, int id) const;
  // The modes in which anyone set the flag of that core so far.
  std::vector<Reach> modes(int core, int id) const;

 private:
  // Sets wait here until every sender has set once.
  struct Channel {
    std::vector<int> senders;
    std::vector<int> receivers;
    std::map<int, std::deque<Signal>> pending;
  };
  struct Counter {
    std::deque<std::shared_ptr<const Signal>> up;
    int64_t raised = 0;
    std::vector<uint32_t> taken;  // the numbers of the waits
  };
  using Key = std::tuple<Reach, int, int>;

  Key key(const CorePlace& sender, Reach reach, int id) const;
  Channel& channel(const CorePlace& sender, Reach reach, int id);
  std::vector<int> senders(const CorePlace& sender, Reach reach) const;
  std::vector<int> receivers(const CorePlace& sender, Reach reach) const;
  std::string problem_of_kernel() const;
  template <typename Matches>
  std::vector<int> cores(Matches matches) const;
  // The counter that a wait of the core looks at: of a word in GM all have the same.
  static std::pair<int, int> counter_of(int core, int id);
  void check_depth(const Signal& signal, const Channel& channel, int id,
                   std::vector<Hazard>* found) const;

  const Program& program_;
  const std::vector<CorePlace>& places_;
  std::vector<int> selected_;
  std::map<Key, Channel> channels_;
  std::map<std::pair<int, int>, Counter> counters_;  // by core and id
  std::map<int64_t, int> soft_;                      // numbers of addresses
};

// "flag 3", or the barrier that it belongs to.
std::string flag_name(int id);

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_CROSS_CORE_H_

// SPDX-License-Identifier: Apache-2.0
// One core running one block: every instruction passes through issue().
#ifndef TVM_ASCEND_SIM_CORE_H_
#define TVM_ASCEND_SIM_CORE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "checker.h"
#include "clocks.h"
#include "context.h"
#include "data_cache.h"
#include "events.h"
#include "memory.h"
#include "scoreboard.h"
#include "unit_flags.h"

namespace tvm_ascend::sim {

// Cycles of one instruction on its pipe.
struct Timing {
  int64_t cycles;
  int64_t head;
  int64_t latency;
  int64_t scalar;  // extra cycles of the scalar unit
};

Timing timing_of(const Program& program, const CoreKind& kind, const Call& call);
// The bytes an instruction touches whatever the data, whatever its row.
void list_accesses(const Call& call, AccessList& list);

class Core {
 public:
  Core(Context& context, const CorePlace& place);

  // Fills a call from a site and its `n` dynamic arguments.
  Call decode(uint32_t site, const int64_t* dynamic, int n) const;
  // Runs one instruction. False: a hazard ends the core's program here.
  bool issue(Call& call);
  // Ends the program: checks what must not be left over.
  void finish();
  CoreSummary summary() const;

  // The rows that order pipes.
  bool set_flag(const Call& call, const Flag& flag);
  bool wait_flag(const Call& call, const Flag& flag);
  bool barrier(const Call& call, Pipe pipe);
  bool barrier_all(const Call& call);
  // The rows that order cores. A set leaves the pipe when that has finished; a wait holds all
  // pipes.
  bool cross_core_set(const Call& call, Pipe pipe, Reach reach, int id);
  bool cross_core_wait(const Call& call, int id);
  // Joins every pipe, then every core of this kind or of both.
  bool sync_all(const Call& call, Reach reach);
  // Synchronisation by words of GM, between two barriers of all pipes: waits for one flag, then
  // gives another. `list` are the bytes it touches; `word` becomes `value`.
  bool poll(const Call& call, const AccessList& list, int wait, int give, int64_t word,
            int32_t value);
  // The same of a barrier: gives first; the word of the core counts its barriers.
  bool poll_all(const Call& call, const AccessList& list, int id, int64_t word);
  // A statement about other cores that the chip does not have.
  bool refuse(const Call& call, const std::string& problem);
  // The program stops itself here.
  bool trap(const Call& call);

  // A wait for another core that this one stands at.
  struct Wait {
    Ref at;
    int id;
    int64_t since;
  };
  // Set while the core cannot go on.
  const std::optional<Wait>& waiting() const { return waiting_; }
  // The last statement it issued.
  Ref last() const { return latest_; }

  int id() const { return place_.index; }
  const CorePlace& place() const { return place_; }
  Context& context() { return context_; }

 private:
  // A wait that no set answers: reported with the next statement that needs it.
  struct Deadlock {
    Hazard hazard;
    Pipe pipe;
  };
  struct Landing {
    uint32_t epoch;
    Call call;
  };

  bool report(std::vector<Hazard>* found);
  bool resolve_deadlock(const Ref& user);
  // Waits for the flags of units of L0C; false: what it waits for does not come before it.
  bool check_units(const Call& call, const std::vector<int64_t>& units);
  void run(Call& call, uint32_t epoch);
  void set_registers(const Call& call);
  void set_mask(const Call& call);
  void print(const Call& call);
  // Late DMA: copies that `known` says are finished land now.
  void land(const Epochs& known);
  // `list`: of an instruction that moves bytes from or to global memory, else null.
  void time(const Call& call, const AccessList* list, const std::vector<int64_t>& units,
            uint32_t epoch);
  void count(const Call& call, const AccessList& list);
  int64_t sync_cycles(const Call& call) const;

  bool signal(const Call& call, Pipe pipe, Reach reach, int id);
  bool check_words(const Call& call, const AccessList& list);
  CrossCore::Signal signal_of(const Call& call, Pipe pipe, int64_t latency);
  bool await(const Call& call, int id);

  Context& context_;
  const CorePlace& place_;
  Memories memories_;
  Checker checker_;
  Clocks clocks_;
  Events events_;
  Scoreboard scoreboard_;
  Registers registers_;
  UnitFlags unit_flags_;
  DataCache cache_;
  std::array<Ref, kPipes> last_;  // last statement on each pipe
  Ref latest_;
  std::optional<Wait> waiting_;
  std::optional<Deadlock> deadlock_;
  std::array<std::deque<Landing>, kPipes> landing_;
  std::map<int64_t, int32_t> words_;  // barriers that this core passed, by its word of GM
  std::vector<Hazard> found_;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_CORE_H_

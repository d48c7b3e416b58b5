// SPDX-License-Identifier: Apache-2.0
// Flags between the pipes of one core.
#ifndef TVM_ASCEND_SIM_EVENTS_H_
#define TVM_ASCEND_SIM_EVENTS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "clocks.h"
#include "context.h"

namespace tvm_ascend::sim {

struct Flag {
  Pipe source;
  Pipe target;
  int64_t id;
};

class Events {
 public:
  Events(Context& context, const CorePlace& place) : context_(context), place_(place) {}

  // Whether the flag is one this core has; else appends a hazard.
  bool check(const Flag& flag, const Ref& at, std::vector<Hazard>* found) const;
  // `known` is what raising the flag tells, `raised` when. A flag still up, or whose last wait may
  // not have happened yet, is a hazard.
  void set(const Flag& flag, const Ref& at, const Epochs& known, int64_t raised,
           std::vector<Hazard>* found);

  struct Raised {
    Epochs known;
    int64_t time;
    int64_t site = -1;  // of the statement that raised it
  };
  // Lowers the flag; nothing when it is not up. `epoch` numbers the wait on the target pipe.
  std::optional<Raised> wait(const Flag& flag, const Ref& at, uint32_t epoch);

  // Flags still up at the end of the program; `last` are the last statements on each pipe.
  void finish(const std::array<Ref, kPipes>& last, std::vector<Hazard>* found) const;

  static std::string name(const Flag& flag);

 private:
  static constexpr int kIds = 32;
  struct State {
    bool up = false;
    Ref set;
    Raised raised{};
    Ref wait;
    uint32_t wait_epoch = 0;
  };

  Hazard hazard(const char* kind, const Flag& flag) const;
  State& state(const Flag& flag) {
    return states_[(static_cast<int>(flag.source) * kPipes + static_cast<int>(flag.target)) * kIds +
                   flag.id];
  }

  Context& context_;
  const CorePlace& place_;
  std::array<State, kPipes * kPipes * kIds> states_{};
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_EVENTS_H_

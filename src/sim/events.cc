// SPDX-License-Identifier: Apache-2.0
#include "events.h"

#include <algorithm>

namespace tvm_ascend::sim {

std::string Events::name(const Flag& flag) {
  return std::string("HardEvent::") + name_of(flag.source) + "_" + name_of(flag.target) + " id " +
         std::to_string(flag.id);
}

Hazard Events::hazard(const char* kind, const Flag& flag) const {
  Hazard hazard;
  hazard.kind = kind;
  hazard.core = place_.index;
  hazard.fix = std::string("SetFlag/WaitFlag<HardEvent::") + name_of(flag.source) + "_" +
               name_of(flag.target) + ">";
  return hazard;
}

bool Events::check(const Flag& flag, const Ref& at, std::vector<Hazard>* found) const {
  const int usable = std::min(context_.program.usable_event_ids, kIds);
  const uint32_t kind = place_.kind->bit;
  std::string problem;
  if (flag.id < 0 || flag.id >= usable) {
    problem =
        flag.id >= 0 && flag.id < context_.program.event_ids ? " is reserved" : " does not exist";
    problem += "; ids 0 to " + std::to_string(usable - 1) + " are free";
  } else if ((cores_of(flag.source) & cores_of(flag.target) & kind) == 0) {
    problem = std::string(" does not exist on ") + place_.kind->name();
  } else {
    return true;
  }
  Hazard hazard = this->hazard("event_id", flag);
  hazard.first = hazard.at = at;
  hazard.fix = "another event id";
  hazard.message = context_.sites.describe(at.site) + ": " + name(flag) + problem;
  found->push_back(std::move(hazard));
  return false;
}

void Events::set(const Flag& flag, const Ref& at, const Epochs& known, int64_t raised,
                 std::vector<Hazard>* found) {
  State& state = this->state(flag);
  const bool waited =
      flag.target == Pipe::S || state.wait_epoch <= known[static_cast<int>(flag.target)];
  if (state.up || !waited) {
    Hazard hazard = this->hazard("set_twice", flag);
    hazard.first = state.up ? state.set : state.wait;
    hazard.second = hazard.at = at;
    const std::string back = std::string(name_of(flag.target)) + "_" + name_of(flag.source);
    hazard.fix = state.up ? "WaitFlag<HardEvent::" + std::string(name_of(flag.source)) + "_" +
                                name_of(flag.target) + ">"
                          : "SetFlag/WaitFlag<HardEvent::" + back + ">";
    hazard.message = context_.sites.describe(at.site) + " raises " + name(flag) + " again while " +
                     context_.sites.describe(hazard.first.site) +
                     (state.up ? " raised it and no WaitFlag lowered it; insert "
                               : " may still be waiting for the last one; insert ") +
                     hazard.fix + (state.up ? " between them" : " between them, or use another id");
    found->push_back(std::move(hazard));
  }
  state.up = true;
  state.set = at;
  state.raised = {known, raised, at.site};
}

std::optional<Events::Raised> Events::wait(const Flag& flag, const Ref& at, uint32_t epoch) {
  State& state = this->state(flag);
  state.wait = at;
  state.wait_epoch = epoch;
  if (!state.up) return std::nullopt;
  state.up = false;
  return state.raised;
}

void Events::finish(const std::array<Ref, kPipes>& last, std::vector<Hazard>* found) const {
  for (size_t i = 0; i < states_.size(); ++i) {
    const State& state = states_[i];
    if (!state.up) continue;
    const auto pair = static_cast<int>(i / kIds);
    const Flag flag{static_cast<Pipe>(pair / kPipes), static_cast<Pipe>(pair % kPipes),
                    static_cast<int64_t>(i % kIds)};
    Hazard hazard = this->hazard("unconsumed_flag", flag);
    hazard.first = hazard.at = state.set;
    const bool waited = state.wait.site >= 0;
    hazard.second = waited ? state.wait : last[static_cast<int>(flag.target)];
    hazard.fix = std::string("WaitFlag<HardEvent::") + name_of(flag.source) + "_" +
                 name_of(flag.target) + ">";
    hazard.message = context_.sites.describe(state.set.site) + " raises " + name(flag) +
                     ", and the kernel ends before a WaitFlag lowers it: the next kernel on this "
                     "core would start with it up";
    if (hazard.second.site >= 0)
      hazard.message += (waited ? "; the last wait was "
                                : std::string("; no wait ever lowered it, and the last statement "
                                              "on pipe ") +
                                      name_of(flag.target) + ", which should have waited, is ") +
                        context_.sites.describe(hazard.second.site);
    found->push_back(std::move(hazard));
  }
}

}  // namespace tvm_ascend::sim

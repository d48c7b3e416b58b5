// SPDX-License-Identifier: Apache-2.0
// What the cores of one launch share.
#ifndef TVM_ASCEND_SIM_CONTEXT_H_
#define TVM_ASCEND_SIM_CONTEXT_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "banks.h"
#include "cross_core.h"
#include "gm.h"
#include "hazard.h"
#include "program.h"
#include "traffic.h"

namespace tvm_ascend::sim {

struct TraceEvent {
  int core;
  Pipe pipe;
  int64_t start;
  int64_t end;
  uint32_t site;
};

struct CoreSummary {
  int id;
  std::string name;
  int64_t cycles;
  std::array<int64_t, kPipes> busy;
  std::array<int64_t, kPipes> in_flight;
};

// What a core printed.
struct Printed {
  int core;
  uint32_t site;
  std::string text;
};

struct Context {
  Context(const Program& program, const Options& options, std::vector<GmArg> args,
          std::function<void()> interrupt)
      : program(program),
        options(options),
        interrupt(std::move(interrupt)),
        banks(program),
        places(program.places()),
        cross_core(program, places),
        gm(std::move(args)),
        sites(program.sites),
        hazards(options),
        traffic(program, gm) {}

  const Program& program;
  const Options& options;
  std::function<void()> interrupt;  // called now and then; throws to end the launch
  Banks banks;
  std::vector<CorePlace> places;  // every core of the launch, by its number
  CrossCore cross_core;
  GlobalMemory gm;
  SiteTable sites;
  HazardLog hazards;
  Traffic traffic;
  std::vector<CoreSummary> cores;
  std::vector<TraceEvent> trace;
  std::vector<Printed> printed;
  std::vector<int64_t> instructions = std::vector<int64_t>(kOpCount);
  std::vector<int64_t> conflicts;  // cycles lost to bank conflicts by site, as long as needed
  std::array<std::array<int64_t, kSpaces>, kSpaces>
      moved{};  // bytes by source and destination space
  // Sites that set a flag and wait for it; a barrier is a pair with itself.
  std::set<std::pair<int64_t, int64_t>> handed;

  std::set<uint32_t> reached;  // those of the watched sites that ran

  void reach(uint32_t site) {
    if (program.watched.count(site) != 0) reached.insert(site);
  }
  // Whether a statement is to do nothing.
  bool leaves_out(uint32_t site) const {
    const std::vector<int>& without = options.without;
    return !without.empty() && std::find(without.begin(), without.end(), site) != without.end();
  }
  void hand(int64_t set, int64_t wait) {
    if (options.redundant && set >= 0) handed.emplace(set, wait);
  }
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_CONTEXT_H_

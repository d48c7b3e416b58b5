// SPDX-License-Identifier: Apache-2.0
// The report of a launch as JSON; its keys are the fields of tvm_ascend.runtime.report.Report.
#include <algorithm>
#include <cmath>

#include "json.h"
#include "launch.h"

namespace tvm_ascend::sim {

namespace {

void write_ref(const Context& context, const Ref& ref, JsonWriter* out) {
  if (ref.site < 0) {
    out->null();
    return;
  }
  const Site& site = context.sites[ref.site];
  out->open('{').key("site").value(ref.site).key("text").value(site.text).key("where").value(
      site.where);
  out->key("pipe").value(std::string(name_of(ref.pipe))).close('}');
}

void write_hazard(const Context& context, const Hazard& hazard, JsonWriter* out) {
  out->open('{').key("kind").value(hazard.kind).key("message").value(hazard.message);
  out->key("core").value(static_cast<int64_t>(hazard.core)).key("space").value(hazard.space);
  out->key("core_name").value(hazard.core < 0 ? "" : context.places[hazard.core].name);
  out->key("bytes").open('[').value(hazard.low).value(hazard.high).close(']');
  out->key("first");
  write_ref(context, hazard.first, out);
  out->key("second");
  write_ref(context, hazard.second, out);
  out->key("at");
  write_ref(context, hazard.at, out);
  out->key("fix").value(hazard.fix).close('}');
}

void write_cores(const Context& context, JsonWriter* out) {
  out->key("cores").open('[');
  for (const CoreSummary& core : context.cores) {
    out->open('{')
        .key("id")
        .value(static_cast<int64_t>(core.id))
        .key("name")
        .value(core.name)
        .key("cycles")
        .value(core.cycles)
        .key("busy")
        .open('{');
    for (int i = 0; i < kPipes; ++i) {
      if (core.busy[i] != 0) out->key(kPipeNames[i]).value(core.busy[i]);
    }
    out->close('}').key("in_flight").open('{');
    for (int i = 0; i < kPipes; ++i) {
      if (core.in_flight[i] != 0) out->key(kPipeNames[i]).value(core.in_flight[i]);
    }
    out->close('}').close('}');
  }
  out->close(']');
}

void write_counts(const Context& context, JsonWriter* out) {
  out->key("bytes").open('{');
  for (int from = 0; from < kSpaces; ++from) {
    for (int to = 0; to < kSpaces; ++to) {
      const int64_t bytes = context.moved[from][to];
      if (bytes != 0)
        out->key(std::string(kSpaceNames[from]) + "_to_" + kSpaceNames[to]).value(bytes);
    }
  }
  out->close('}').key("instructions").open('{');
  for (int op = 0; op < kOpCount; ++op) {
    if (context.instructions[op] != 0) out->key(kOps[op].key).value(context.instructions[op]);
  }
  out->close('}');
}

// Cycles lost to bank conflicts of the unified buffer, by site.
void write_conflicts(const Context& context, JsonWriter* out) {
  out->key("bank_conflicts").open('[');
  for (size_t site = 0; site < context.conflicts.size(); ++site) {
    if (context.conflicts[site] == 0) continue;
    out->open('[').value(static_cast<int64_t>(site)).value(context.conflicts[site]).close(']');
  }
  out->close(']');
}

void write_printed(const Context& context, JsonWriter* out) {
  out->key("printed").open('[');
  for (const Printed& printed : context.printed) {
    out->open('[').value(static_cast<int64_t>(printed.core));
    out->value(context.sites[printed.site].where).value(printed.text).close(']');
  }
  out->close(']');
}

// Pairs of sites that hand each other a flag.
void write_handed(const Context& context, JsonWriter* out) {
  out->key("handed").open('[');
  for (const auto& [set, wait] : context.handed) out->open('[').value(set).value(wait).close(']');
  out->close(']');
}

// The statements that a twin added to the program's own, which `trace` numbers behind them.
void write_added_sites(const Context& context, JsonWriter* out) {
  out->key("added_sites").open('[');
  for (auto i = static_cast<uint32_t>(context.program.sites.size()); i < context.sites.size();
       ++i) {
    const Site& site = context.sites[i];
    out->open('{').key("op").value(std::string(site.op->key)).key("text").value(site.text);
    out->key("where").value(site.where).close('}');
  }
  out->close(']');
}

// Bytes that global memory moved.
void write_traffic(const Context& context, JsonWriter* out) {
  const L2Traffic& total = context.traffic.total();
  out->key("hbm_cycles").value(context.traffic.hbm_cycles());
  out->key("l2").open('{').key("hit_bytes").value(total.hits);
  out->key("miss_bytes").value(total.misses).key("written_bytes").value(total.written);
  out->key("hbm_read_bytes").value(total.hbm_read);
  out->key("hbm_written_bytes").value(total.hbm_written).close('}');
}

}  // namespace

std::string report_json(const Context& context) {
  JsonWriter out;
  const auto start =
      static_cast<int64_t>(std::ceil(context.program.constant(Constant::CORE_START_CYCLES)));
  int64_t slowest = start;
  for (const CoreSummary& core : context.cores) slowest = std::max(slowest, core.cycles);
  const auto launch =
      static_cast<int64_t>(std::ceil(context.program.constant(Constant::LAUNCH_CYCLES)));
  const int64_t cycles = slowest + launch;
  out.open('{').key("cycles").value(cycles);
  out.key("time_us").value(static_cast<double>(cycles) / context.program.clock_hz * 1e6);
  write_traffic(context, &out);
  write_cores(context, &out);
  write_counts(context, &out);
  write_conflicts(context, &out);
  write_printed(context, &out);
  out.key("hazards").open('[');
  for (const Hazard& hazard : context.hazards.all()) write_hazard(context, hazard, &out);
  out.close(']');
  if (context.options.hazards) {
    out.key("reached").open('[');
    for (uint32_t site : context.reached) out.value(static_cast<int64_t>(site));
    out.close(']');
  }
  if (context.options.redundant) write_handed(context, &out);
  if (context.options.trace || context.options.redundant) write_added_sites(context, &out);
  if (context.options.trace) {
    out.key("trace").open('[');
    for (const TraceEvent& event : context.trace) {
      out.open('[').value(static_cast<int64_t>(event.core)).value(std::string(name_of(event.pipe)));
      out.value(event.start).value(event.end).value(static_cast<int64_t>(event.site)).close(']');
    }
    out.close(']');
  }
  return out.close('}').take();
}

}  // namespace tvm_ascend::sim

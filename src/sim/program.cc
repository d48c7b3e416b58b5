// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric.h"

namespace tvm_ascend::sim {

namespace {

template <size_t N>
int index_of(const char* const (&names)[N], const std::string& name, const char* what) {
  for (size_t i = 0; i < N; ++i) {
    if (name == names[i]) return static_cast<int>(i);
  }
  throw InputError(std::string("unknown ") + what + " \"" + name + "\"");
}

// A constant argument word of a parameter.
int64_t constant_word(const Json& value, const ParamInfo& param, DType scalar) {
  if (param.kind == ParamKind::Enum && value.kind() == Json::Kind::String) {
    for (int64_t i = 0; i <= param.high; ++i) {
      if (value.as_string() == param.values[i]) return i;
    }
    throw InputError("\"" + value.as_string() + "\" is no value of " + param.name);
  }
  if (param.kind == ParamKind::Scalar && is_float(scalar))
    return bit_cast<int64_t>(value.as_float());
  return value.as_int();
}

std::string joined(const Json& dtypes) {
  std::string out;
  for (const Json& dtype : dtypes.items()) out += (out.empty() ? "" : ",") + dtype.as_string();
  return out;
}

// No host or chip has more bytes: sums of a few such numbers stay far from overflow.
constexpr int64_t kMostBytes = int64_t{1} << 40;
constexpr int64_t kMostMemory = int64_t{1} << 30;  // one on-chip memory
constexpr double kMostCycles = 1e9;                // of one constant

constexpr int kMostInt = std::numeric_limits<int>::max();

int64_t within(const Json& value, const std::string& name, int64_t low, int64_t high) {
  const int64_t number = value.as_int();
  if (number >= low && number <= high) return number;
  throw InputError(name + " is " + std::to_string(low) + " to " + std::to_string(high) + ", not " +
                   std::to_string(number));
}

int int_within(const Json& value, const std::string& name, int low, int high) {
  return static_cast<int>(within(value, name, low, high));
}

double cycles_of(const Json& value, const std::string& name) {
  const double number = value.as_float();
  if (number >= 0 && number <= kMostCycles) return number;
  throw InputError(name + " is a number from 0 to 1e9, not " + std::to_string(number));
}

using Ranges = std::map<std::string, Range>;

Ranges parse_buffers(const Json& json) {
  Ranges ranges;
  if (json.is_null()) return ranges;
  for (const auto& [name, buffer] : json.fields()) {
    const int64_t low = within(buffer.at("address"), "the address of " + name, 0, kMostBytes);
    ranges[name] = {low, low + within(buffer.at("bytes"), "bytes of " + name, 0, kMostBytes)};
  }
  return ranges;
}

void parse_operands(const Json& json, const Ranges& ranges, Site* site) {
  const OpInfo& op = *site->op;
  const std::vector<Json>& operands = json.at("operands").items();
  if (static_cast<int>(operands.size()) != op.n_operands) {
    throw InputError(std::string("site of ") + op.key + " has " + std::to_string(operands.size()) +
                     " operands, the row " + std::to_string(op.n_operands));
  }
  for (int i = 0; i < op.n_operands; ++i) {
    const std::string& space = operands[i].at("space").as_string();
    site->spaces[i] = static_cast<Space>(index_of(kSpaceNames, space, "space"));
    const Json& buffer = operands[i]["buffer"];
    if (!buffer.is_null()) site->buffers[i] = buffer.as_string();
    if (auto at = ranges.find(site->buffers[i]); at != ranges.end()) site->ranges[i] = at->second;
    if ((op.operands[i].spaces >> static_cast<int>(site->spaces[i]) & 1) == 0) {
      throw InputError(std::string(op.key) + " cannot take operand " + op.operands[i].name +
                       " in " + space);
    }
  }
}

void parse_words(const Json& json, Site* site) {
  const OpInfo& op = *site->op;
  const std::vector<Json>& args = json.at("args").items();
  if (static_cast<int>(args.size()) != op.n_operands + op.n_params) {
    throw InputError(std::string("site of ") + op.key + " has " + std::to_string(args.size()) +
                     " args, the row " + std::to_string(op.n_operands + op.n_params));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const Json& slot = args[i]["d"];
    const int param = static_cast<int>(i) - op.n_operands;
    const bool is_text = param >= 0 && op.params[param].kind == ParamKind::Text;
    if (!slot.is_null()) {
      if (is_text) throw InputError(std::string(op.key) + " takes a constant text");
      site->slots[i] = static_cast<int8_t>(int_within(slot, "a dynamic slot", 0, kMaxDynamic - 1));
      site->dynamic = std::max(site->dynamic, site->slots[i] + 1);
      continue;
    }
    site->slots[i] = -1;
    const Json& value = args[i].at("c");
    if (is_text) {
      site->strings.push_back(std::make_shared<const std::string>(value.as_string()));
      site->words[i] = reinterpret_cast<int64_t>(site->strings.back()->c_str());
      continue;
    }
    site->words[i] =
        param < 0 ? value.as_int() : constant_word(value, op.params[param], site->variant->scalar);
  }
}

Site parse_site(const Json& json, const Ranges& ranges) {
  Site site;
  const std::string& key = json.at("op").as_string();
  const int op = find_op(key);
  if (op < 0) throw InputError("no instruction \"" + key + "\" in the table");
  site.op = &kOps[op];
  const std::string dtypes = joined(json.at("dtypes"));
  const int variant = find_variant(*site.op, dtypes);
  if (variant < 0) throw InputError(key + " does not exist for dtypes (" + dtypes + ")");
  site.variant = &site.op->variants[variant];
  site.text = json["text"].is_null() ? site.op->name : json["text"].as_string();
  if (!json["where"].is_null()) site.where = json["where"].as_string();
  parse_operands(json, ranges, &site);
  parse_words(json, &site);
  return site;
}

Constants parse_constants(const Json& json) {
  Constants constants;
  constants.fill(std::nan(""));
  for (int i = 0; i < kConstants; ++i) {
    const Json& value = json[kConstantNames[i]];
    if (!value.is_null()) constants[i] = cycles_of(value, kConstantNames[i]);
  }
  return constants;
}

int parse_grid(int64_t grid, const Program& program) {
  const int most = Program::kMaxCores / program.cores_per_block();
  if (grid >= 1 && grid <= most) return static_cast<int>(grid);
  throw InputError("a launch needs 1 to " + std::to_string(most) + " blocks, not " +
                   std::to_string(grid));
}

// "constants" are those of the launch and of its only kind of core; a mixed kernel's Vector cores
// have their own in "aiv_constants".
void parse_kinds(const Json& json, Program* program) {
  static constexpr const char* kCoreTypes[] = {"AIC", "AIV", "MIX"};
  const std::string& type = json.at("core_type").as_string();
  const int index = index_of(kCoreTypes, type, "core type");
  const bool mixed = index == 2;
  program->kernel_type = json["kernel_type"].is_null() ? type + (mixed ? "_AIC_1_2" : "_ONLY")
                                                       : json["kernel_type"].as_string();
  auto add = [&](uint32_t bit, const char* constants) {
    CoreKind kind{bit, std::numeric_limits<int>::max(), parse_constants(json.at(constants))};
    const Json& physical = json["cores"];
    if (!physical.is_null())
      kind.physical = int_within(physical.at(kind.name()), "cores of a kind", 0, kMostInt);
    program->kinds.push_back(kind);
  };
  add(mixed ? 1U : 1U << index, "constants");
  if (mixed) add(2U, "aiv_constants");
}

void parse_timing(const Json& json, Program* program) {
  const Json& rates = json.at("vector_timing");
  for (int i = 0; i < kTimings; ++i) {
    const Json& rate = rates[kTimingNames[i]];
    VectorRate& into = program->rates[i];
    if (rate.is_null()) {
      into.head = std::nan("");
      continue;
    }
    auto cycles = [&](const char* name) { return cycles_of(rate.at(name), name); };
    into.head = cycles("head");
    into.tail = cycles("tail");
    into.cycles = {cycles("b8"), cycles("b16"), cycles("b32")};
  }
}

BankLayout parse_banks(const Json& json) {
  auto upto = [&](const char* name, int64_t most) {
    return within(json.at(name), std::string(name) + " of ub_banks", 1, most);
  };
  return {upto("groups", 16), upto("bank_bytes", 1 << 20), upto("write_depth", 64)};
}

void require_constant(const Program& program, Constant name) {
  for (const CoreKind& kind : program.kinds) {
    if (!std::isnan(kind.constant(name))) continue;
    throw InputError(std::string("the program has no constant ") +
                     kConstantNames[static_cast<int>(name)]);
  }
}

}  // namespace

void Program::require_timing(const OpInfo& op) const {
  for (int i = 0; i < op.n_constants; ++i) require_constant(*this, op.constants[i]);
  if (op.timing >= 0 && std::isnan(rates[op.timing].head)) {
    throw InputError(std::string("the program has no vector timing ") + kTimingNames[op.timing]);
  }
}

std::vector<CorePlace> Program::places() const {
  std::vector<CorePlace> places;
  auto add = [&](const CoreKind& kind, int block, int sub, int block_idx) {
    const auto index = static_cast<int>(places.size());
    const std::string name =
        mixed() ? kind.name() + (" " + std::to_string(block_idx)) : "core " + std::to_string(index);
    places.push_back({index, &kind, block, sub, block_idx, name});
  };
  for (int block = 0; block < grid; ++block) {
    add(kinds.front(), block, 0, block);
    for (int sub = 0; mixed() && sub < vector_cores; ++sub)
      add(kinds.back(), block, sub, block * vector_cores + sub);
  }
  return places;
}

Program Program::parse(const std::string& text) {
  const Json json = Json::parse(text);
  Program program;
  program.kernel = json.at("kernel").as_string();
  parse_kinds(json, &program);
  const Json& vector_cores = json["vector_cores"];
  if (!vector_cores.is_null())
    program.vector_cores = int_within(vector_cores, "vector_cores", 1, Program::kMaxCores);
  program.grid = parse_grid(json.at("grid").as_int(), program);
  for (const auto& [space, bytes] : json.at("spaces").fields()) {
    program.space_bytes[index_of(kSpaceNames, space, "space")] =
        within(bytes, "bytes of " + space, 0, kMostMemory);
  }
  program.space_bytes[static_cast<int>(Space::GM)] = 0;
  parse_timing(json, &program);
  for (Constant name :
       {Constant::QUEUE_DEPTH, Constant::SCALAR_ISSUE, Constant::COUNT_FORM_ISSUE,
        Constant::CORE_START_CYCLES, Constant::LAUNCH_CYCLES, Constant::HBM_BYTES_PER_CYCLE,
        Constant::L2_BYTES, Constant::L2_DIRTY_SHARE, Constant::L2_WARM_BYTES,
        Constant::GM_PACKET_CYCLES, Constant::HBM_PACKET_BYTES, Constant::L2_BYTES_PER_CYCLE,
        Constant::GM_MISS_BYTES_PER_CYCLE, Constant::MMAD_BARRIER_FRACTALS,
        Constant::CROSS_CORE_LATENCY}) {
    require_constant(program, name);
  }
  program.ub_banks = parse_banks(json.at("ub_banks"));
  program.clock_hz = json.at("clock_hz").as_float();
  program.event_ids = int_within(json.at("event_ids"), "event_ids", 0, 32);
  const Json& usable = json["usable_event_ids"];
  program.usable_event_ids = usable.is_null()
                                 ? program.event_ids
                                 : int_within(usable, "usable_event_ids", 0, program.event_ids);
  auto count = [&](const char* name, int* into) {
    if (!json[name].is_null()) *into = int_within(json[name], name, 0, kMostInt);
  };
  count("cross_core_ids", &program.cross_core_ids);
  count("usable_cross_core_ids", &program.usable_cross_core_ids);
  count("cross_core_depth", &program.cross_core_depth);
  for (const Json& param : json.at("params").items()) {
    program.params.push_back(
        {param.at("name").as_string(),
         static_cast<DType>(index_of(kDTypeNames, param.at("dtype").as_string(), "dtype")),
         param.at("kind").as_string() == "tensor"});
  }
  const Ranges ranges = parse_buffers(json["buffers"]);
  for (const Json& site : json.at("sites").items()) {
    program.sites.push_back(parse_site(site, ranges));
    program.require_timing(*program.sites.back().op);
  }
  if (const Json& untaken = json["untaken"]; !untaken.is_null()) {
    for (const Json& row : untaken.items()) {
      for (const Json& site : row.at("sites").items())
        program.watched.insert(
            static_cast<uint32_t>(int_within(site, "a site of a way", 0, kMostInt)));
    }
  }
  return program;
}

Options Options::parse(const std::string& text) {
  const Json json = Json::parse(text);
  Options options;
  auto flag = [&](const char* name, bool* into) {
    if (!json[name].is_null()) *into = json[name].as_bool();
  };
  flag("numerics", &options.numerics);
  flag("hazards", &options.hazards);
  flag("trace", &options.trace);
  flag("strict", &options.strict);
  flag("redundant", &options.redundant);
  if (const Json& turns = json["turns"]; !turns.is_null()) {
    if (turns.as_string() != "time" && turns.as_string() != "number")
      throw InputError("turns is \"time\" or \"number\"");
    options.by_number = turns.as_string() == "number";
  }
  if (const Json& dma = json["dma"]; !dma.is_null()) {
    if (dma.as_string() != "eager" && dma.as_string() != "late")
      throw InputError("dma is \"eager\" or \"late\"");
    options.late_dma = dma.as_string() == "late";
  }
  auto number = [&](const char* name, std::optional<int>* into) {
    if (!json[name].is_null()) *into = int_within(json[name], name, 0, kMostInt);
  };
  number("block", &options.block);
  number("core", &options.core);
  if (options.block && options.core) throw InputError("give a block or a core, not both");
  if (const Json& most = json["max_hazards"]; !most.is_null())
    options.max_hazards = int_within(most, "max_hazards", 0, kMostInt);
  auto numbers = [&](const char* name, const char* what, std::vector<int>* into) {
    if (json[name].is_null()) return;
    for (const Json& number : json[name].items())
      into->push_back(int_within(number, what, 0, kMostInt));
  };
  // What the cores left out would have written is not missing.
  if (options.every_core()) numbers("fresh", "a fresh parameter", &options.fresh);
  numbers("without", "a site to leave out", &options.without);
  return options;
}

}  // namespace tvm_ascend::sim

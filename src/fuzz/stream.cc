// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../sim/json.h"

namespace tvm_ascend::fuzz {

namespace {

using namespace tvm_ascend::sim;  // NOLINT: this file only feeds it

constexpr int64_t kChipBytes[kSpaces] = {0, 196608, 524288, 65536, 65536, 131072, 1024, 7168};
constexpr uint32_t kBoth = 3;
constexpr const char* kCoreTypes[] = {"AIC", "AIV", "MIX"};  // by the bits of their cores
constexpr const char* kWithFlags[] = {
    R"(,"kernel_type":"MIX_AIC_1_0","cores":{"AIC":24,"AIV":48})",
    R"(,"kernel_type":"MIX_AIV_1_0","cores":{"AIC":24,"AIV":48})",
    R"(,"kernel_type":"MIX_AIC_1_2","cores":{"AIC":24,"AIV":48})"};
constexpr int kMostSites = 24;
constexpr int kMostCalls = 60;
constexpr int64_t kMostSmall = 40;

std::string number(int64_t value) { return std::to_string(value); }

std::string quoted(const std::string& text) { return JsonWriter().value(text).take(); }

std::string listed(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) out += (out.size() > 1 ? "," : "") + item;
  return out + "]";
}

}  // namespace

std::vector<GmArg> Stream::args() {
  std::vector<GmArg> out;
  for (std::vector<uint8_t>& tensor : tensors) {
    const auto bytes = static_cast<int64_t>(tensor.size());
    const auto base = static_cast<int64_t>(reinterpret_cast<uintptr_t>(tensor.data()));
    out.push_back({"t" + number(static_cast<int64_t>(out.size())), base, bytes, {bytes / 4}});
  }
  return out;
}

int64_t Generator::any_word() {
  static constexpr int64_t kEdges[] = {0,
                                       1,
                                       -1,
                                       std::numeric_limits<int64_t>::min(),
                                       std::numeric_limits<int64_t>::max(),
                                       std::numeric_limits<int32_t>::min(),
                                       std::numeric_limits<int32_t>::max(),
                                       int64_t{1} << 32};
  if (chance(0.5)) return kEdges[below(std::size(kEdges))];
  return static_cast<int64_t>(random_()) >> below(64);
}

int64_t Generator::address(Space space) {
  if (bad()) return any_word();
  if (space == Space::GM) {
    std::vector<uint8_t>& tensor = tensors_[below(static_cast<int64_t>(tensors_.size()))];
    const int64_t at = bad() ? below(8192) - 2048 : below(32) * 64;
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(tensor.data())) + at;
  }
  const int64_t step = bad() ? 1 : 512;
  return below(std::max<int64_t>(1, bytes_[static_cast<int>(space)] / step)) * step;
}

int64_t Generator::integer(const ParamInfo& param) {
  if (bad()) {
    const int64_t near[] = {param.low, param.high, any_word(), below(300) - 20};
    const int64_t word = near[below(4)];
    return chance(0.3) ? static_cast<int64_t>(static_cast<uint64_t>(word) + random_() % 3 - 1)
                       : word;
  }
  if (param.low == std::numeric_limits<int64_t>::min()) return static_cast<int64_t>(random_());
  const int64_t most = param.high - param.low < kMostSmall ? param.high : param.low + kMostSmall;
  return param.low + below(most - param.low + 1);
}

std::string Generator::text() {
  static constexpr const char* kPieces[] = {"%d", "%s", "%f", "%",  "%x", "%n",   "abc",
                                            "%%", "%u", "%p", "\n", "%c", "%ld ", "%-5.3d"};
  std::string out;
  for (int64_t i = below(5); i > 0; --i) out += kPieces[below(std::size(kPieces))];
  return out;
}

Space Generator::space(const OperandInfo& operand) {
  std::vector<Space> legal;
  for (int i = 0; i < kSpaces; ++i) {
    const bool here = (cores_of(static_cast<Space>(i)) & core_bits_) != 0;
    if ((operand.spaces >> i & 1) != 0 && (here || unfit(0.1)))
      legal.push_back(static_cast<Space>(i));
  }
  if (legal.empty() || unfit(0.01)) return static_cast<Space>(below(kSpaces));
  return legal[below(static_cast<int64_t>(legal.size()))];
}

std::string Generator::word(const Site& site, int index, bool constant) {
  const OpInfo& op = *site.op;
  if (index < op.n_operands) return number(address(site.spaces[index]));
  const ParamInfo& param = op.params[index - op.n_operands];
  switch (param.kind) {
    case ParamKind::Text:
      return constant ? quoted(text()) : number(any_word());
    case ParamKind::Scalar:
      if (!constant) return number(any_word());
      return is_float(site.variant->scalar) ? (chance(0.5) ? "1.5" : "-0.0") : number(any_word());
    case ParamKind::Enum:
      if (constant && chance(0.5)) return quoted(param.values[below(param.high + 1)]);
      return number(integer(param));
    case ParamKind::Integer:
      return number(integer(param));
  }
  return "0";
}

std::string Generator::site() {
  const OpInfo* op = nullptr;
  do {
    op = &kOps[below(kOpCount)];
  } while ((op->cores & core_bits_) == 0 && !unfit(0.2));
  Site site{op, {}, &op->variants[below(op->n_variants)], {}};
  std::vector<std::string> operands, args;
  for (int i = 0; i < op->n_operands; ++i) {
    site.spaces[i] = space(op->operands[i]);
    operands.push_back("{\"space\":" + quoted(name_of(site.spaces[i])) +
                       (chance(0.3) ? ",\"buffer\":\"b" + number(below(3)) + "\"}" : "}"));
  }
  for (int i = 0; i < op->n_operands + op->n_params; ++i) {
    const bool is_text =
        i >= op->n_operands && op->params[i - op->n_operands].kind == ParamKind::Text;
    const bool may_vary = static_cast<int>(site.dynamic.size()) < kMaxDynamic && !is_text;
    if ((may_vary && chance(0.2)) || unfit(0.01)) {
      args.push_back("{\"d\":" + number(static_cast<int64_t>(site.dynamic.size())) + "}");
      site.dynamic.push_back(i);
    } else {
      args.push_back("{\"c\":" + word(site, i, true) + "}");
    }
  }
  if (unfit(0.01) && !args.empty()) args.pop_back();
  std::vector<std::string> dtypes;
  for (std::string rest = site.variant->dtypes; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    dtypes.push_back(quoted(rest.substr(0, comma)));
    rest.erase(0, comma + 1);
  }
  sites_.push_back(site);
  return "{\"op\":" + quoted(op->key) + ",\"dtypes\":" + listed(dtypes) +
         ",\"operands\":" + listed(operands) + ",\"args\":" + listed(args) + "}";
}

std::string Generator::program() {
  const bool small = chance(0.5);
  std::string spaces, constants, rates, buffers;
  for (int i = 1; i < kSpaces; ++i) {
    bytes_[i] = small ? std::min<int64_t>(kChipBytes[i], 512 << below(6)) : kChipBytes[i];
    const int64_t bytes = unfit(0.02) ? any_word() : bytes_[i];
    spaces += (i > 1 ? "," : "") + quoted(kSpaceNames[i]) + ":" + number(bytes);
  }
  for (const char* name : kConstantNames) {
    const bool share = std::string(name) == "L2_DIRTY_SHARE";
    const int64_t value = unfit(0.01) ? any_word() : share ? below(2) : 1 + below(40);
    constants += (constants.empty() ? "" : ",") + quoted(name) + ":" + number(value);
  }
  for (const char* name : kTimingNames) {
    rates += (rates.empty() ? "" : ",") + quoted(name) +
             ":{\"head\":10,\"tail\":14,\"b8\":1,\"b16\":1,\"b32\":2}";
  }
  for (int i = 0; i < 3; ++i) {
    const int64_t at = unfit(0.1) ? any_word() : below(8) * 512;
    buffers += (i > 0 ? "," : "") + ("\"b" + number(i)) + "\":{\"address\":" + number(at) +
               ",\"bytes\":" + number(unfit(0.1) ? any_word() : 4096) + "}";
  }
  std::vector<std::string> sites, params;
  for (int64_t i = 1 + below(kMostSites); i > 0; --i) sites.push_back(site());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    params.push_back("{\"name\":\"t" + number(static_cast<int64_t>(i)) +
                     R"(","dtype":"float32","kind":"tensor"})");
  }
  return std::string(R"({"kernel":"fuzz","core_type":)") + quoted(kCoreTypes[core_bits_ - 1]) +
         (chance(0.7) ? kWithFlags[core_bits_ - 1] : "") +
         ",\"grid\":" + number(unfit(0.05) ? any_word() : grid_) + ",\"spaces\":{" + spaces +
         "},\"constants\":{" + constants + "},\"aiv_constants\":{" + constants +
         "},\"vector_timing\":{" + rates +
         R"(},"ub_banks":{"groups":16,"bank_bytes":4096,"write_depth":16},"clock_hz":1e9,)" +
         R"("event_ids":8,"usable_event_ids":)" + number(unfit(0.01) ? any_word() : 6) +
         ",\"buffers\":{" + (chance(0.5) ? buffers : "") + "},\"params\":" + listed(params) +
         ",\"sites\":" + listed(sites) + "}";
}

std::string Generator::calls() {
  std::vector<std::string> cores;
  for (int block = 0; block < grid_; ++block) {
    if (core_bits_ != kBoth) {
      cores.push_back(call_list(core_bits_));
      continue;
    }
    for (uint32_t bit : {1, 2, 2}) cores.push_back(call_list(bit));
  }
  return listed(cores);
}

std::string Generator::call_list(uint32_t core_bit) {
  std::vector<std::string> list;
  for (int64_t i = below(kMostCalls); i > 0; --i) {
    const int64_t index = below(static_cast<int64_t>(sites_.size()));
    if ((sites_[index].op->cores & core_bit) == 0 && !bad()) continue;
    std::vector<std::string> call{number(unfit(0.01) ? any_word() : index)};
    for (int argument : sites_[index].dynamic) call.push_back(word(sites_[index], argument, false));
    if (unfit(0.01)) call.pop_back();
    list.push_back(listed(call));
  }
  return listed(list);
}

std::string Generator::options() {
  auto truth = [&](double p) { return chance(p) ? "true" : "false"; };
  std::string out = std::string("{\"strict\":") + truth(0.1) + ",\"numerics\":" + truth(0.8) +
                    ",\"hazards\":" + truth(0.8) + ",\"trace\":" + truth(0.3) +
                    ",\"dma\":" + (chance(0.3) ? "\"late\"" : "\"eager\"") +
                    ",\"max_hazards\":" + number(unfit(0.3) ? any_word() : 1000);
  for (const char* name : {"block", "core"}) {
    if (chance(0.1)) out += ",\"" + std::string(name) + "\":" + number(unfit(0.3) ? any_word() : 0);
  }
  if (chance(0.3)) out += ",\"fresh\":[" + number(below(3)) + "]";
  return out + "}";
}

void Generator::damage(std::string* text) {
  static constexpr const char* kPieces[] = {
      "{",  "}", "[",     "]",    ",",    ":",     "\"",
      "\\", "-", "1e999", "null", "true", "\\u00", "99999999999999999999"};
  for (int64_t i = 1 + below(4); i > 0 && !text->empty(); --i) {
    const auto at = static_cast<size_t>(below(static_cast<int64_t>(text->size())));
    if (chance(0.3)) {
      (*text)[at] = static_cast<char>(below(256));
    } else if (chance(0.5)) {
      text->erase(at, static_cast<size_t>(1 + below(20)));
    } else {
      text->insert(at, kPieces[below(std::size(kPieces))]);
    }
  }
  if (chance(0.02)) *text = std::string(200000, '[') + *text;
}

Stream Generator::stream() {
  static constexpr double kWrong[] = {0, 0, 0.02, 0.3};
  wrong_ = kWrong[below(std::size(kWrong))];
  broken_ = chance(0.2);
  core_bits_ = static_cast<uint32_t>(1 + below(kBoth));
  grid_ = static_cast<int>(1 + below(3));
  for (int i = 0; i < 2; ++i) {
    tensors_.emplace_back(static_cast<size_t>(64 << below(9)));
    for (uint8_t& byte : tensors_.back()) byte = static_cast<uint8_t>(random_());
  }
  Stream out;
  out.program = program();
  out.calls = calls();
  out.options = options();
  if (chance(0.1)) damage(chance(0.6) ? &out.program : chance(0.5) ? &out.calls : &out.options);
  out.tensors = std::move(tensors_);
  return out;
}

}  // namespace tvm_ascend::fuzz

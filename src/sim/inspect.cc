// SPDX-License-Identifier: Apache-2.0
#include "inspect.h"

#include "core.h"
#include "launch.h"
#include "numeric.h"

namespace tvm_ascend::sim {

namespace {

constexpr const char* kAccessNames[] = {"read", "copy", "write", "undefined"};

void write_call(Context& context, const Call& call, JsonWriter* out) {
  const Timing timing = timing_of(context.program, context.program.kinds.front(), call);
  AccessList list;
  list_accesses(call, list);
  if (const Body* body = call.op->body; body != nullptr && body->data_access != nullptr)
    body->data_access(call, nullptr, list);
  out->open('{')
      .key("cycles")
      .value(timing.cycles)
      .key("head")
      .value(timing.head)
      .key("latency")
      .value(timing.latency);
  out->key("scalar")
      .value(timing.scalar)
      .key("conflicts")
      .value(context.banks.lost(call))
      .key("fault")
      .value(list.fault())
      .key("accesses")
      .open('[');
  for (const Access& access : list) {
    out->open('[').value(static_cast<int64_t>(access.operand));
    out->value(std::string(kAccessNames[static_cast<int>(access.kind)]));
    out->value(access.start).value(access.end()).value(access.total()).close(']');
  }
  out->close(']').close('}');
}

}  // namespace

CallList parse_calls(const Json& json) {
  CallList calls;
  for (const Json& item : json.items()) {
    ListedCall call{};
    const std::vector<Json>& words = item.items();
    if (words.empty()) throw InputError("a listed call starts with its site");
    call.site = static_cast<uint32_t>(words[0].as_int());
    for (size_t i = 1; i < words.size(); ++i) {
      const bool real = words[i].kind() == Json::Kind::Float;
      call.words.push_back(real ? bit_cast<int64_t>(words[i].as_float()) : words[i].as_int());
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

void issue_list(const CallList& calls, std::vector<int64_t>* results) {
  for (const ListedCall& call : calls) {
    const int64_t result =
        issue_site(call.site, call.words.data(), static_cast<int>(call.words.size()));
    const OpInfo& op = *current_core()->context().sites[call.site].op;
    if (op.pipe == Pipe::S && op.n_operands == 1 && op.operands[0].read && op.body != nullptr &&
        op.body->run != nullptr)
      results->push_back(result);
  }
}

std::string inspect(const std::string& program_json, const std::string& calls_json) {
  const Program program = Program::parse(program_json);
  const Options options;
  Context context(program, options, {}, [] {});
  const Core core(context, context.places.front());
  JsonWriter out;
  out.open('[');
  for (const ListedCall& call : parse_calls(Json::parse(calls_json))) {
    write_call(context,
               core.decode(call.site, call.words.data(), static_cast<int>(call.words.size())),
               &out);
  }
  return out.close(']').take();
}

}  // namespace tvm_ascend::sim

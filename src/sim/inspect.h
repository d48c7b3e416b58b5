// SPDX-License-Identifier: Apache-2.0
// Running and looking at flat lists of instructions, without a control program.
#ifndef TVM_ASCEND_SIM_INSPECT_H_
#define TVM_ASCEND_SIM_INSPECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "json.h"

namespace tvm_ascend::sim {

// A site with its dynamic arguments.
struct ListedCall {
  uint32_t site;
  std::vector<int64_t> words;
};
using CallList = std::vector<ListedCall>;

// From [[site, word...]...]; a float word stands for its bits.
CallList parse_calls(const Json& json);

// Issues the list on the current core; results of get_value sites are appended.
void issue_list(const CallList& calls, std::vector<int64_t>* results);

// For every call: {"cycles", "head", "latency", "scalar", "conflicts", "accesses": [[operand, kind,
// start, end, bytes]...]}.
std::string inspect(const std::string& program_json, const std::string& calls_json);

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_INSPECT_H_

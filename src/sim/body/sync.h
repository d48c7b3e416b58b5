// SPDX-License-Identifier: Apache-2.0
// Reading the enum arguments of the rows that order pipes.
#ifndef TVM_ASCEND_SIM_BODY_SYNC_H_
#define TVM_ASCEND_SIM_BODY_SYNC_H_

#include <string_view>
#include <vector>

#include "../core.h"

namespace tvm_ascend::sim {

// The pipe of that name; kPipes when there is none.
inline int pipe_index(std::string_view name) {
  int i = 0;
  while (i < kPipes && name != kPipeNames[i]) ++i;
  return i;
}

// Flag of a call whose parameters are an event named SRC_DST and an id.
inline Flag flag_of(const Call& call) {
  static const std::vector<Flag> events = [&] {
    std::vector<Flag> out;
    for (int64_t i = 0; i <= call.op->params[0].high; ++i) {
      const std::string_view event = call.op->params[0].values[i];
      const size_t middle = event.find('_');
      out.push_back({static_cast<Pipe>(pipe_index(event.substr(0, middle))),
                     static_cast<Pipe>(pipe_index(event.substr(middle + 1))), 0});
    }
    return out;
  }();
  Flag flag = events[call.params[0]];
  flag.id = call.params[1];
  return flag;
}

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_BODY_SYNC_H_

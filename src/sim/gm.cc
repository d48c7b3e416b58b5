// SPDX-License-Identifier: Apache-2.0
#include "gm.h"

#include <algorithm>
#include <numeric>

namespace tvm_ascend::sim {

GlobalMemory::GlobalMemory(std::vector<GmArg> args) : args_(std::move(args)) {
  std::vector<size_t> order(args_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [this](size_t a, size_t b) { return args_[a].base < args_[b].base; });
  for (size_t i = 0; i < order.size();) {
    const int64_t base = args_[order[i]].base;
    int64_t end = base;
    do {
      args_[order[i]].region = static_cast<int>(regions_.size());
      end = std::max(end, args_[order[i]].end());
      ++i;
    } while (i < order.size() && args_[order[i]].base < end);
    regions_.push_back({base, Shadow(end - base)});
  }
  for (const GmArg& arg : args_) unwritten_.emplace_back(arg.fresh ? arg.bytes : 0);
}

const GmArg* GlobalMemory::find(const std::string& name, int64_t address) const {
  const GmArg* holder = nullptr;
  for (const GmArg& arg : args_) {
    if (!name.empty() && arg.name == name) return &arg;
    if (address >= arg.base && address < arg.end()) holder = &arg;
  }
  return holder;
}

}  // namespace tvm_ascend::sim

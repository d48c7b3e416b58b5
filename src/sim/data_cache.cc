// SPDX-License-Identifier: Apache-2.0
#include "data_cache.h"

#include <algorithm>

namespace tvm_ascend::sim {

namespace {

constexpr const char* kFix = "DataCacheCleanAndInvalid";

// Calls visit(line, mask of its bytes) for every cache line of [low, high).
template <typename Visit>
void each_line(int64_t low, int64_t high, int64_t line_bytes, Visit visit) {
  for (int64_t line = low / line_bytes; line * line_bytes < high; ++line) {
    const int64_t first = std::max<int64_t>(0, low - line * line_bytes);
    const int64_t last = std::min(line_bytes, high - line * line_bytes);
    visit(line, (~0ULL << first) & (~0ULL >> (line_bytes - last)));
  }
}

}  // namespace

void DataCache::add(const Call& call, int64_t earlier, Pipe pipe, int64_t address, const char* what,
                    std::vector<Hazard>* found) const {
  if (!found->empty()) return;
  Hazard hazard;
  hazard.kind = "cache";
  hazard.core = core_;
  hazard.space = "gm";
  const GmArg* arg = context_.gm.find("", address);
  hazard.low = arg == nullptr ? 0 : address - arg->base;
  hazard.high = hazard.low + 1;
  hazard.first = {earlier, pipe};
  hazard.second = {call.site, call.op->pipe};
  hazard.fix = kFix;
  hazard.message = context_.sites.describe(call.site) + what + context_.sites.describe(earlier) +
                   "; insert " + kFix + " between them";
  found->push_back(std::move(hazard));
}

void DataCache::scalar(const Call& call, int64_t low, int64_t high, bool writes,
                       std::vector<Hazard>* found) {
  each_line(low, high, kLineBytes, [&](int64_t index, uint64_t mask) {
    Line& line = lines_[index];
    if (writes) {
      line.stored |= mask;
      line.stale &= ~mask;
      line.store_site = call.site;
    } else if ((line.stale & mask) != 0) {
      add(call, line.copy_site, context_.sites[line.copy_site].op->pipe,
          index * kLineBytes + __builtin_ctzll(line.stale & mask),
          " reads a byte from the data cache that has since been changed in GM by ", found);
    }
  });
}

void DataCache::copy(const Call& call, int64_t low, int64_t high, bool writes,
                     std::vector<Hazard>* found) {
  each_line(low, high, kLineBytes, [&](int64_t index, uint64_t mask) {
    const auto at = lines_.find(index);
    if (at == lines_.end()) return;
    Line& line = at->second;
    if ((line.stored & mask) != 0) {
      add(call, line.store_site, Pipe::S, index * kLineBytes + __builtin_ctzll(line.stored & mask),
          writes ? " writes a byte of GM whose value is still in the data cache, stored by "
                 : " reads a byte of GM whose value is still in the data cache, stored by ",
          found);
    }
    if (!writes) return;
    line.stale |= mask;
    line.copy_site = call.site;
  });
}

void DataCache::check(const Call& call, const AccessList& list, std::vector<Hazard>* found) {
  const bool scalar_unit = call.op->pipe == Pipe::S;
  if (!scalar_unit && lines_.empty()) return;
  for (const Access& access : list) {
    if (call.spaces[access.operand] != Space::GM) continue;
    for (int64_t o = 0; o < access.outer; ++o) {
      for (int64_t i = 0; i < access.inner; ++i) {
        const int64_t low = call.operands[access.operand] + access.start + o * access.outer_stride +
                            i * access.inner_stride;
        if (scalar_unit) {
          scalar(call, low, low + access.bytes, access.writes(), found);
        } else {
          copy(call, low, low + access.bytes, access.writes(), found);
        }
      }
    }
  }
}

void DataCache::clean(int64_t address) {
  if (address == 0) {
    lines_.clear();
  } else {
    lines_.erase(address / kLineBytes);
  }
}

void DataCache::finish(std::vector<Hazard>* found) const {
  for (const auto& [index, line] : lines_) {
    if (line.stored == 0 || !found->empty()) continue;
    Hazard hazard;
    hazard.kind = "cache";
    hazard.core = core_;
    hazard.space = "gm";
    hazard.first = {line.store_site, Pipe::S};
    hazard.fix = kFix;
    hazard.message = context_.sites.describe(line.store_site) +
                     " stores to GM, and the program ends before its value has left the data "
                     "cache; insert " +
                     kFix + " after it";
    found->push_back(std::move(hazard));
  }
}

}  // namespace tvm_ascend::sim

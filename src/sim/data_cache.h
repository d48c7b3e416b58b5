// SPDX-License-Identifier: Apache-2.0
// The data cache of one scalar unit: stores to GM stay in it and loads come from it until it is
// cleaned; copies go past it [doc: ASCEND 4.4, 6.7]. Only who is out of date is modelled: data is
// always the newest.
#ifndef TVM_ASCEND_SIM_DATA_CACHE_H_
#define TVM_ASCEND_SIM_DATA_CACHE_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "access.h"
#include "context.h"

namespace tvm_ascend::sim {

class DataCache {
 public:
  DataCache(const Context& context, int core) : context_(context), core_(core) {}

  // An instruction of the scalar unit or a copy; appends at most one hazard.
  void check(const Call& call, const AccessList& list, std::vector<Hazard>* found);
  // Forgets the line of an address, or with 0 all of them.
  void clean(int64_t address);
  // The end of the program: what never reached GM.
  void finish(std::vector<Hazard>* found) const;

 private:
  static constexpr int64_t kLineBytes = 64;
  struct Line {
    uint64_t stored = 0;  // bit per byte: stored here and not in GM
    uint64_t stale = 0;   // changed in GM since it was loaded
    int64_t store_site = -1;
    int64_t copy_site = -1;
  };

  void scalar(const Call& call, int64_t low, int64_t high, bool writes, std::vector<Hazard>* found);
  void copy(const Call& call, int64_t low, int64_t high, bool writes, std::vector<Hazard>* found);
  void add(const Call& call, int64_t earlier, Pipe pipe, int64_t address, const char* what,
           std::vector<Hazard>* found) const;

  const Context& context_;
  int core_;
  std::unordered_map<int64_t, Line> lines_;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_DATA_CACHE_H_

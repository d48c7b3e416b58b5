// SPDX-License-Identifier: Apache-2.0
// What can be wrong with a kernel, and the list of what was found.
#ifndef TVM_ASCEND_SIM_HAZARD_H_
#define TVM_ASCEND_SIM_HAZARD_H_

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "program.h"

namespace tvm_ascend::sim {

struct Ref {
  int64_t site = -1;  // -1: no statement
  Pipe pipe = Pipe::S;
};

struct Hazard {
  std::string kind;
  std::string message;
  int core = 0;
  std::string space;  // empty: no memory is involved
  int64_t low = 0;    // bytes, relative to the space, or in GM to the argument
  int64_t high = 0;
  Ref first;
  Ref second;
  Ref at;  // the flag or barrier statement itself
  std::string fix;
};

// The sites of a program, and those that a twin adds as it runs.
class SiteTable {
 public:
  explicit SiteTable(const std::vector<Site>& fixed) : sites_(fixed.begin(), fixed.end()) {}

  const Site& operator[](int64_t index) const { return sites_[static_cast<size_t>(index)]; }
  uint32_t size() const { return static_cast<uint32_t>(sites_.size()); }
  // The site of a twin's statement: same row, dtypes, spaces and place in the source.
  uint32_t intern(const OpInfo& op, const Variant& variant, const uint8_t* spaces,
                  const char* where);
  // "`text` (file:line)".
  std::string describe(int64_t index) const;

 private:
  std::deque<Site> sites_;
  std::unordered_map<std::string, uint32_t> known_;
};

class HazardLog {
 public:
  explicit HazardLog(const Options& options) : options_(options) {}

  // Whether the core may go on.
  bool add(Hazard hazard);
  const std::vector<Hazard>& all() const { return all_; }

 private:
  const Options& options_;
  std::vector<Hazard> all_;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_HAZARD_H_

// SPDX-License-Identifier: Apache-2.0
// Global memory: the host buffers of one launch, with their bounds and who touched them.
#ifndef TVM_ASCEND_SIM_GM_H_
#define TVM_ASCEND_SIM_GM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "memory.h"
#include "shadow.h"

namespace tvm_ascend::sim {

struct GmArg {
  std::string name;
  int64_t base;
  int64_t bytes;
  std::vector<int64_t> shape;
  bool fresh = false;  // allocated for this launch: it holds no values yet
  int region = 0;

  int64_t end() const { return base + bytes; }
};

class GlobalMemory {
 public:
  // Arguments that overlap share one region, so that races through either name are seen.
  explicit GlobalMemory(std::vector<GmArg> args);

  // The argument of that name, else the one that holds the address, else null.
  const GmArg* find(const std::string& name, int64_t address) const;
  Shadow& shadow(const GmArg& arg) { return regions_[arg.region].shadow; }
  // Byte of the argument's region that its first byte is.
  int64_t offset(const GmArg& arg) const { return arg.base - regions_[arg.region].base; }
  const std::vector<GmArg>& args() const { return args_; }
  // Bytes of a fresh argument that nothing wrote yet, counted from its first; null for others.
  PoisonMap* unwritten(const GmArg& arg) {
    return arg.fresh ? &unwritten_[&arg - args_.data()] : nullptr;
  }

 private:
  struct Region {
    int64_t base;
    Shadow shadow;
  };

  std::vector<GmArg> args_;
  std::vector<Region> regions_;
  std::vector<PoisonMap> unwritten_;  // by argument, empty unless it is fresh
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_GM_H_

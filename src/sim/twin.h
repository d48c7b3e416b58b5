// SPDX-License-Identifier: Apache-2.0
// A twin library: emitted Ascend C compiled by g++, issuing through twin_api.h.
#ifndef TVM_ASCEND_SIM_TWIN_H_
#define TVM_ASCEND_SIM_TWIN_H_

#include <cstdint>
#include <string>

namespace tvm_ascend::sim {

class TwinLibrary {
 public:
  // Loads and binds; throws InputError with the reason when that fails.
  explicit TwinLibrary(const std::string& path);
  ~TwinLibrary();
  TwinLibrary(const TwinLibrary&) = delete;
  TwinLibrary& operator=(const TwinLibrary&) = delete;

  // Runs the kernel body of the current block.
  void run(const int64_t* args) const { run_(args); }

 private:
  void* handle_;
  void (*run_)(const int64_t*);
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_TWIN_H_

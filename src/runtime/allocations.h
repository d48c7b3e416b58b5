// SPDX-License-Identifier: Apache-2.0
// The global-memory allocations of the simulated device, so that a raw pointer finds its bounds.
#ifndef TVM_ASCEND_RUNTIME_ALLOCATIONS_H_
#define TVM_ASCEND_RUNTIME_ALLOCATIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace tvm_ascend {

/// One block of global memory: the address of its first byte and its size.
struct Allocation {
  std::uintptr_t base;
  std::size_t bytes;
};

/// Blocks by address; may be used from several threads.
class Allocations {
 public:
  /// The ones of the process: memory that `device_api.ext_dev` handed out.
  static Allocations& Global();

  /// Allocates `bytes` (at least one) aligned to `alignment`, a power of two; nullptr when out of
  /// memory.
  void* Allocate(std::size_t bytes, std::size_t alignment);

  /// Frees what `Allocate` returned; false when it did not.
  bool Free(void* address);

  /// The block that holds `address`.
  std::optional<Allocation> Find(const void* address) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> size_of_;
};

}  // namespace tvm_ascend

#endif  // TVM_ASCEND_RUNTIME_ALLOCATIONS_H_

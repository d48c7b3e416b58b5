// SPDX-License-Identifier: Apache-2.0
// `device_api.ext_dev`: the global memory of the simulated chip is host memory.
#include <tvm/ffi/function.h>
#include <tvm/runtime/device_api.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "allocations.h"

namespace tvm_ascend {

Allocations& Allocations::Global() {
  static Allocations* instance =
      new Allocations();  // outlives tensors freed while the process ends
  return *instance;
}

void* Allocations::Allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t rounded =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* address = std::aligned_alloc(alignment, rounded);
  if (address == nullptr) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  size_of_[reinterpret_cast<std::uintptr_t>(address)] = std::max<std::size_t>(bytes, 1);
  return address;
}

bool Allocations::Free(void* address) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (size_of_.erase(reinterpret_cast<std::uintptr_t>(address)) == 0) return false;
  }
  std::free(address);
  return true;
}

std::optional<Allocation> Allocations::Find(const void* address) const {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::lock_guard<std::mutex> lock(mutex_);
  auto after = size_of_.upper_bound(wanted);
  if (after == size_of_.begin()) return std::nullopt;
  const auto& [base, bytes] = *std::prev(after);
  if (wanted - base >= bytes) return std::nullopt;
  return Allocation{base, bytes};
}

namespace {

using tvm::runtime::DeviceAttrKind;

// The largest alignment that the speed of a transfer depends on: cycles must not depend on the
// host's allocator.
constexpr std::size_t kMinAlignment = 512;
// Every float read from memory nobody wrote is NaN, every integer is -1.
constexpr int kFreshByte = 0xFF;

class AscendDeviceAPI final : public tvm::runtime::DeviceAPI {
 public:
  void SetDevice(DLDevice dev) final { CheckDevice(dev); }

  void GetAttr(DLDevice dev, DeviceAttrKind kind, tvm::ffi::Any* result) final {
    if (kind == DeviceAttrKind::kExist) {
      *result = static_cast<int64_t>(dev.device_id == 0);
    } else if (kind == DeviceAttrKind::kDeviceName) {
      *result = tvm::ffi::String("Ascend simulator");
    }
  }

  void* AllocDataSpace(DLDevice dev, size_t bytes, size_t alignment, DLDataType) final {
    CheckDevice(dev);
    void* address = Allocations::Global().Allocate(bytes, std::max(alignment, kMinAlignment));
    if (address == nullptr) {
      TVM_FFI_THROW(MemoryError) << "ext_dev(0): cannot allocate " << bytes
                                 << " bytes of host memory";
    }
    std::memset(address, kFreshByte, bytes);
    return address;
  }
  using DeviceAPI::AllocDataSpace;

  void FreeDataSpace(DLDevice, void* address) final {
    if (!Allocations::Global().Free(address)) {
      TVM_FFI_THROW(ValueError) << "ext_dev(0): " << address
                                << " was not allocated here or was freed before";
    }
  }

  void StreamSync(DLDevice, TVMStreamHandle) final {}

  bool SupportsDevicePointerArithmeticsOnHost() final { return true; }

 protected:
  void CopyDataFromTo(const void* from, size_t from_offset, void* to, size_t to_offset,
                      size_t bytes, DLDevice, DLDevice, DLDataType, TVMStreamHandle) final {
    std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset,
                bytes);
  }
  using DeviceAPI::CopyDataFromTo;

 private:
  static void CheckDevice(DLDevice dev) {
    if (dev.device_id != 0) {
      TVM_FFI_THROW(ValueError) << "ext_dev(" << dev.device_id
                                << ") does not exist: one simulated chip, ext_dev(0), is available";
    }
  }
};

void* DeviceAPIOfProcess() {
  static auto* instance = new AscendDeviceAPI();
  return static_cast<tvm::runtime::DeviceAPI*>(instance);
}

const bool registered = [] {
  tvm::ffi::Function::SetGlobal("device_api.ext_dev",
                                tvm::ffi::Function::FromTyped(DeviceAPIOfProcess),
                                /*override=*/true);
  return true;
}();

}  // namespace
}  // namespace tvm_ascend

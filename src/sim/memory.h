// SPDX-License-Identifier: Apache-2.0
// The on-chip memories of one core, and which of their bytes hold a value.
#ifndef TVM_ASCEND_SIM_MEMORY_H_
#define TVM_ASCEND_SIM_MEMORY_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "op.h"

namespace tvm_ascend::sim {

using SpaceBytes = std::array<int64_t, kSpaces>;  // of GM: 0

// Of the last comparison without dst: a bit for each lane, or what SetCmpMask put there.
constexpr int64_t kCmpMaskBytes = 16;
struct CmpMask {
  std::array<uint8_t, kCmpMaskBytes> bytes{};
  bool known = false;
};

// Bytes by (space, address); an address in GM is a host pointer. Bounds are the caller's affair.
class Memories {
 public:
  // Fresh memory holds 0xFF: every float that nobody wrote is NaN.
  explicit Memories(const SpaceBytes& bytes);

  uint8_t* at(Space space, int64_t address) const {
    return reinterpret_cast<uint8_t*>(base_[static_cast<int>(space)] +
                                      static_cast<uintptr_t>(address));
  }

  template <typename T>
  T* operand(const Call& call, int i) const {
    return reinterpret_cast<T*>(at(call.spaces[i], call.operands[i]));
  }

  CmpMask& cmp_mask() { return cmp_mask_; }
  const CmpMask& cmp_mask() const { return cmp_mask_; }

 private:
  CmpMask cmp_mask_;
  std::array<std::vector<uint8_t>, kSpaces> bytes_;
  std::array<uintptr_t, kSpaces> base_{};
};

// One bit per byte: set while it holds no value a program may use.
class PoisonMap {
 public:
  explicit PoisonMap(int64_t bytes = 0);

  // First undefined byte of [low, high), or -1.
  int64_t find(int64_t low, int64_t high) const;
  void set(int64_t low, int64_t high, bool undefined);
  bool get(int64_t byte) const { return (masks_[byte / kBlockBytes] >> (byte % kBlockBytes)) & 1; }

 private:
  std::vector<uint32_t> masks_;  // one word per 32-byte block
};

// The maps of the on-chip memories of one core.
class PoisonMaps {
 public:
  explicit PoisonMaps(const SpaceBytes& bytes);

  PoisonMap& of(Space space) { return maps_[static_cast<int>(space)]; }
  int64_t find(Space space, int64_t low, int64_t high) const {
    return maps_[static_cast<int>(space)].find(low, high);
  }
  void set(Space space, int64_t low, int64_t high, bool undefined) {
    of(space).set(low, high, undefined);
  }
  bool get(Space space, int64_t address) const {
    return maps_[static_cast<int>(space)].get(address);
  }
  // Undefined bytes travel with a copy of `bytes` bytes that start on blocks.
  void copy(Space to, int64_t dst, Space from, int64_t src, int64_t bytes);

 private:
  std::array<PoisonMap, kSpaces> maps_;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_MEMORY_H_

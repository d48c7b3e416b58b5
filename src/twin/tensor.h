// SPDX-License-Identifier: Apache-2.0
// Tensors: typed addresses.
#ifndef TVM_ASCEND_TWIN_TENSOR_H_
#define TVM_ASCEND_TWIN_TENSOR_H_

#include <cstdint>

#include "ascendc_enums.h"
#include "bridge.h"

namespace twin {

// The memory that a logical position stands for on a 910B.
constexpr TwinSpace SpaceOfPosition(AscendC::TPosition position) {
  using AscendC::TPosition;
  switch (position) {
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
      return kTwinL1;
    case TPosition::A2:
      return kTwinL0A;
    case TPosition::B2:
      return kTwinL0B;
    case TPosition::CO1:
      return kTwinL0C;
    case TPosition::C2:
      return kTwinBT;
    case TPosition::C2PIPE2GM:
      return kTwinFB;
    case TPosition::GM:
      return kTwinGM;
    default:
      return kTwinUB;
  }
}

}  // namespace twin

namespace AscendC {

template <typename T>
class LocalTensor {
 public:
  using PrimType = T;

  LocalTensor() = default;
  LocalTensor(TPosition pos, uint32_t addr, uint32_t tileSize)
      : position_(pos), address_(addr), start_(addr), size_(tileSize) {}

  PrimType GetValue(const uint32_t offset, const int line = __builtin_LINE()) const {
    return twin::Get<T>((*this)[offset].place(), line);
  }

  template <typename S>
  void SetValue(const uint32_t index, const S value, const int line = __builtin_LINE()) const {
    twin::Set<T>((*this)[index].place(), static_cast<T>(value), line);
  }

  LocalTensor operator[](const uint32_t offset) const {
    LocalTensor moved = *this;
    // A negative offset arrives wrapped.
    moved.address_ += int64_t{static_cast<int32_t>(offset)} * static_cast<int64_t>(sizeof(T));
    return moved;
  }

  // The same bytes as elements of another type.
  template <typename U>
  LocalTensor<U> ReinterpretCast() const {
    return LocalTensor<U>(position_, address_, start_,
                          static_cast<uint32_t>(size_ * sizeof(T) / sizeof(U)));
  }

  uint32_t GetSize() const { return size_; }
  int32_t GetPosition() const { return static_cast<int32_t>(position_); }

  twin::Place place() const {
    constexpr int64_t kBlock = 32;  // memory is handed out in these
    const int64_t bytes = static_cast<int64_t>(size_) * static_cast<int64_t>(sizeof(T));
    return {twin::SpaceOfPosition(position_),
            address_,
            {start_, start_ + (bytes + kBlock - 1) / kBlock * kBlock}};
  }

 private:
  template <typename U>
  friend class LocalTensor;

  LocalTensor(TPosition position, int64_t address, int64_t start, uint32_t size)
      : position_(position), address_(address), start_(start), size_(size) {}

  TPosition position_ = TPosition::VECCALC;
  int64_t address_ = 0;
  int64_t start_ = 0;  // of the whole tensor, wherever this part of it begins
  uint32_t size_ = 0;
};

template <typename T>
class GlobalTensor {
 public:
  using PrimType = T;

  void SetGlobalBuffer(__gm__ PrimType* buffer, uint64_t bufferSize) {
    address_ = reinterpret_cast<int64_t>(buffer);
    size_ = bufferSize;
  }
  void SetGlobalBuffer(__gm__ PrimType* buffer) { SetGlobalBuffer(buffer, 0); }

  PrimType GetValue(const uint64_t offset, const int line = __builtin_LINE()) const {
    return twin::Get<T>((*this)[offset].place(), line);
  }
  void SetValue(const uint64_t offset, PrimType value, const int line = __builtin_LINE()) {
    twin::Set<T>((*this)[offset].place(), value, line);
  }

  GlobalTensor operator[](const uint64_t offset) const {
    GlobalTensor moved = *this;
    moved.address_ += static_cast<int64_t>(offset * sizeof(T));
    return moved;
  }

  uint64_t GetSize() const { return size_; }

  twin::Place place() const { return {kTwinGM, address_, {0, 0}}; }

 private:
  int64_t address_ = 0;
  uint64_t size_ = 0;
};

}  // namespace AscendC

namespace twin {

// Elements from one tensor of a list to the next; the simulator knows lists at even distances only.
template <typename T, int count>
int64_t StepOf(const AscendC::LocalTensor<T> (&list)[count]) {
  const int64_t step = list[1].place().address - list[0].place().address;
  for (int i = 2; i < count; ++i) {
    if (list[i].place().address - list[i - 1].place().address != step) return -1;
  }
  return step / static_cast<int64_t>(sizeof(T));
}

}  // namespace twin

#endif  // TVM_ASCEND_TWIN_TENSOR_H_

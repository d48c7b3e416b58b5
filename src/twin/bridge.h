// SPDX-License-Identifier: Apache-2.0
// From the calls of a kernel to the simulator's C interface.
#ifndef TVM_ASCEND_TWIN_BRIDGE_H_
#define TVM_ASCEND_TWIN_BRIDGE_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>

#include "float16.h"
#include "twin_api.h"

namespace twin {

// Set once by tvm_ascend_twin_bind, before any kernel runs.
inline const TwinApi* api = nullptr;

template <typename... T>
struct Types {};

// Whether the first type is one of the others.
template <typename T, typename... Legal>
constexpr bool kAmong = (std::is_same_v<T, Legal> || ...);

// The place of a type among others, -1 if it is none of them.
template <typename T, typename... Among>
constexpr int64_t IndexOfType() {
  int64_t found = -1, place = 0;
  ((found = std::is_same_v<T, Among> ? place : found, ++place), ...);
  return found;
}

template <typename T>
constexpr const char* kDType = nullptr;
template <>
constexpr const char* kDType<half> = "float16";
template <>
constexpr const char* kDType<bfloat16_t> = "bfloat16";
template <>
constexpr const char* kDType<float> = "float32";
template <>
constexpr const char* kDType<bool> = "bool";
template <>
constexpr const char* kDType<int8_t> = "int8";
template <>
constexpr const char* kDType<uint8_t> = "uint8";
template <>
constexpr const char* kDType<int16_t> = "int16";
template <>
constexpr const char* kDType<uint16_t> = "uint16";
template <>
constexpr const char* kDType<int32_t> = "int32";
template <>
constexpr const char* kDType<uint32_t> = "uint32";
template <>
constexpr const char* kDType<int64_t> = "int64";
template <>
constexpr const char* kDType<uint64_t> = "uint64";

template <typename T>
constexpr bool kFloating = kAmong<T, half, bfloat16_t, float>;

// The simulator's handle of an instruction row for element types.
template <typename... T>
int32_t Find(const char* key) {
  std::string dtypes;
  ((dtypes += (dtypes.empty() ? "" : ","), dtypes += kDType<T>), ...);
  return api->find(key, dtypes.c_str());
}

// A scalar argument as the word the interface wants.
template <typename T>
int64_t Word(T value) {
  if constexpr (kFloating<T>) {
    const double wide = static_cast<float>(value);
    int64_t word;
    __builtin_memcpy(&word, &wide, sizeof(word));
    return word;
  } else {
    return static_cast<int64_t>(value);
  }
}

// What an operand is to the simulator.
struct Place {
  TwinSpace space;
  int64_t address;
  TwinRange range;
};

template <typename Tensor>
auto PlaceOf(const Tensor& tensor) -> decltype(tensor.place()) {
  return tensor.place();
}

template <typename T>
int64_t WordOf(const T& argument) {
  if constexpr (std::is_class_v<T> && !kFloating<T>) {
    return PlaceOf(argument).address;
  } else {
    return Word(argument);
  }
}

inline int64_t WordOf(const char* text) { return reinterpret_cast<int64_t>(text); }

template <typename T>
uint8_t SpaceOf(const T& argument) {
  if constexpr (std::is_class_v<T> && !kFloating<T>) {
    return static_cast<uint8_t>(PlaceOf(argument).space);
  } else {
    return 0;
  }
}

// The line of a call; no argument of the call itself converts to it.
struct Line {
  explicit constexpr Line(int number) : number(number) {}
  int number;
};

// The place of a statement in the emitted source, as reports print it; lives as long as the
// library.
inline const char* Where(int line) {
  static std::mutex mutex;
  static std::map<int, std::string> places;
  const std::lock_guard<std::mutex> lock(mutex);
  std::string& place = places[line];
  if (place.empty()) place = "kernel.cce:" + std::to_string(line);
  return place.c_str();
}

template <typename T>
TwinRange RangeOf(const T& argument) {
  if constexpr (std::is_class_v<T> && !kFloating<T>) {
    return PlaceOf(argument).range;
  } else {
    return {0, 0};
  }
}

// Whether an operand is in one of the memories.
template <TwinSpace... spaces, typename T>
bool IsIn(const T& argument) {
  return ((SpaceOf(argument) == spaces) || ...);
}

// Issues an instruction whose first `operands` arguments are tensors; returns what it counts, if it
// does.
template <int operands, typename... Args>
uint32_t Issue(int32_t row, Line line, const Args&... args) {
  static_assert(operands <= sizeof...(Args), "operands come first");
  const uint8_t spaces[] = {SpaceOf(args)...};
  const TwinRange ranges[] = {RangeOf(args)...};
  const int64_t words[] = {WordOf(args)...};
  return static_cast<uint32_t>(api->issue(
      row, spaces, ranges, words, static_cast<int32_t>(sizeof...(Args)), Where(line.number)));
}

// The scalar unit's access to one element.
template <typename T>
T Get(Place place, int line) {
  static const int32_t row = Find<T>("get_value");
  const char* where = Where(line);
  if constexpr (kFloating<T>) {
    const double wide = api->get_float(row, place.space, place.range, place.address, where);
    return static_cast<T>(static_cast<float>(wide));
  } else {
    return static_cast<T>(api->get_int(row, place.space, place.range, place.address, where));
  }
}

template <typename T>
void Set(Place place, T value, int line) {
  static const int32_t row = Find<T>("set_value");
  const char* where = Where(line);
  if constexpr (kFloating<T>) {
    api->set_float(row, place.space, place.range, place.address, static_cast<float>(value), where);
  } else {
    api->set_int(row, place.space, place.range, place.address, static_cast<int64_t>(value), where);
  }
}

}  // namespace twin

#endif  // TVM_ASCEND_TWIN_BRIDGE_H_

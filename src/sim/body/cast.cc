// SPDX-License-Identifier: Apache-2.0
// Cast: every dtype pair goes through double, which holds each source dtype exactly, and rounds
// once.
#include <algorithm>
#include <cmath>

#include "../strided.h"
#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum class Round : uint8_t {
  None,
  Rint,
  Floor,
  Ceil,
  Round,
  Trunc,
  Odd
};  // the order of the row's values

double round_to_integer(double x, Round mode) {
  switch (mode) {
    case Round::Floor:
      return std::floor(x);
    case Round::Ceil:
      return std::ceil(x);
    case Round::Round:
      return std::round(x);
    case Round::Trunc:
      return std::trunc(x);
    case Round::Odd: {
      const double down = std::floor(x);
      if (down == x) return x;
      return std::fmod(down, 2.0) == 0.0 ? down + 1.0 : down;
    }
    default:
      return std::nearbyint(x);
  }
}

struct Format {
  int digits;        // of the significand, the hidden one included
  int min_exponent;  // of the smallest normal, as in frexp
  double largest;
};

template <typename T>
constexpr Format format_of();
template <>
constexpr Format format_of<Half>() {
  return {11, -13, 65504.0};
}
template <>
constexpr Format format_of<BFloat>() {
  return {8, -125, 0x1.FEp127};
}
template <>
constexpr Format format_of<float>() {
  return {24, -125, 0x1.FFFFFEp127};
}

// The value of the format that the mode picks for a double.
template <typename T>
T round_to_float(double x, Round mode) {
  if (x == 0.0 || !std::isfinite(x)) return T(x);
  constexpr Format kFormat = format_of<T>();
  int exponent = 0;
  std::frexp(x, &exponent);
  const int ulp = std::max(exponent, kFormat.min_exponent) - kFormat.digits;
  const double rounded = std::ldexp(round_to_integer(std::ldexp(x, -ulp), mode), ulp);
  if (std::fabs(rounded) <= kFormat.largest)
    return T(rounded == 0.0 ? std::copysign(0.0, x) : rounded);
  const bool away = mode == Round::Ceil    ? x > 0
                    : mode == Round::Floor ? x < 0
                                           : mode != Round::Trunc && mode != Round::Odd;
  return T(std::copysign(away ? HUGE_VAL : kFormat.largest, x));
}

// What does not fit becomes the largest value, or keeps its low bits; inf has none [guess].
template <typename I>
Int<I> round_to_int(double x, Round mode, bool saturate) {
  if (std::isnan(x)) return Int<I>(0);
  const double rounded = round_to_integer(x, mode);
  if (!saturate && std::isfinite(x)) {
    constexpr double kWords = 0x1p64;
    const double low = std::fmod(rounded, kWords);
    const auto word = low < 0 ? -static_cast<uint64_t>(-low) : static_cast<uint64_t>(low);
    return Int<I>(static_cast<int64_t>(word));
  }
  constexpr I kLow = std::numeric_limits<I>::min();
  constexpr I kHigh = std::numeric_limits<I>::max();
  // As a double the largest int64 is one more than itself.
  if (rounded >= static_cast<double>(kHigh)) return Int<I>(kHigh);
  if (rounded <= static_cast<double>(kLow)) return Int<I>(kLow);
  return Int<I>(static_cast<int64_t>(rounded));
}

// A double that rounds to any float format as the integer does: its last bit is sticky.
double widen_int64(int64_t value) {
  constexpr int kDigits = 52;
  const bool negative = value < 0;
  uint64_t magnitude = negative ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  int exponent = 0;
  while (magnitude >> kDigits != 0) {
    magnitude = magnitude >> 1 | (magnitude & 1);
    ++exponent;
  }
  const double wide = std::ldexp(static_cast<double>(magnitude), exponent);
  return negative ? -wide : wide;
}

template <typename T>
double widen(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat> || std::is_same_v<T, float>) {
    return static_cast<double>(static_cast<float>(value));
  } else if constexpr (sizeof(value.bits) == sizeof(int64_t)) {
    return widen_int64(value.bits);
  } else {
    return static_cast<double>(value.bits);
  }
}

template <typename T>
constexpr bool kIsInteger = false;
template <typename I>
constexpr bool kIsInteger<Int<I>> = true;

template <typename To, typename From>
To convert(From from, Round mode, bool saturate) {
  if constexpr (std::is_same_v<To, float> && std::is_same_v<From, float>) {
    return static_cast<float>(round_to_integer(from, mode)) + 0.0f;
  } else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, Half>) {
    return static_cast<float>(from);
  } else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, BFloat>) {
    return static_cast<float>(from);
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat>) {
    const bool nearest = mode == Round::None || mode == Round::Rint;
    if constexpr (std::is_same_v<From, float>) {
      if (nearest) return To(from);
    }
    return round_to_float<To>(widen(from), mode);
  } else if constexpr (std::is_same_v<To, float>) {
    return round_to_float<To>(widen(from), mode);
  } else if constexpr (kIsInteger<From>) {
    if (!saturate) return To(static_cast<int64_t>(from.bits));
    return round_to_int<decltype(To::bits)>(widen(from), mode, saturate);
  } else {
    return round_to_int<decltype(To::bits)>(widen(from), mode, saturate);
  }
}

template <DType kTo, DType kFrom>
void convert_all(const Call& call, Memories& memories) {
  using To = typename LaneType<kTo>::type;
  using From = typename LaneType<kFrom>::type;
  const auto mode = static_cast<Round>(call.params[0]);
  const bool wraps = call.registers[Register::cast_saturates] == 0;
  const bool finite = saturates(call);
  each_lane<To, From>(call, memories, [=](From from) {
    const To to = convert<To>(from, mode, !wraps);
    return finite ? saturated(to) : to;
  });
}

template <DType kTo>
void convert_to(const Call& call, Memories& memories) {
  switch (call.dtype(1)) {
    case DType::float16:
      return convert_all<kTo, DType::float16>(call, memories);
    case DType::bfloat16:
      return convert_all<kTo, DType::bfloat16>(call, memories);
    case DType::float32:
      return convert_all<kTo, DType::float32>(call, memories);
    case DType::int8:
      return convert_all<kTo, DType::int8>(call, memories);
    case DType::uint8:
      return convert_all<kTo, DType::uint8>(call, memories);
    case DType::int16:
      return convert_all<kTo, DType::int16>(call, memories);
    case DType::int32:
      return convert_all<kTo, DType::int32>(call, memories);
    case DType::int64:
      return convert_all<kTo, DType::int64>(call, memories);
    default:
      return;
  }
}

void run(Call& call, Memories& memories) {
  switch (call.dtype(0)) {
    case DType::float16:
      return convert_to<DType::float16>(call, memories);
    case DType::bfloat16:
      return convert_to<DType::bfloat16>(call, memories);
    case DType::float32:
      return convert_to<DType::float32>(call, memories);
    case DType::int8:
      return convert_to<DType::int8>(call, memories);
    case DType::uint8:
      return convert_to<DType::uint8>(call, memories);
    case DType::int16:
      return convert_to<DType::int16>(call, memories);
    case DType::int32:
      return convert_to<DType::int32>(call, memories);
    case DType::int64:
      return convert_to<DType::int64>(call, memories);
    default:
      return;
  }
}

}  // namespace

extern const Body body_cast;
const Body body_cast{lane_access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

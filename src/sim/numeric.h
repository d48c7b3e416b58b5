// SPDX-License-Identifier: Apache-2.0
// Arithmetic of one lane in each dtype: half rounds to nearest even after every operation, integers
// wrap.
#ifndef TVM_ASCEND_SIM_NUMERIC_H_
#define TVM_ASCEND_SIM_NUMERIC_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "op.h"

namespace tvm_ascend::sim {

template <typename To, typename From>
inline To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

inline float half_to_float(uint16_t half) {
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7FFF) << 13;
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  // Scaling by 2^112 moves the exponent bias from 15 to 127 and makes subnormals normal, exactly.
  const uint32_t finite = bit_cast<uint32_t>(bit_cast<float>(magnitude) * 0x1.0p+112f);
  const uint32_t special = magnitude | 0x7F800000;
  return bit_cast<float>(sign | ((half & 0x7C00) == 0x7C00 ? special : finite));
}

inline uint16_t float_to_half(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  const uint32_t sign = (bits >> 16) & 0x8000;
  // Normal results: add half an ulp less one, plus the last kept bit; the carry may run into the
  // exponent.
  const uint32_t normal = (magnitude + 0xFFF + ((magnitude >> 13) & 1) - 0x38000000) >> 13;
  // Subnormal results: adding 0.5 leaves an ulp of 2^-24, and the addition rounds to nearest even.
  const uint32_t subnormal = bit_cast<uint32_t>(bit_cast<float>(magnitude) + 0.5f) - 0x3F000000;
  const uint32_t finite = magnitude < 0x38800000 ? subnormal : normal;
  const uint32_t overflow = magnitude > 0x7F800000 ? 0x7E00 : 0x7C00;
  return static_cast<uint16_t>(sign | (magnitude >= 0x477FF000 ? overflow : finite));
}

inline float bfloat_to_float(uint16_t value) {
  return bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

inline uint16_t float_to_bfloat(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const uint32_t nan = ((bits >> 16) & 0x8000) | 0x7FC0;
  return static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
}

// The float that keeps enough of a double for one more rounding to be the only one: truncated, last
// bit sticky.
inline float double_to_float_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value) || std::isinf(nearest))
    return nearest;
  uint32_t bits = bit_cast<uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;
  return bit_cast<float>(bits | 1);
}

struct Half {
  uint16_t bits;
  Half() = default;
  explicit Half(float value) : bits(float_to_half(value)) {}
  explicit Half(double value) : bits(float_to_half(double_to_float_odd(value))) {}
  explicit Half(int value) : Half(static_cast<float>(value)) {}
  explicit operator float() const { return half_to_float(bits); }
};

struct BFloat {
  uint16_t bits;
  BFloat() = default;
  explicit BFloat(float value) : bits(float_to_bfloat(value)) {}
  explicit BFloat(double value) : bits(float_to_bfloat(double_to_float_odd(value))) {}
  explicit operator float() const { return bfloat_to_float(bits); }
};

// An integer whose arithmetic wraps.
template <typename I>
struct Int {
  I bits;
  Int() = default;
  explicit Int(int64_t value) : bits(static_cast<I>(value)) {}
  using Wide = std::conditional_t<sizeof(I) < 4, uint32_t, std::make_unsigned_t<I>>;
  static Int wrap(Wide value) {
    Int out;
    out.bits = static_cast<I>(value);
    return out;
  }
  Wide wide() const { return static_cast<Wide>(bits); }
};

template <DType>
struct LaneType;
template <>
struct LaneType<DType::float16> {
  using type = Half;
};
template <>
struct LaneType<DType::bfloat16> {
  using type = BFloat;
};
template <>
struct LaneType<DType::float32> {
  using type = float;
};
template <>
struct LaneType<DType::int8> {
  using type = Int<int8_t>;
};
template <>
struct LaneType<DType::uint8> {
  using type = Int<uint8_t>;
};
template <>
struct LaneType<DType::int16> {
  using type = Int<int16_t>;
};
template <>
struct LaneType<DType::uint16> {
  using type = Int<uint16_t>;
};
template <>
struct LaneType<DType::int32> {
  using type = Int<int32_t>;
};
template <>
struct LaneType<DType::uint32> {
  using type = Int<uint32_t>;
};
template <>
struct LaneType<DType::int64> {
  using type = Int<int64_t>;
};
template <>
struct LaneType<DType::uint64> {
  using type = Int<uint64_t>;
};
template <>
struct LaneType<DType::boolean> {
  using type = Int<uint8_t>;
};

// A scalar argument word (bits of a float64 for float dtypes, else int64) as a lane.
template <typename T>
inline T scalar_from_word(int64_t word) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat> || std::is_same_v<T, float>) {
    return T(bit_cast<double>(word));
  } else {
    return T(word);
  }
}

// Half arithmetic: float has more than twice the bits plus two, so rounding its result once more is
// exact rounding.
inline Half operator+(Half a, Half b) { return Half(float(a) + float(b)); }
inline Half operator-(Half a, Half b) { return Half(float(a) - float(b)); }
inline Half operator*(Half a, Half b) { return Half(float(a) * float(b)); }
template <typename I>
inline Int<I> operator+(Int<I> a, Int<I> b) {
  return Int<I>::wrap(a.wide() + b.wide());
}
template <typename I>
inline Int<I> operator-(Int<I> a, Int<I> b) {
  return Int<I>::wrap(a.wide() - b.wide());
}
template <typename I>
inline Int<I> operator*(Int<I> a, Int<I> b) {
  return Int<I>::wrap(a.wide() * b.wide());
}

inline float div(float a, float b) { return a / b; }
// NaN if either is NaN; +0 counts as larger than -0.
inline float max(float a, float b) {
  if (a != a || b != b) return std::numeric_limits<float>::quiet_NaN();
  if (a == b) return bit_cast<float>(bit_cast<uint32_t>(a) & bit_cast<uint32_t>(b));
  return a > b ? a : b;
}
inline float min(float a, float b) {
  if (a != a || b != b) return std::numeric_limits<float>::quiet_NaN();
  if (a == b) return bit_cast<float>(bit_cast<uint32_t>(a) | bit_cast<uint32_t>(b));
  return a < b ? a : b;
}
// Through double: the result is the correctly rounded one whatever the host's libm does in the last
// bit.
inline float exp(float a) { return static_cast<float>(std::exp(static_cast<double>(a))); }
inline float ln(float a) { return static_cast<float>(std::log(static_cast<double>(a))); }
inline float sqrt(float a) { return std::sqrt(a); }
inline float rsqrt(float a) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); }
inline float abs(float a) { return std::fabs(a); }
inline float relu(float a) { return a != a ? a : (a > 0.0f ? a : 0.0f); }

inline Half div(Half a, Half b) { return Half(div(float(a), float(b))); }
inline Half max(Half a, Half b) { return Half(max(float(a), float(b))); }
inline Half min(Half a, Half b) { return Half(min(float(a), float(b))); }
inline Half exp(Half a) { return Half(std::exp(static_cast<double>(float(a)))); }
inline Half ln(Half a) { return Half(std::log(static_cast<double>(float(a)))); }
inline Half sqrt(Half a) { return Half(sqrt(float(a))); }
inline Half rsqrt(Half a) { return Half(1.0 / std::sqrt(static_cast<double>(float(a)))); }
inline Half abs(Half a) { return Half(abs(float(a))); }
inline Half relu(Half a) { return Half(relu(float(a))); }

template <typename I>
inline Int<I> max(Int<I> a, Int<I> b) {
  return a.bits > b.bits ? a : b;
}
template <typename I>
inline Int<I> min(Int<I> a, Int<I> b) {
  return a.bits < b.bits ? a : b;
}
template <typename I>
inline Int<I> relu(Int<I> a) {
  return a.bits > 0 ? a : Int<I>(0);
}

inline float leaky_relu(float a, float slope) { return a < 0.0f ? a * slope : a; }
inline Half leaky_relu(Half a, Half slope) { return float(a) < 0.0f ? a * slope : a; }

// a * b + c: a float product is rounded before the sum, a half product is exact and only the sum is
// rounded.
inline float multiply_add(float a, float b, float c) { return a * b + c; }
inline float multiply_add(Half a, Half b, float c) { return float(a) * float(b) + c; }
inline Half multiply_add(Half a, Half b, Half c) { return Half(float(a) * float(b) + float(c)); }

template <typename I>
inline Int<I> bit_and(Int<I> a, Int<I> b) {
  return Int<I>::wrap(a.wide() & b.wide());
}
template <typename I>
inline Int<I> bit_or(Int<I> a, Int<I> b) {
  return Int<I>::wrap(a.wide() | b.wide());
}
template <typename I>
inline Int<I> bit_not(Int<I> a) {
  return Int<I>::wrap(~a.wide());
}

// Shifts by the width or more leave nothing, or the sign.
template <typename I>
inline Int<I> shift_left(Int<I> a, Int<I> by) {
  constexpr int kBits = 8 * sizeof(I);
  const auto amount = static_cast<uint64_t>(by.bits);
  return amount >= kBits ? Int<I>(0) : Int<I>::wrap(a.wide() << amount);
}
template <typename I>
inline Int<I> shift_right(Int<I> a, Int<I> by) {
  constexpr uint64_t kBits = 8 * sizeof(I);
  const auto amount =
      std::min(static_cast<uint64_t>(by.bits), kBits - (std::is_signed_v<I> ? 1 : 0));
  if (amount >= kBits) return Int<I>(0);
  return Int<I>(static_cast<int64_t>(a.bits) >> amount);
}

// Adds the last bit that leaves; past the width that is the sign.
template <typename I>
inline Int<I> shift_right_round(Int<I> a, Int<I> by) {
  if (by.bits == 0) return a;
  const Int<I> last = bit_and(shift_right(a, by - Int<I>(1)), Int<I>(1));
  return shift_right(a, by) + last;
}

// A result as bit 48 of CTRL has it: where 16-bit floats saturate, none of them is inf or NaN.
inline bool saturates(const Call& call) { return call.registers[Register::ctrl_48] == 0; }
template <typename T>
inline T saturated(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
    constexpr float kLargest = std::is_same_v<T, Half> ? 65504.0F : 0x1.FEp127F;
    const auto wide = float(value);
    if (wide != wide) return T(0.0F);
    if (std::isinf(wide)) return T(std::copysign(kLargest, wide));
  }
  return value;
}

// The result of a lane function in the dtype of dst: to an integer it rounds to nearest even and
// saturates, NaN gives 0.
template <typename To, typename From>
inline To converted(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, float> || std::is_same_v<From, Half>) {
    if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, float>) {
      return To(float(value));
    } else {
      using I = decltype(To::bits);
      const auto wide = static_cast<double>(float(value));
      if (std::isnan(wide)) return To(0);
      return To(static_cast<int64_t>(
          std::clamp(std::nearbyint(wide), static_cast<double>(std::numeric_limits<I>::min()),
                     static_cast<double>(std::numeric_limits<I>::max()))));
    }
  } else {
    using I = decltype(To::bits);
    return To(std::clamp(static_cast<int64_t>(value.bits),
                         static_cast<int64_t>(std::numeric_limits<I>::min()),
                         static_cast<int64_t>(std::numeric_limits<I>::max())));
  }
}

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_NUMERIC_H_

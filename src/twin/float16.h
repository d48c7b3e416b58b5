// SPDX-License-Identifier: Apache-2.0
// `half` and `bfloat16_t` as values that are stored rounded and computed as float; no implicit
// conversions.
#ifndef TVM_ASCEND_TWIN_FLOAT16_H_
#define TVM_ASCEND_TWIN_FLOAT16_H_

#include <cstdint>
#include <cstring>

namespace twin {

inline uint32_t BitsOf(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float FloatOf(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

// Drops the low `shift` bits of `value`, to the nearest, ties to even.
inline uint32_t RoundOff(uint32_t value, int shift) {
  const uint32_t half = 1u << (shift - 1), odd = (value >> shift) & 1u;
  return (value + half - 1 + odd) >> shift;
}

inline uint16_t HalfBits(float value) {
  const uint32_t bits = BitsOf(value), sign = (bits >> 16) & 0x8000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((size >> 13) & 0x3ffu));
  if (size >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 2^16 and infinity
  if (size < 0x33000000u) return static_cast<uint16_t>(sign);             // below half of 2^-24
  if (size >=
      0x38800000u) {  // 2^-14: normal; a carry out of the fraction rightly raises the exponent
    return static_cast<uint16_t>(sign | RoundOff(size - 0x38000000u, 13));
  }
  const int shift = 126 - static_cast<int>(size >> 23);
  return static_cast<uint16_t>(sign | RoundOff((size & 0x7fffffu) | 0x800000u, shift));
}

inline float HalfValue(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 0x1fu,
                 fraction = bits & 0x3ffu;
  if (exponent == 0x1fu) return FloatOf(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return FloatOf(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float size = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -size : size;
}

inline uint16_t BrainBits(float value) {
  const uint32_t bits = BitsOf(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>(RoundOff(bits, 16));
}

}  // namespace twin

class half {
 public:
  half() = default;
  explicit half(float value) : bits_(twin::HalfBits(value)) {}
  explicit operator float() const { return twin::HalfValue(bits_); }

 private:
  uint16_t bits_;
};

class bfloat16_t {
 public:
  bfloat16_t() = default;
  explicit bfloat16_t(float value) : bits_(twin::BrainBits(value)) {}
  explicit operator float() const { return twin::FloatOf(static_cast<uint32_t>(bits_) << 16); }

 private:
  uint16_t bits_;
};

#endif  // TVM_ASCEND_TWIN_FLOAT16_H_

// SPDX-License-Identifier: Apache-2.0
// The symbols that compiled control programs call. Nothing may unwind out of them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "launch.h"
#include "numeric.h"

#define TVM_ASCEND_EXPORT __attribute__((visibility("default")))

namespace {

using namespace tvm_ascend::sim;  // NOLINT: the symbols below are C

constexpr int32_t kNoLaunch = -1;

int32_t issue(int32_t site, const int64_t* values, int n) {
  if (current_core() == nullptr) return kNoLaunch;
  issue_site(static_cast<uint32_t>(site), values, n);
  return 0;
}

// Element accesses have the address as dynamic argument 0 and the value, if any, as 1.
int64_t element(int32_t site, int64_t address, int64_t value) {
  if (current_core() == nullptr) return 0;
  const int64_t words[] = {address, value};
  return issue_site(static_cast<uint32_t>(site), words, 2);
}

// Division of a run-time divisor: what the host would fault on stops the core at `site`.
template <typename Divide>
int64_t divide(int32_t site, int64_t a, int64_t b, int64_t by_minus_one, Divide quotient) {
  if (b == 0) return issue(site, nullptr, 0);
  return b == -1 ? by_minus_one : quotient(a, b);
}

int64_t negated(int64_t a) { return static_cast<int64_t>(0 - static_cast<uint64_t>(a)); }

// A float as an integer: truncated, saturated, NaN gives 0; as Cast with CAST_TRUNC does.
template <typename I>
int64_t truncated(double value) {
  constexpr I kLow = std::numeric_limits<I>::min();
  constexpr I kHigh = std::numeric_limits<I>::max();
  if (std::isnan(value)) return 0;
  // As a double the largest 64-bit integers are one more than themselves.
  if (value >= static_cast<double>(kHigh)) return static_cast<int64_t>(kHigh);
  if (value <= static_cast<double>(kLow)) return static_cast<int64_t>(kLow);
  return static_cast<int64_t>(static_cast<I>(value));
}

bool rounds_down(int64_t a, int64_t b) { return a % b != 0 && (a < 0) != (b < 0); }

}  // namespace

#include "../isa/isa_externs.inc"

extern "C" {

TVM_ASCEND_EXPORT double tvm_ascend_get_float(int32_t site, int64_t address) {
  return bit_cast<double>(element(site, address, 0));
}

TVM_ASCEND_EXPORT int64_t tvm_ascend_get_int(int32_t site, int64_t address) {
  return element(site, address, 0);
}

TVM_ASCEND_EXPORT int32_t tvm_ascend_set_float(int32_t site, int64_t address, double value) {
  element(site, address, bit_cast<int64_t>(value));
  return 0;
}

TVM_ASCEND_EXPORT int32_t tvm_ascend_set_int(int32_t site, int64_t address, int64_t value) {
  element(site, address, value);
  return 0;
}

TVM_ASCEND_EXPORT int64_t tvm_ascend_div(int32_t site, int64_t a, int64_t b) {
  return divide(site, a, b, negated(a), [](int64_t x, int64_t y) { return x / y; });
}

TVM_ASCEND_EXPORT int64_t tvm_ascend_mod(int32_t site, int64_t a, int64_t b) {
  return divide(site, a, b, 0, [](int64_t x, int64_t y) { return x % y; });
}

TVM_ASCEND_EXPORT int64_t tvm_ascend_floordiv(int32_t site, int64_t a, int64_t b) {
  return divide(site, a, b, negated(a),
                [](int64_t x, int64_t y) { return x / y - (rounds_down(x, y) ? 1 : 0); });
}

TVM_ASCEND_EXPORT int64_t tvm_ascend_floormod(int32_t site, int64_t a, int64_t b) {
  return divide(site, a, b, 0,
                [](int64_t x, int64_t y) { return x % y + (rounds_down(x, y) ? y : 0); });
}

// Unsigned: nothing overflows. Rounding down is truncation, so floor divisions come here as well.
TVM_ASCEND_EXPORT uint64_t tvm_ascend_udiv(int32_t site, uint64_t a, uint64_t b) {
  return b == 0 ? static_cast<uint64_t>(issue(site, nullptr, 0)) : a / b;
}

TVM_ASCEND_EXPORT uint64_t tvm_ascend_umod(int32_t site, uint64_t a, uint64_t b) {
  return b == 0 ? static_cast<uint64_t>(issue(site, nullptr, 0)) : a % b;
}

// Shifts of a value that was widened to 64 bits and whose low bits are kept, so that by its own
// width or more nothing but copies of the sign is left. A negative amount arrives as a large one.
TVM_ASCEND_EXPORT int64_t tvm_ascend_lshift(int64_t a, uint64_t by) {
  return by < 64 ? static_cast<int64_t>(static_cast<uint64_t>(a) << by) : 0;
}

TVM_ASCEND_EXPORT uint64_t tvm_ascend_ulshift(uint64_t a, uint64_t by) {
  return by < 64 ? a << by : 0;
}

TVM_ASCEND_EXPORT int64_t tvm_ascend_rshift(int64_t a, uint64_t by) {
  return a >> std::min<uint64_t>(by, 63);
}

TVM_ASCEND_EXPORT uint64_t tvm_ascend_urshift(uint64_t a, uint64_t by) {
  return by < 64 ? a >> by : 0;
}

// `dtype` is the number of a DType; those that are no narrower integer are int64.
TVM_ASCEND_EXPORT int64_t tvm_ascend_truncate(double value, int32_t dtype) {
  switch (static_cast<DType>(dtype)) {
    case DType::int8:
      return truncated<int8_t>(value);
    case DType::uint8:
      return truncated<uint8_t>(value);
    case DType::int16:
      return truncated<int16_t>(value);
    case DType::uint16:
      return truncated<uint16_t>(value);
    case DType::int32:
      return truncated<int32_t>(value);
    case DType::uint32:
      return truncated<uint32_t>(value);
    case DType::uint64:
      return truncated<uint64_t>(value);
    default:
      return truncated<int64_t>(value);
  }
}

TVM_ASCEND_EXPORT float tvm_ascend_round_bfloat16(float value) {
  return bfloat_to_float(float_to_bfloat(value));
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// The symbols that compiled control programs call. Nothing may unwind out of them.
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

TVM_ASCEND_EXPORT float tvm_ascend_round_bfloat16(float value) {
  return bfloat_to_float(float_to_bfloat(value));
}

}  // extern "C"

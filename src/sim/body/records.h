// SPDX-License-Identifier: Apache-2.0
// The records that Sort32 makes and MrgSort merges: a score, for half two bytes of 0, and an index.
#ifndef TVM_ASCEND_SIM_BODY_RECORDS_H_
#define TVM_ASCEND_SIM_BODY_RECORDS_H_

#include "body.h"

namespace tvm_ascend::sim {

struct Record {
  uint32_t score;  // the bits; those of a half are the low ones
  uint32_t index;
};
constexpr int64_t kRecordBytes = sizeof(Record);

// Orders scores as numbers: both zeros are equal, NaN is above inf or below -inf by its sign.
inline int64_t sort_key(uint32_t bits, bool half) {
  const int width = half ? 16 : 32;
  const uint32_t magnitude = bits & ((1U << (width - 1)) - 1);
  const bool negative = (bits >> (width - 1) & 1) != 0;
  return negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_BODY_RECORDS_H_

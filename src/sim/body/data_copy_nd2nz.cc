// SPDX-License-Identifier: Apache-2.0
// DataCopy with Nd2NzParams, GM to L1: row-major rows become NZ columns of 32 bytes; the last one
// is filled up with zeros.
#include <algorithm>
#include <cstring>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum { kMatrices, kRows, kColumns, kSrcMatrix, kSrcPitch, kDstC0, kDstN, kDstMatrix };

void access(const Call& call, AccessList& list) {
  const int64_t size = call.itemsize(0);
  const int64_t rows = call.params[kRows];
  if (call.params[kMatrices] == 0 || call.params[kColumns] == 0) return;
  if (call.params[kMatrices] != 1) {
    list.fault("nd_num is " + std::to_string(call.params[kMatrices]) +
               "; copy one matrix per call");
    return;
  }
  list.add(AccessKind::Read, 1, 0, call.params[kColumns] * size, rows,
           call.params[kSrcPitch] * size);
  list.add(AccessKind::Write, 0, 0, kBlockBytes, rows, call.params[kDstN] * kBlockBytes,
           div_up(call.params[kColumns] * size, kBlockBytes), call.params[kDstC0] * kBlockBytes);
}

void run(Call& call, Memories& memories) {
  const int64_t row_bytes = call.params[kColumns] * call.itemsize(0);
  for (int64_t r = 0; r < call.params[kMatrices] * call.params[kRows]; ++r) {
    const uint8_t* src =
        memories.operand<const uint8_t>(call, 1) + r * call.params[kSrcPitch] * call.itemsize(0);
    uint8_t* dst = memories.operand<uint8_t>(call, 0) + r * call.params[kDstN] * kBlockBytes;
    for (int64_t at = 0; at < row_bytes;
         at += kBlockBytes, dst += call.params[kDstC0] * kBlockBytes) {
      const int64_t bytes = std::min(kBlockBytes, row_bytes - at);
      std::memcpy(dst, src + at, bytes);
      std::memset(dst + bytes, 0, kBlockBytes - bytes);
    }
  }
}

}  // namespace

extern const Body body_data_copy_nd2nz;
const Body body_data_copy_nd2nz{access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

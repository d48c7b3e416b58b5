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
  const int64_t matrices = call.params[kMatrices];
  const int64_t rows = call.params[kRows];
  const int64_t groups = div_up(call.params[kColumns] * size, kBlockBytes);
  const int64_t group = call.params[kDstC0] * kBlockBytes;
  const int64_t row = call.params[kDstN] * kBlockBytes;
  const int64_t matrix = call.params[kDstMatrix] * size;
  list.add(AccessKind::Read, 1, 0, call.params[kColumns] * size, rows,
           call.params[kSrcPitch] * size, matrices, call.params[kSrcMatrix] * size);
  if (matrices > 1 && matrix % kBlockBytes != 0)
    list.fault("dst_nz_matrix_stride is not a whole number of 32-byte blocks");
  if (row == kBlockBytes) {
    list.add(AccessKind::Write, 0, 0, rows * kBlockBytes, groups, group, matrices, matrix);
  } else if (matrices < groups) {
    for (int64_t i = 0; i < matrices; ++i)
      list.add(AccessKind::Write, 0, i * matrix, kBlockBytes, rows, row, groups, group);
  } else {
    for (int64_t i = 0; i < groups; ++i)
      list.add(AccessKind::Write, 0, i * group, kBlockBytes, rows, row, matrices, matrix);
  }
}

// Lays out one row, each group of 32 bytes `group` bytes after the last.
void lay_out(const uint8_t* src, int64_t row_bytes, uint8_t* dst, int64_t group) {
  for (int64_t at = 0; at < row_bytes; at += kBlockBytes, dst += group) {
    const int64_t bytes = std::min(kBlockBytes, row_bytes - at);
    std::memcpy(dst, src + at, bytes);
    std::memset(dst + bytes, 0, kBlockBytes - bytes);
  }
}

void run(Call& call, Memories& memories) {
  const int64_t size = call.itemsize(0);
  for (int64_t i = 0; i < call.params[kMatrices]; ++i) {
    for (int64_t r = 0; r < call.params[kRows]; ++r) {
      lay_out(memories.operand<const uint8_t>(call, 1) +
                  (i * call.params[kSrcMatrix] + r * call.params[kSrcPitch]) * size,
              call.params[kColumns] * size,
              memories.operand<uint8_t>(call, 0) + i * call.params[kDstMatrix] * size +
                  r * call.params[kDstN] * kBlockBytes,
              call.params[kDstC0] * kBlockBytes);
    }
  }
}

}  // namespace

extern const Body body_data_copy_nd2nz;
const Body body_data_copy_nd2nz{access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

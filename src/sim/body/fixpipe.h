// SPDX-License-Identifier: Apache-2.0
// What leaves L0C: an NZ tile becomes rows or columns of fractals; relu first, then the cast or the
// quantisation.
#ifndef TVM_ASCEND_SIM_BODY_FIXPIPE_H_
#define TVM_ASCEND_SIM_BODY_FIXPIPE_H_

#include "body.h"

namespace tvm_ascend::sim {

struct Drain {
  static constexpr int64_t kSide = kCubeSide;
  static constexpr int64_t kRowBytes = kSide * 4;

  // Reads the parameters by their names; those that a row lacks have their usual value.
  Drain(const Call& call, bool nz);

  void access(const Call& call, AccessList& list) const;
  void run(const Call& call, Memories& memories) const;
  // Byte of dst where an element of one matrix goes.
  int64_t target(int64_t row, int64_t column) const;

  bool nz;
  int64_t size;  // of an element of dst
  int64_t n, m;
  int64_t src_stride, dst_stride;
  bool relu;
  int64_t matrices;
  int64_t src_matrix, dst_matrix;  // bytes from one to the next
  bool split;
  bool vector;        // one scale for each column
  int64_t word;       // the scale of all columns
  Space scale_space;  // where the scales of the columns are
  int64_t scale;
  int64_t columns;  // of a column of fractals in dst
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_BODY_FIXPIPE_H_

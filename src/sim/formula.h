// SPDX-License-Identifier: Apache-2.0
// The calls of the rows' cycle texts; tvm_ascend/isa/formula.py is the Python half and says what
// each one models.
#ifndef TVM_ASCEND_SIM_FORMULA_H_
#define TVM_ASCEND_SIM_FORMULA_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "op.h"

namespace tvm_ascend::sim {

inline double floordiv(double a, double b) { return std::floor(a / b); }
inline double ceildiv(double a, double b) { return std::ceil(a / b); }
inline double max(double a, double b) { return std::max(a, b); }
inline double min(double a, double b) { return std::min(a, b); }

inline double gm_rows(const TimingArgs& t, Constant rate, double rows, double row_bytes) {
  return std::max(t.k(Constant::GM_BURST_CYCLES),
                  rows * (row_bytes / t.k(rate) + t.k(Constant::GM_ROW_CYCLES)));
}

inline double strayed(const TimingArgs& t, double pitch) {
  const auto line = static_cast<int64_t>(t.k(Constant::GM_LINE_BYTES));
  return static_cast<double>(line - std::gcd(static_cast<int64_t>(pitch), line));
}

inline double gm_copy(const TimingArgs& t, Constant rate, double rows, double row_bytes,
                      double gap) {
  if (gap == 0.0) return gm_rows(t, rate, 1.0, rows * row_bytes);
  return gm_rows(t, rate, rows, row_bytes + (rows > 1.0 ? strayed(t, row_bytes + gap) : 0.0));
}

inline double gm_read(const TimingArgs& t, double rows, double row_bytes, double gap) {
  return gm_copy(t, Constant::GM_READ_BYTES_PER_CYCLE, rows, row_bytes, gap);
}

inline double gm_write(const TimingArgs& t, double rows, double row_bytes, double gap) {
  return gm_copy(t, Constant::GM_WRITE_BYTES_PER_CYCLE, rows, row_bytes, gap);
}

inline double gm_read_nd2nz(const TimingArgs& t, double rows, double row_bytes, double pitch) {
  return gm_rows(t, Constant::GM_READ_BYTES_PER_CYCLE, rows,
                 row_bytes + (rows > 1.0 ? strayed(t, pitch) : 0.0));
}

inline double fixpipe_write(const TimingArgs& t, double rows, double row_bytes) {
  return gm_rows(t, Constant::GM_WRITE_BYTES_PER_CYCLE, rows, row_bytes);
}

inline double l0_bytes_per_cycle(const TimingArgs& t, Space space) {
  return t.k(space == Space::L0A ? Constant::L0A_BYTES_PER_CYCLE : Constant::L0B_BYTES_PER_CYCLE);
}

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_FORMULA_H_

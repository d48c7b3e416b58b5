// SPDX-License-Identifier: Apache-2.0
// What all cores of a launch draw from together: so many units a cycle, whoever takes them.
#ifndef TVM_ASCEND_SIM_SHARED_RATE_H_
#define TVM_ASCEND_SIM_SHARED_RATE_H_

#include <cstdint>
#include <vector>

namespace tvm_ascend::sim {

// Requests come nearly in the order of their starts. Time is cut into windows that hold what they
// can deliver, so one that comes late still finds what earlier windows have left.
class SharedRate {
 public:
  explicit SharedRate(double per_cycle)
      : per_cycle_(per_cycle), capacity_(per_cycle * kWindowCycles), windows_(kWindows) {}

  // When `units` that are asked for at `start` have been delivered.
  int64_t take(int64_t start, double units);
  double taken() const { return taken_; }

 private:
  static constexpr int64_t kWindowCycles = 64;
  static constexpr int64_t kWindows = 1 << 14;  // how many are remembered
  struct Window {
    double taken = 0;
    int64_t next = 0;  // of a full one: no earlier window has room
  };

  Window& window(int64_t index) { return windows_[index % kWindows]; }
  // The first window from `index` on that is not full.
  int64_t open(int64_t index);
  void remember(int64_t index);

  double per_cycle_;
  double capacity_;
  double taken_ = 0;
  int64_t first_ = 0;  // the oldest window that is remembered; earlier ones count as full
  std::vector<Window> windows_;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_SHARED_RATE_H_

// SPDX-License-Identifier: Apache-2.0
#include "shared_rate.h"

#include <algorithm>
#include <cmath>

namespace tvm_ascend::sim {

int64_t SharedRate::take(int64_t start, double units) {
  if (units <= 0) return start;
  taken_ += units;
  const double alone = static_cast<double>(start) + units / per_cycle_;
  for (int64_t index = start / kWindowCycles;; ++index) {
    index = open(index);
    Window& window = this->window(index);
    const int64_t end = (index + 1) * kWindowCycles;
    const double left = per_cycle_ * static_cast<double>(std::min(kWindowCycles, end - start));
    const double room = std::min(capacity_ - window.taken, left);
    if (room < units) {
      window.taken += room;
      units -= room;
      if (window.taken >= capacity_) window.next = index + 1;
      continue;
    }
    window.taken += units;
    if (window.taken >= capacity_) window.next = index + 1;
    const double done = static_cast<double>(index * kWindowCycles) + window.taken / per_cycle_;
    return static_cast<int64_t>(std::ceil(std::max(alone, done)));
  }
}

int64_t SharedRate::open(int64_t index) {
  index = std::max(index, first_);
  remember(index);
  while (window(index).next > index) {
    // Halving the path keeps long full stretches cheap to skip.
    Window& from = window(index);
    const int64_t next = from.next;
    remember(next);
    if (next >= first_ && window(next).next > next) from.next = window(next).next;
    index = std::max(next, first_);
  }
  return index;
}

void SharedRate::remember(int64_t index) {
  const int64_t last = first_ + kWindows;
  if (index < last) return;
  const int64_t first = index - kWindows + 1;
  for (int64_t i = std::max(last, first); i <= index; ++i) window(i) = Window();
  if (first >= last) std::fill(windows_.begin(), windows_.end(), Window());
  first_ = first;
}

}  // namespace tvm_ascend::sim

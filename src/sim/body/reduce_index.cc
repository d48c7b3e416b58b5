// SPDX-License-Identifier: Apache-2.0
// ReduceRepeat of a maximum or minimum with its lane number, the lowest of equal ones.
#include <cstring>

#include "reduce.h"

namespace tvm_ascend::sim {

namespace {

enum Order : int64_t { kValueIndex, kIndexValue, kOnlyIndex };  // the order of the row's values

Order order_of(const Call& call) { return static_cast<Order>(call.params[call.op->n_params - 1]); }

// Bytes of one result: two elements, or one uint32.
int64_t unit(const Call& call) {
  return order_of(call) == kOnlyIndex ? static_cast<int64_t>(sizeof(uint32_t))
                                      : 2 * call.itemsize(0);
}

void access(const Call& call, AccessList& list) {
  if (!check_mask(call, list)) return;
  if (call.operands[0] % unit(call) != 0)
    list.fault("dst is not at a multiple of " + std::to_string(unit(call)) + " bytes");
  masked_access(call, 1, AccessKind::Read, list);
  if (LaneRuns(call).empty()) return;
  list.add(AccessKind::Write, 0, 0, unit(call), masked_repeats(call),
           dst_repeat(call) * unit(call));
}

template <typename T>
bool is_nan(T value) {
  const auto wide = float(value);
  return wide != wide;
}

// The first active lane that holds the result.
template <typename T>
int64_t find(const Lanes<T>& lanes, T result) {
  for (int64_t i = 0; i < lanes.kCount; ++i) {
    if (!lanes.active[i]) continue;
    if (is_nan(result) ? is_nan(lanes.value[i]) : float(lanes.value[i]) == float(result)) return i;
  }
  return 0;
}

template <typename T>
void store(uint8_t* dst, Order order, T value, int64_t lane) {
  if (order == kOnlyIndex) {
    const auto index = static_cast<uint32_t>(lane);
    std::memcpy(dst, &index, sizeof(index));
    return;
  }
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
  const auto index = static_cast<Bits>(lane);
  std::memcpy(dst + (order == kValueIndex ? 0 : sizeof(T)), &value, sizeof(T));
  std::memcpy(dst + (order == kValueIndex ? sizeof(T) : 0), &index, sizeof(index));
}

template <typename Op>
void run(Call& call, Memories& memories) {
  by_float(call, [&](auto zero) {
    using T = decltype(zero);
    uint8_t* dst = memories.operand<uint8_t>(call, 0);
    each_repeat<T>(call, memories, [&](int64_t repeat, Lanes<T>& lanes) {
      const Lanes<T> before = lanes;
      if (!lanes.template reduce<Op>(0, lanes.kCount)) return;
      const int64_t lane = find(before, lanes.value[0]);
      store(dst + repeat * dst_repeat(call) * unit(call), order_of(call),
            result_of(call, lanes.value[0]), lane);
    });
  });
}

}  // namespace

extern const Body body_reduce_index_max;
extern const Body body_reduce_index_min;
const Body body_reduce_index_max{access, run<Largest>};
const Body body_reduce_index_min{access, run<Smallest>};

}  // namespace tvm_ascend::sim

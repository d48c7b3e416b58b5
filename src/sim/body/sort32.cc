// SPDX-License-Identifier: Apache-2.0
// Sort32: every 32 scores, from high to low, with their indices.
#include <algorithm>
#include <array>
#include <cstring>

#include "records.h"

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kGroup = 32;
enum { kDst, kScore, kIndex };

void access(const Call& call, AccessList& list) {
  const int64_t count = call.params[0] * kGroup;
  list.add(AccessKind::Read, kScore, 0, count * call.itemsize(kScore));
  list.add(AccessKind::Read, kIndex, 0, count * call.itemsize(kIndex));
  list.add(AccessKind::Write, kDst, 0, count * kRecordBytes);
  no_overlap(call, list);
}

void run(Call& call, Memories& memories) {
  const int64_t size = call.itemsize(kScore);
  const bool half = size == 2;
  auto* dst = memories.operand<Record>(call, kDst);
  const auto* score = memories.operand<const uint8_t>(call, kScore);
  const auto* index = memories.operand<const uint32_t>(call, kIndex);
  for (int64_t group = 0; group < call.params[0]; ++group) {
    std::array<Record, kGroup> records{};
    for (int64_t i = 0; i < kGroup; ++i) {
      std::memcpy(&records[i].score, score + (group * kGroup + i) * size, size);
      records[i].index = index[group * kGroup + i];
    }
    std::stable_sort(records.begin(), records.end(), [half](const Record& a, const Record& b) {
      return sort_key(a.score, half) > sort_key(b.score, half);
    });
    std::copy(records.begin(), records.end(), dst + group * kGroup);
  }
}

}  // namespace

extern const Body body_sort32;
const Body body_sort32{access, run};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// MrgSort: two to four sorted lists of records become one.
#include <array>
#include <cstring>

#include "records.h"

namespace tvm_ascend::sim {

namespace {

constexpr int kLists = 4;
enum { kLength, kSuspend = kLists, kValid, kRepeat };
using Counts = std::array<int64_t, kLists>;

int lists(const Call& call) {
  return call.params[kValid] == 3 ? 2 : call.params[kValid] == 7 ? 3 : kLists;
}

Counts lengths(const Call& call) {
  Counts out{};
  for (int i = 0; i < lists(call); ++i) out[i] = call.params[kLength + i];
  return out;
}

int64_t total(const Counts& counts) {
  int64_t sum = 0;
  for (int64_t count : counts) sum += count;
  return sum;
}

// Merges one repetition; calls take(list, position) for each record in order.
template <typename Take>
void merge(const Call& call, const Memories& memories, int64_t repeat, Take take) {
  const Counts ends = lengths(call);
  const bool half = call.itemsize(0) == 2;
  const int64_t skip = repeat * total(ends);
  Counts at{};
  auto key = [&](int list) {
    return sort_key(memories.operand<const Record>(call, 1 + list)[skip + at[list]].score, half);
  };
  for (int64_t left = total(ends); left > 0; --left) {
    int best = -1;
    for (int list = 0; list < lists(call); ++list) {
      if (at[list] < ends[list] && (best < 0 || key(list) > key(best))) best = list;
    }
    take(best, skip + at[best]);
    if (++at[best] == ends[best] && call.params[kSuspend] != 0) return;
  }
}

bool legal(const Call& call, AccessList& list) {
  const int64_t valid = call.params[kValid];
  if (valid != 3 && valid != 7 && valid != 15) {
    list.fault("valid_bit is " + std::to_string(valid) + "; it must be 3, 7 or 15");
    return false;
  }
  const Counts counts = lengths(call);
  if (call.params[kRepeat] <= 1) return true;
  bool contiguous = true;
  for (int i = 1; i < kLists; ++i) {
    contiguous = contiguous && counts[i] == counts[0] &&
                 call.operands[1 + i] == call.operands[i] + counts[0] * kRecordBytes;
  }
  if (valid == 15 && call.params[kSuspend] == 0 && contiguous) return true;
  list.fault("repeats need four lists of one length, one after the other, without suspend");
  return false;
}

void access(const Call& call, AccessList& list) {
  if (!legal(call, list)) return;
  const Counts counts = lengths(call);
  for (int i = 0; i < lists(call); ++i) {
    list.add(AccessKind::Read, 1 + i, 0, counts[i] * kRecordBytes, call.params[kRepeat],
             total(counts) * kRecordBytes);
  }
}

void data_access(const Call& call, const Memories* memories, AccessList& list) {
  if (!list.fault().empty()) return;
  int64_t merged = total(lengths(call)) * call.params[kRepeat];
  if (call.params[kSuspend] != 0 && memories != nullptr && merged > 0) {
    merged = 0;
    merge(call, *memories, 0, [&](int, int64_t) { ++merged; });
  }
  list.add(AccessKind::Write, 0, 0, merged * kRecordBytes);
  no_overlap(call, list);
}

void run(Call& call, Memories& memories) {
  auto* dst = memories.operand<Record>(call, 0);
  for (int64_t repeat = 0; repeat < call.params[kRepeat]; ++repeat) {
    merge(call, memories, repeat, [&](int list, int64_t at) {
      *dst++ = memories.operand<const Record>(call, 1 + list)[at];
    });
  }
}

}  // namespace

extern const Body body_mrg_sort;
const Body body_mrg_sort{access, run, nullptr, nullptr, nullptr, data_access};

}  // namespace tvm_ascend::sim

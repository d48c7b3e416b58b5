// SPDX-License-Identifier: Apache-2.0
// GatherMask: packs the elements that a pattern chooses.
#include <cstring>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kBits = 8;
constexpr int64_t kMaxElements = 65535 * kRepeatBytes / 2;  // what repeats could name at most
constexpr int64_t kEnough = 1 << 20;                        // bytes of dst that no UB has
enum { kDst, kSrc, kPattern };
enum { kReduceMode, kMask, kSrcBlk, kRepeat, kSrcRep, kPatternRep };

bool fixed(const Call& call) { return call.op->n_operands == 2; }
int64_t param(const Call& call, int i) { return call.params[i + (fixed(call) ? 1 : 0)]; }
int64_t lanes_of(const Call& call) { return kRepeatBytes / call.itemsize(kSrc); }

int64_t elements(const Call& call) {
  return param(call, kReduceMode) != 0 ? param(call, kMask) : param(call, kRepeat) * lanes_of(call);
}

int64_t source_at(const Call& call, int64_t element) {
  const int64_t byte = element % lanes_of(call) * call.itemsize(kSrc);
  const int64_t block =
      element / lanes_of(call) * param(call, kSrcRep) + byte / kBlockBytes * param(call, kSrcBlk);
  return block * kBlockBytes + byte % kBlockBytes;
}

int64_t pattern_byte(const Call& call, int64_t element) {
  return element / lanes_of(call) * param(call, kPatternRep) * kBlockBytes +
         element % lanes_of(call) / kBits;
}

// Without data (null) a tensor pattern chooses nothing.
bool chosen(const Call& call, const Memories* memories, int64_t element) {
  if (fixed(call)) {
    const int64_t pattern = call.params[0];
    if (pattern <= 2) return element % 2 == pattern - 1;
    return pattern == 7 || element % 4 == pattern - 3;
  }
  if (memories == nullptr) return false;
  const uint8_t byte =
      memories->operand<const uint8_t>(call, kPattern)[pattern_byte(call, element)];
  return (byte >> (element % kBits) & 1) != 0;
}

void access(const Call& call, AccessList& list) {
  if (elements(call) > kMaxElements) {
    list.fault("mask " + std::to_string(param(call, kMask)) + " is more than 65535 repeats");
    return;
  }
  if (fixed(call)) return;
  const int64_t lanes = lanes_of(call);
  const int64_t whole = elements(call) / lanes;
  const int64_t pitch = param(call, kPatternRep) * kBlockBytes;
  list.add(AccessKind::Read, kPattern, 0, lanes / kBits, whole, pitch);
  list.add(AccessKind::Read, kPattern, whole * pitch, div_up(elements(call) % lanes, kBits));
}

void data_access(const Call& call, const Memories* memories, AccessList& list) {
  const int64_t size = call.itemsize(kSrc);
  const bool unknown = !fixed(call) && memories == nullptr;
  int64_t kept = 0;
  int64_t start = 0;
  int64_t bytes = 0;
  if (!list.fault().empty()) return;
  for (int64_t i = 0; i < elements(call) && kept * size < kEnough; ++i) {
    if (!unknown && !chosen(call, memories, i)) continue;
    ++kept;
    const int64_t at = source_at(call, i);
    if (bytes > 0 && at == start + bytes) {
      bytes += size;
      continue;
    }
    list.add(AccessKind::Read, kSrc, start, bytes);
    start = at;
    bytes = size;
  }
  list.add(AccessKind::Read, kSrc, start, bytes);
  list.add(AccessKind::Write, kDst, 0, kept * size);
  no_overlap(call, list);
}

void run(Call& call, Memories& memories) {
  const int64_t size = call.itemsize(kSrc);
  auto* dst = memories.operand<uint8_t>(call, kDst);
  const auto* src = memories.operand<const uint8_t>(call, kSrc);
  int64_t kept = 0;
  for (int64_t i = 0; i < elements(call); ++i) {
    if (chosen(call, &memories, i))
      std::memcpy(dst + kept++ * size, src + source_at(call, i), size);
  }
  call.result = kept;
}

}  // namespace

extern const Body body_gather_mask;
const Body body_gather_mask{access, run, nullptr, nullptr, nullptr, data_access};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// Gather and Gatherb: elements or blocks at byte offsets that are data.
#include <algorithm>
#include <cstring>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum { kDst, kSrc, kOffset };
constexpr int64_t kBlocksPerRepeat = kRepeatBytes / kBlockBytes;

// Calls visit(dst byte, index of the offset) for every element.
template <typename Visit>
void each_element(const Call& call, Visit visit) {
  const OpInfo& op = *call.op;
  const int64_t size = call.itemsize(kDst);
  const int64_t lanes = kRepeatBytes / size;
  const bool flat = op.count >= 0;
  const int64_t count = flat ? call.params[op.count] : call.params[op.mask];
  for (int64_t repeat = 0; repeat < (flat ? 1 : call.params[op.repeat]); ++repeat) {
    const int64_t base = flat ? 0 : repeat * repeat_stride(call, kDst) * kBlockBytes;
    for (int64_t i = 0; i < count; ++i) visit(base + i * size, repeat * lanes + i);
  }
}

template <typename Visit>
void each_block(const Call& call, Visit visit) {
  for (int64_t i = 0; i < call.params[call.op->repeat] * kBlocksPerRepeat; ++i) {
    const int64_t block = i / kBlocksPerRepeat * repeat_stride(call, kDst) +
                          i % kBlocksPerRepeat * block_stride(call, kDst);
    visit(block * kBlockBytes, i);
  }
}

int64_t offset_at(const Call& call, const Memories& memories, int64_t index) {
  return memories.operand<const uint32_t>(call, kOffset)[index];
}

void access(const Call& call, AccessList& list) {
  const OpInfo& op = *call.op;
  const int64_t size = call.itemsize(kDst);
  const auto offset_size = static_cast<int64_t>(sizeof(uint32_t));
  if (op.count >= 0) {
    list.add(AccessKind::Write, kDst, 0, call.params[op.count] * size);
    list.add(AccessKind::Read, kOffset, 0, call.params[op.count] * offset_size);
    return;
  }
  if (call.params[op.mask] * size > kRepeatBytes) {
    list.fault("mask " + std::to_string(call.params[op.mask]) + " is more than the " +
               std::to_string(kRepeatBytes / size) + " lanes of " + name_of(call.dtype(kDst)) +
               " in a repeat");
    return;
  }
  const int64_t repeats = call.params[op.repeat];
  list.add(AccessKind::Write, kDst, 0, call.params[op.mask] * size, repeats,
           repeat_stride(call, kDst) * kBlockBytes);
  list.add(AccessKind::Read, kOffset, 0, call.params[op.mask] * offset_size, repeats,
           kRepeatBytes / size * offset_size);
}

void data_access(const Call& call, const Memories* memories, AccessList& list) {
  if (memories == nullptr || !list.fault().empty()) return;
  const int64_t size = call.itemsize(kSrc);
  each_element(call, [&](int64_t, int64_t index) {
    const int64_t at = call.params[0] + offset_at(call, *memories, index);
    if (at % size != 0)
      list.fault("offset " + std::to_string(at) + " is no multiple of " + std::to_string(size));
    list.add(AccessKind::Read, kSrc, at, size);
  });
}

void run(Call& call, Memories& memories) {
  const int64_t size = call.itemsize(kDst);
  each_element(call, [&](int64_t to, int64_t index) {
    const int64_t from = call.params[0] + offset_at(call, memories, index);
    std::memcpy(memories.operand<uint8_t>(call, kDst) + to,
                memories.operand<const uint8_t>(call, kSrc) + from, size);
  });
}

void block_access(const Call& call, AccessList& list) {
  const int64_t repeats = call.params[call.op->repeat];
  list.add(AccessKind::Write, kDst, 0, kBlockBytes, kBlocksPerRepeat,
           block_stride(call, kDst) * kBlockBytes, repeats,
           repeat_stride(call, kDst) * kBlockBytes);
  list.add(AccessKind::Read, kOffset, 0,
           repeats * kBlocksPerRepeat * static_cast<int64_t>(sizeof(uint32_t)));
}

void block_data_access(const Call& call, const Memories* memories, AccessList& list) {
  if (memories == nullptr) return;
  each_block(call, [&](int64_t, int64_t index) {
    const int64_t at = offset_at(call, *memories, index);
    if (at % kBlockBytes != 0) list.fault("offset " + std::to_string(at) + " is no multiple of 32");
    list.add(AccessKind::Read, kSrc, at, kBlockBytes);
  });
}

void block_run(Call& call, Memories& memories) {
  each_block(call, [&](int64_t to, int64_t index) {
    std::memcpy(memories.operand<uint8_t>(call, kDst) + to,
                memories.operand<const uint8_t>(call, kSrc) + offset_at(call, memories, index),
                kBlockBytes);
  });
}

}  // namespace

extern const Body body_gather;
extern const Body body_gatherb;
const Body body_gather{access, run, nullptr, nullptr, nullptr, data_access};
const Body body_gatherb{block_access, block_run, nullptr, nullptr, nullptr, block_data_access};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <algorithm>

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kAlignment = 64;
constexpr uint8_t kFreshByte = 0xFF;

// Bits [low, high) of a block's word, as byte offsets clipped to the block.
uint32_t block_mask(int64_t block, int64_t low, int64_t high) {
  const int64_t first = std::max<int64_t>(0, low - block * kBlockBytes);
  const int64_t last = std::min(kBlockBytes, high - block * kBlockBytes);
  return (~0U << first) & (~0U >> (kBlockBytes - last));
}

}  // namespace

Memories::Memories(const SpaceBytes& bytes) {
  for (int i = 0; i < kSpaces; ++i) {
    if (bytes[i] == 0) continue;
    bytes_[i].assign(bytes[i] + kAlignment, kFreshByte);
    const auto start = reinterpret_cast<uintptr_t>(bytes_[i].data());
    base_[i] = (start + kAlignment - 1) / kAlignment * kAlignment;
  }
}

PoisonMap::PoisonMap(int64_t bytes) : masks_((bytes + kBlockBytes - 1) / kBlockBytes, ~0U) {}

int64_t PoisonMap::find(int64_t low, int64_t high) const {
  constexpr int64_t kAtOnce = 16;  // words that are looked at together
  const int64_t last = (high + kBlockBytes - 1) / kBlockBytes;
  for (int64_t block = low / kBlockBytes; block < last;) {
    if (block + kAtOnce <= last) {
      uint32_t any = 0;
      for (int64_t i = 0; i < kAtOnce; ++i) any |= masks_[block + i];
      if (any == 0) {
        block += kAtOnce;
        continue;
      }
    }
    const uint32_t bad = masks_[block] & block_mask(block, low, high);
    if (bad != 0) return block * kBlockBytes + __builtin_ctz(bad);
    ++block;
  }
  return -1;
}

void PoisonMap::set(int64_t low, int64_t high, bool undefined) {
  const auto set_block = [&](int64_t block) {
    const uint32_t mask = block_mask(block, low, high);
    masks_[block] = undefined ? masks_[block] | mask : masks_[block] & ~mask;
  };
  if (low >= high) return;
  const int64_t first = low / kBlockBytes;
  const int64_t last = (high - 1) / kBlockBytes;
  set_block(first);
  if (last == first) return;
  std::fill(masks_.begin() + first + 1, masks_.begin() + last, undefined ? ~0U : 0U);
  set_block(last);
}

PoisonMaps::PoisonMaps(const SpaceBytes& bytes) {
  for (int i = 0; i < kSpaces; ++i) maps_[i] = PoisonMap(bytes[i]);
}

void PoisonMaps::copy(Space to, int64_t dst, Space from, int64_t src, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kBlockBytes) {
    const int64_t end = std::min(at + kBlockBytes, bytes);
    if (find(from, src + at, src + end) < 0) {
      set(to, dst + at, dst + end, false);
      continue;
    }
    for (int64_t byte = at; byte < end; ++byte)
      set(to, dst + byte, dst + byte + 1, get(from, src + byte));
  }
}

}  // namespace tvm_ascend::sim

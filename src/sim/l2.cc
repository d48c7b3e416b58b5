// SPDX-License-Identifier: Apache-2.0
#include "l2.h"

#include <algorithm>

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kLineSectors = kLineBytes / kSectorBytes;

int64_t bytes_of(uint64_t sectors) { return __builtin_popcountll(sectors) * kSectorBytes; }

// A bit for the first sector of each line that has one of those.
uint64_t lines_of(uint64_t sectors) {
  uint64_t first = 0;
  for (int64_t i = 0; i < 64; i += kLineSectors) first |= uint64_t{1} << i;
  uint64_t lines = 0;
  for (int64_t i = 0; i < kLineSectors; ++i) lines |= sectors >> i & first;
  return lines;
}

int64_t line_bytes_of(uint64_t sectors) {
  return __builtin_popcountll(lines_of(sectors)) * kLineBytes;
}

}  // namespace

L2::L2(const GlobalMemory& gm, const Start& start)
    : gm_(gm),
      capacity_(start.capacity),
      warm_(std::min(start.warm, start.capacity)),
      dirty_share_(start.dirty_share),
      foreign_(capacity_ - warm_) {
  std::vector<int64_t> bytes;
  for (const GmArg& arg : gm.args()) {
    if (static_cast<size_t>(arg.region) >= bytes.size()) bytes.resize(arg.region + 1);
    int64_t& region = bytes[arg.region];
    region = std::max(region, gm.offset(arg) + arg.bytes);
  }
  uint32_t groups = 0;
  for (int64_t region : bytes) {
    first_.push_back(groups);
    groups += static_cast<uint32_t>((region + kGroupBytes - 1) / kGroupBytes);
  }
  groups_.resize(groups);
}

template <typename Visit>
void L2::each_group(const GmArg& arg, int64_t low, int64_t high, Visit visit) {
  const int64_t base = gm_.offset(arg);
  int64_t sector = (base + low) / kSectorBytes;
  const int64_t end = (base + high + kSectorBytes - 1) / kSectorBytes;
  while (sector < end) {
    const int64_t group = sector / kGroupSectors;
    const int64_t stop = std::min(end, (group + 1) * kGroupSectors);
    const uint64_t ones = ~uint64_t{0} >> (kGroupSectors - (stop - sector));
    visit(first_[arg.region] + static_cast<uint32_t>(group), ones << sector % kGroupSectors);
    sector = stop;
  }
}

void L2::read(const GmArg& arg, int64_t low, int64_t high, L2Traffic* traffic) {
  const bool aligned = (gm_.offset(arg) + low) % kSectorBytes == 0;
  each_group(arg, low, high, [&](uint32_t index, uint64_t sectors) {
    uint64_t missing = sectors & ~groups_[index].held;
    if (missing != 0 && warm_ > 0) {
      warm_ -= line_bytes_of(missing);
      groups_[index].dirty |= missing;
      hold(index, missing, traffic);
      missing = 0;
    }
    traffic->hits += bytes_of(sectors & ~missing);
    traffic->misses += bytes_of(missing);
    traffic->hbm_read += aligned ? bytes_of(missing) : line_bytes_of(missing);
    traffic->lines += line_bytes_of(missing) / kLineBytes;
    if (missing != 0) hold(index, missing, traffic);
    use(index);
  });
}

void L2::write(const GmArg& arg, int64_t low, int64_t high, L2Traffic* traffic) {
  each_group(arg, low, high, [&](uint32_t index, uint64_t sectors) {
    const uint64_t missing = sectors & ~groups_[index].held;
    if (missing != 0) hold(index, missing, traffic);
    traffic->written += bytes_of(sectors);
    groups_[index].dirty |= sectors;
    use(index);
  });
}

void L2::hold(uint32_t index, uint64_t sectors, L2Traffic* traffic) {
  Group& group = groups_[index];
  used_ -= line_bytes_of(group.held);
  group.held |= sectors;
  used_ += line_bytes_of(group.held);
  use(index);
  const int64_t left = std::max<int64_t>(0, std::min(foreign_, capacity_ - used_));
  traffic->hbm_written += dirty_of(foreign_) - dirty_of(left);
  foreign_ = left;
  while (used_ > capacity_ && oldest_ != index) evict(traffic);
}

int64_t L2::dirty_of(int64_t foreign) const {
  return static_cast<int64_t>(static_cast<double>(foreign) * dirty_share_);
}

void L2::use(uint32_t index) {
  if (newest_ == index) return;
  unlink(index);
  Group& group = groups_[index];
  group.older = newest_;
  if (newest_ != kNone) groups_[newest_].newer = index;
  newest_ = index;
  if (oldest_ == kNone) oldest_ = index;
}

void L2::unlink(uint32_t index) {
  Group& group = groups_[index];
  if (group.newer != kNone) groups_[group.newer].older = group.older;
  if (group.older != kNone) groups_[group.older].newer = group.newer;
  if (oldest_ == index) oldest_ = group.newer;
  if (newest_ == index) newest_ = group.older;
  group.newer = group.older = kNone;
}

void L2::evict(L2Traffic* traffic) {
  const uint32_t index = oldest_;
  unlink(index);
  Group& group = groups_[index];
  used_ -= line_bytes_of(group.held);
  traffic->hbm_written += bytes_of(group.dirty);
  group.held = group.dirty = 0;
}

}  // namespace tvm_ascend::sim

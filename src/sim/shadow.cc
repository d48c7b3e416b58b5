// SPDX-License-Identifier: Apache-2.0
#include "shadow.h"

#include <algorithm>

namespace tvm_ascend::sim {

// Whether the earlier access is ordered; else adds the conflict.
bool Shadow::check(Visit& visit, const Conflict& conflict) {
  const Stamp earlier = conflict.earlier;
  const Accessor& by = visit.by_;
  if (earlier.empty() || earlier == by.stamp || by.follows(earlier, conflict.earlier_writes))
    return true;
  if (conflict.earlier_writes && earlier == by.excused) return true;
  std::vector<Conflict>& found = *visit.conflicts_;
  auto same = [&](const Conflict& c) {
    return c.earlier == earlier && c.earlier_writes == conflict.earlier_writes &&
           c.later_writes == conflict.later_writes;
  };
  auto at = std::find_if(found.begin(), found.end(), same);
  if (at == found.end()) {
    found.push_back(conflict);
  } else if (at->high == conflict.low) {
    at->high = conflict.high;
  }
  return false;
}

// Reads do not race with reads, and atomic stores need no order among each other.
void Shadow::check_others(Visit& visit, const Stamps& others, bool write, int64_t low,
                          int64_t high) {
  if (others == visit.ordered_) return;
  const bool combines = write && visit.by_.stamp.atomic();
  bool ordered = true;
  for (Stamp earlier : *others) {
    if (earlier.atomic() ? combines : !write) continue;
    ordered = check(visit, {earlier, earlier.atomic(), write, low, high}) && ordered;
  }
  if (ordered) visit.ordered_ = others;
}

// Puts a stamp among the others, in place of an older one of its source.
void Shadow::join(Visit& visit, Cell& cell, Stamp stamp) {
  if (!(stamp == visit.joined_read_ && cell.others == visit.joined_others_) || !visit.joined_) {
    auto stamps = std::make_shared<std::vector<Stamp>>();
    if (cell.others) {
      stamps->reserve(cell.others->size() + 1);
      for (Stamp other : *cell.others) {
        if (!other.same_source(stamp) && !other.same_source(visit.by_.stamp))
          stamps->push_back(other);
      }
    }
    stamps->push_back(stamp);
    visit.joined_read_ = stamp;
    visit.joined_others_ = cell.others;
    visit.joined_ = std::move(stamps);
  }
  cell.others = visit.joined_;
}

template <bool kWrite>
inline void Shadow::touch(Visit& visit, Cell& cell, int64_t low, int64_t high) {
  const Stamp stamp = visit.by_.stamp;
  if (!(cell.write == visit.ordered_write_) && check(visit, {cell.write, true, kWrite, low, high}))
    visit.ordered_write_ = cell.write;
  if (cell.others) check_others(visit, cell.others, kWrite, low, high);
  if constexpr (kWrite) {
    if (!(cell.read == visit.ordered_read_) && check(visit, {cell.read, false, true, low, high}))
      visit.ordered_read_ = cell.read;
    if (stamp.atomic()) {
      join(visit, cell, stamp);
    } else {
      cell.write = stamp;
      cell.read = Stamp();
      if (cell.others) cell.others.reset();
    }
  } else {
    if (!cell.read.empty() && !cell.read.same_source(stamp)) join(visit, cell, cell.read);
    cell.read = stamp;
  }
}

Shadow::Page& Shadow::page(int64_t index) {
  std::unique_ptr<Page>& page = pages_[index];
  if (!page) page = std::make_unique<Page>();
  return *page;
}

// Whole chunks whose bytes are alike are the common case.
template <bool kWrite>
void Shadow::access(Visit& visit, int64_t low, int64_t high) {
  for (int64_t at = low; at < high;) {
    Page& page = this->page(at / kPageBytes);
    const int64_t chunk = at / kFractalBytes % kPageChunks;
    const int64_t last = std::min(high, (at / kFractalBytes + 1) * kFractalBytes);
    if (last - at == kFractalBytes && !page.mixed[chunk]) {
      touch<kWrite>(visit, page.chunks[chunk], at, last);
    } else {
      touch_blocks<kWrite>(visit, page, chunk, at, last);
    }
    at = last;
  }
}

template <bool kWrite>
void Shadow::touch_blocks(Visit& visit, Page& page, int64_t chunk, int64_t low, int64_t high) {
  if (!page.blocks) page.blocks = std::make_unique<Blocks>();
  Cell* cells = &(*page.blocks)[chunk * kChunkBlocks];
  if (!page.mixed[chunk]) std::fill_n(cells, kChunkBlocks, page.chunks[chunk]);
  page.mixed[chunk] = true;
  for (int64_t at = low; at < high;) {
    const int64_t block = at / kBlockBytes % kPageBlocks;
    const int64_t last = std::min(high, (at / kBlockBytes + 1) * kBlockBytes);
    if (last - at == kBlockBytes && (page.split.empty() || !page.split[block])) {
      touch<kWrite>(visit, (*page.blocks)[block], at, last);
    } else {
      touch_bytes<kWrite>(visit, page, block, at, last);
    }
    at = last;
  }
  // What an atomic store leaves depends on what was there.
  if (!kWrite || high - low < kFractalBytes || visit.by_.stamp.atomic()) return;
  page.chunks[chunk] = *cells;
  page.mixed[chunk] = false;
}

template <bool kWrite>
void Shadow::touch_bytes(Visit& visit, Page& page, int64_t block, int64_t low, int64_t high) {
  if (page.split.empty()) page.split.resize(kPageBlocks);
  std::unique_ptr<Bytes>& split = page.split[block];
  if (!split) {
    split = std::make_unique<Bytes>();
    split->fill((*page.blocks)[block]);
  }
  for (int64_t at = low; at < high; ++at) {
    touch<kWrite>(visit, (*split)[at % kBlockBytes], at, at + 1);
  }
  if (!kWrite || high - low < kBlockBytes || visit.by_.stamp.atomic()) return;
  (*page.blocks)[block] = (*split)[0];
  split.reset();
}

void Shadow::read(Visit& visit, int64_t low, int64_t high) { access<false>(visit, low, high); }

void Shadow::write(Visit& visit, int64_t low, int64_t high) { access<true>(visit, low, high); }

Stamp Shadow::writer(int64_t address) const {
  const std::unique_ptr<Page>& page = pages_[address / kPageBytes];
  if (!page) return Stamp();
  const int64_t index = address / kBlockBytes % kPageBlocks;
  if (!page->mixed[index / kChunkBlocks]) return page->chunks[index / kChunkBlocks].write;
  if (page->split.empty() || !page->split[index]) return (*page->blocks)[index].write;
  return (*page->split[index])[address % kBlockBytes].write;
}

}  // namespace tvm_ascend::sim

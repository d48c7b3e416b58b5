// SPDX-License-Identifier: Apache-2.0
#include "shadow.h"

#include <algorithm>

namespace tvm_ascend::sim {

int Shadow::reader_slot(Space space, Pipe pipe) {
  switch (space) {
    case Space::GM:
      return pipe == Pipe::MTE2 ? 0 : 1;
    case Space::UB:
      return pipe == Pipe::V ? 0 : pipe == Pipe::MTE3 ? 1 : 2;
    case Space::L1:
      return pipe == Pipe::MTE1 ? 0 : pipe == Pipe::MTE3 ? 1 : 2;
    default:
      return pipe == Pipe::M ? 0 : pipe == Pipe::FIX ? 1 : 2;
  }
}

void Shadow::check(Visit& visit, const Conflict& conflict) {
  const Stamp earlier = conflict.earlier;
  Stamp& ordered = conflict.earlier_writes ? visit.ordered_write : visit.ordered_read;
  if (earlier.empty() || earlier == ordered) return;
  if (earlier == visit.by.stamp || visit.by.follows(earlier, conflict.earlier_writes)) {
    ordered = earlier;
    return;
  }
  std::vector<Conflict>& found = *visit.conflicts;
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
}

template <bool kWrite>
inline void Shadow::touch(Visit& visit, Cell& cell, int64_t low, int64_t high) {
  const Accessor& by = visit.by;
  const bool combines = kWrite && by.stamp.atomic();
  if (!(cell.write == visit.ordered_write) && !(combines && cell.write.atomic()))
    check(visit, {cell.write, true, kWrite, low, high});
  Stamp& other = cell.reads[kOtherCore];
  if constexpr (kWrite) {
    for (Stamp read : cell.reads) {
      if (!read.empty() && !(read == visit.ordered_read) && !(combines && read.atomic())) {
        check(visit, {read, read.atomic(), true, low, high});
      }
    }
    const Stamp kept = !combines || !cell.write.atomic()      ? Stamp()
                       : cell.write.core() != by.stamp.core() ? cell.write
                                                              : other;
    cell.write = by.stamp;
    cell.reads = {};
    other = kept;
  } else {
    if (other.atomic()) check(visit, {other, true, false, low, high});
    Stamp& mine = cell.reads[by.reader_slot];
    if (mine.core() != by.stamp.core() && !mine.empty() && !other.atomic()) other = mine;
    if (&mine != &other || !other.atomic()) mine = by.stamp;
  }
}

Shadow::Page& Shadow::page(int64_t index) {
  std::unique_ptr<Page>& page = pages_[index];
  if (!page) page = std::make_unique<Page>();
  return *page;
}

// Whole chunks whose bytes are alike are the common case.
template <bool kWrite>
void Shadow::access(const Accessor& by, int64_t low, int64_t high,
                    std::vector<Conflict>* conflicts) {
  Visit visit{by, by.excused, Stamp(), conflicts};
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
  Cell* cells = &page.cells[chunk * kChunkBlocks];
  if (!page.mixed[chunk]) std::fill_n(cells, kChunkBlocks, page.chunks[chunk]);
  page.mixed[chunk] = true;
  for (int64_t at = low; at < high;) {
    const int64_t block = at / kBlockBytes % kPageBlocks;
    const int64_t last = std::min(high, (at / kBlockBytes + 1) * kBlockBytes);
    if (last - at == kBlockBytes && (page.split.empty() || !page.split[block])) {
      touch<kWrite>(visit, page.cells[block], at, last);
    } else {
      touch_bytes<kWrite>(visit, page, block, at, last);
    }
    at = last;
  }
  // What an atomic store leaves depends on what was there.
  if (!kWrite || high - low < kFractalBytes || visit.by.stamp.atomic()) return;
  page.chunks[chunk] = *cells;
  page.mixed[chunk] = false;
}

template <bool kWrite>
void Shadow::touch_bytes(Visit& visit, Page& page, int64_t block, int64_t low, int64_t high) {
  if (page.split.empty()) page.split.resize(kPageBlocks);
  std::unique_ptr<Bytes>& split = page.split[block];
  if (!split) {
    split = std::make_unique<Bytes>();
    split->fill(page.cells[block]);
  }
  for (int64_t at = low; at < high; ++at) {
    touch<kWrite>(visit, (*split)[at % kBlockBytes], at, at + 1);
  }
  if (!kWrite || high - low < kBlockBytes) return;
  page.cells[block] = (*split)[0];
  split.reset();
}

void Shadow::read(const Accessor& by, int64_t low, int64_t high, std::vector<Conflict>* conflicts) {
  access<false>(by, low, high, conflicts);
}

void Shadow::write(const Accessor& by, int64_t low, int64_t high,
                   std::vector<Conflict>* conflicts) {
  access<true>(by, low, high, conflicts);
}

Stamp Shadow::writer(int64_t address) const {
  const std::unique_ptr<Page>& page = pages_[address / kPageBytes];
  if (!page) return Stamp();
  const int64_t index = address / kBlockBytes % kPageBlocks;
  if (!page->mixed[index / kChunkBlocks]) return page->chunks[index / kChunkBlocks].write;
  if (page->split.empty() || !page->split[index]) return page->cells[index].write;
  return (*page->split[index])[address % kBlockBytes].write;
}

}  // namespace tvm_ascend::sim

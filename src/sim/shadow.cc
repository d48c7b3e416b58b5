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
  const Epochs& known = conflict.earlier_writes ? visit.by.after_write : visit.by.after_read;
  const bool finished = earlier.epoch() <= known[static_cast<int>(earlier.pipe())];
  if (earlier == visit.by.stamp || (earlier.core() == visit.by.stamp.core() && finished)) {
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
void Shadow::touch(Visit& visit, Cell& cell, int64_t low, int64_t high) {
  const Accessor& by = visit.by;
  check(visit, {cell.write, true, kWrite, low, high});
  if constexpr (kWrite) {
    for (Stamp read : cell.reads) check(visit, {read, false, true, low, high});
    cell.write = by.stamp;
    cell.reads = {};
  } else {
    Stamp& mine = cell.reads[by.reader_slot];
    if (!mine.empty() && mine.core() != by.stamp.core()) cell.reads[kOtherCore] = mine;
    mine = by.stamp;
  }
}

Shadow::Page& Shadow::page(int64_t index) {
  std::unique_ptr<Page>& page = pages_[index];
  if (!page) page = std::make_unique<Page>();
  return *page;
}

template <bool kWrite>
void Shadow::access(const Accessor& by, int64_t low, int64_t high,
                    std::vector<Conflict>* conflicts) {
  Visit visit{by, by.excused, Stamp(), conflicts};
  for (int64_t block = low / kBlockBytes; block * kBlockBytes < high; ++block) {
    Page& page = this->page(block / kPageBlocks);
    const int64_t index = block % kPageBlocks;
    const int64_t first = std::max(low, block * kBlockBytes);
    const int64_t last = std::min(high, (block + 1) * kBlockBytes);
    const bool whole = last - first == kBlockBytes;
    Bytes* split = page.split.empty() ? nullptr : page.split[index].get();
    if (whole && split == nullptr) {
      touch<kWrite>(visit, page.cells[index], first, last);
      continue;
    }
    if (split == nullptr) {
      if (page.split.empty()) page.split.resize(kPageBlocks);
      page.split[index] = std::make_unique<Bytes>();
      split = page.split[index].get();
      split->fill(page.cells[index]);
    }
    for (int64_t byte = first; byte < last; ++byte)
      touch<kWrite>(visit, (*split)[byte % kBlockBytes], byte, byte + 1);
    if (kWrite && whole) {
      page.cells[index] = (*split)[0];
      page.split[index].reset();
    }
  }
}

void Shadow::read(const Accessor& by, int64_t low, int64_t high, std::vector<Conflict>* conflicts) {
  access<false>(by, low, high, conflicts);
}

void Shadow::write(const Accessor& by, int64_t low, int64_t high,
                   std::vector<Conflict>* conflicts) {
  access<true>(by, low, high, conflicts);
}

Stamp Shadow::writer(int64_t address) const {
  const int64_t block = address / kBlockBytes;
  const std::unique_ptr<Page>& page = pages_[block / kPageBlocks];
  if (!page) return Stamp();
  const int64_t index = block % kPageBlocks;
  if (page->split.empty() || !page->split[index]) return page->cells[index].write;
  return (*page->split[index])[address % kBlockBytes].write;
}

}  // namespace tvm_ascend::sim

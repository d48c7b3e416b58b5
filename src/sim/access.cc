// SPDX-License-Identifier: Apache-2.0
#include "access.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kBlocksPerRepeat = kRepeatBytes / kBlockBytes;
constexpr int64_t kWordBits = 64;

bool overlaps(int64_t a, int64_t a_bytes, int64_t b, int64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

DType widest_dtype(const Call& call) {
  DType widest = call.dtype(0);
  for (int i = 1; i < call.op->n_operands; ++i) {
    if (call.itemsize(i) > item_size(widest)) widest = call.dtype(i);
  }
  return widest;
}

// A run of equal pieces, `pitch` bytes apart, of one repeat.
struct Pieces {
  int64_t start;
  int64_t bytes;
  int64_t count;
  int64_t pitch;

  // Takes in another piece that continues the row; false if it does not.
  bool extend(int64_t from, int64_t size) {
    if (size != bytes || (count > 1 && from != start + count * pitch)) return false;
    pitch = from - start - (count - 1) * pitch;
    ++count;
    return true;
  }
};

// Splits the lanes of one repeat where an operand's blocks end, and joins what is evenly spaced.
void repeat_access(const Call& call, int operand, AccessKind kind, const LaneRuns& runs,
                   AccessList& list) {
  const int64_t size = call.itemsize(operand);
  const int64_t block = block_stride(call, operand) * kBlockBytes;
  const int64_t repeat = repeat_stride(call, operand) * kBlockBytes;
  const int64_t repeats = call.params[call.op->repeat];
  Pieces pieces{0, 0, 0, 0};
  auto flush = [&] {
    list.add(kind, operand, pieces.start, pieces.bytes, pieces.count, pieces.pitch, repeats,
             repeat);
  };
  for (const LaneRun& run : runs) {
    int64_t at = run.first * size;
    for (const int64_t end = at + run.count * size; at < end;) {
      const int64_t in_block = block == kBlockBytes ? end : (at / kBlockBytes + 1) * kBlockBytes;
      const int64_t bytes = std::min(end, in_block) - at;
      const int64_t start = at / kBlockBytes * block + at % kBlockBytes;
      if (!pieces.extend(start, bytes)) {
        flush();
        pieces = {start, bytes, 1, bytes};
      }
      at += bytes;
    }
  }
  flush();
}

// Blocks of one repeat: their index in units of 32 bytes.
int64_t block_at(const Call& call, int operand, int64_t repeat, int64_t block) {
  return call.operands[operand] / kBlockBytes + repeat * repeat_stride(call, operand) +
         block * block_stride(call, operand);
}

int64_t blocks_used(const Call& call, int operand) {
  const int64_t bytes = LaneRuns(call).lanes() * call.itemsize(operand);
  return (bytes + kBlockBytes - 1) / kBlockBytes;
}

bool accumulates_into(const Call& call, int source) {
  const OpInfo& op = *call.op;
  return op.accumulates && source == op.n_operands - 1 &&
         call.operands[source] == call.operands[0] && repeat_stride(call, source) == 0 &&
         repeat_stride(call, 0) == 0 && block_stride(call, source) == block_stride(call, 0);
}

std::string repeat_overlap(const Call& call, int source) {
  const int64_t repeats = call.params[call.op->repeat];
  const int64_t blocks = blocks_used(call, 0);
  auto reach = [&](int operand) {
    return block_at(call, operand, repeats - 1, blocks_used(call, operand) - 1) -
           block_at(call, operand, 0, 0) + 1;
  };
  if (!overlaps(block_at(call, 0, 0, 0), reach(0), block_at(call, source, 0, 0), reach(source)))
    return "";
  if (call.itemsize(0) != call.itemsize(source))
    return "dst and source of different widths overlap";
  if (accumulates_into(call, source)) return "";
  std::unordered_map<int64_t, int64_t> written;  // block -> first repeat that writes it
  for (int64_t r = 0; r < repeats; ++r) {
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t read = block_at(call, source, r, b);
      if (auto at = written.find(read); at != written.end() && at->second < r)
        return "dst of one repeat is a source of a later one";
      for (int64_t c = 0; c < blocks; ++c) {
        if (c != b && block_at(call, 0, r, c) == read)
          return "dst and source of one repeat overlap without coinciding";
      }
    }
    for (int64_t b = 0; b < blocks; ++b) written.emplace(block_at(call, 0, r, b), r);
  }
  return "";
}

std::string count_overlap(const Call& call, int source) {
  const int64_t count = call.params[call.op->count];
  const int64_t distance = call.operands[0] - call.operands[source];
  if (distance == 0 && call.itemsize(0) == call.itemsize(source)) return "";
  if (!overlaps(call.operands[0], count * call.itemsize(0), call.operands[source],
                count * call.itemsize(source)))
    return "";
  if (call.itemsize(0) != call.itemsize(source))
    return "dst and source of different widths overlap";
  if (distance > 0) return "dst of one repeat is a source of a later one";
  return distance > -kRepeatBytes ? "dst and source of one repeat overlap without coinciding" : "";
}

}  // namespace

int64_t block_stride(const Call& call, int operand) {
  const int index = call.op->blk[operand];
  return index < 0 ? 1 : call.params[index];
}

int64_t repeat_stride(const Call& call, int operand) {
  const int index = call.op->rep[operand];
  return index < 0 ? kBlocksPerRepeat : call.params[index];
}

int64_t lanes_per_repeat(const Call& call) { return kRepeatBytes / item_size(widest_dtype(call)); }

LaneRuns::LaneRuns(const Call& call) {
  const int64_t* mask = &call.params[call.op->mask];
  if (!call.op->bits) {
    if (*mask > 0) runs_[size_++] = {0, *mask};
    return;
  }
  const int64_t lanes = std::min<int64_t>(2 * kWordBits, lanes_per_repeat(call));
  for (int64_t lane = 0; lane < lanes; ++lane) {
    if ((static_cast<uint64_t>(mask[lane / kWordBits]) >> (lane % kWordBits) & 1) == 0) continue;
    if (size_ > 0 && this->lanes() == lane) {
      ++runs_[size_ - 1].count;
    } else {
      runs_[size_++] = {lane, 1};
    }
  }
}

bool check_mask(const Call& call, AccessList& list) {
  const int64_t lanes = lanes_per_repeat(call);
  if (call.op->bits || call.params[call.op->mask] <= lanes) return true;
  list.fault("mask " + std::to_string(call.params[call.op->mask]) + " is more than the " +
             std::to_string(lanes) + " lanes of " + name_of(widest_dtype(call)) + " in a repeat");
  return false;
}

void masked_access(const Call& call, int operand, AccessKind kind, AccessList& list) {
  repeat_access(call, operand, kind, LaneRuns(call), list);
}

void lane_access(const Call& call, AccessList& list) {
  const OpInfo& op = *call.op;
  if (op.form == Form::Repeat && !check_mask(call, list)) return;
  auto each_access = [&](auto add) {
    for (int i = 0; i < op.n_operands; ++i) {
      if (op.operands[i].read) add(i, AccessKind::Read);
      if (op.operands[i].write) add(i, AccessKind::Write);
    }
  };
  if (op.form == Form::Count) {
    each_access([&](int operand, AccessKind kind) {
      list.add(kind, operand, 0, call.params[op.count] * call.itemsize(operand));
    });
    return;
  }
  const LaneRuns runs(call);
  each_access(
      [&](int operand, AccessKind kind) { repeat_access(call, operand, kind, runs, list); });
}

std::string illegal_overlap(const Call& call) {
  const OpInfo& op = *call.op;
  if (op.form == Form::None) return "";
  if (call.params[op.form == Form::Count ? op.count : op.repeat] <= 0) return "";
  if (op.form != Form::Count && LaneRuns(call).empty()) return "";
  for (int source = 1; source < op.n_operands; ++source) {
    if (call.spaces[source] != call.spaces[0]) continue;
    std::string how =
        op.form == Form::Count ? count_overlap(call, source) : repeat_overlap(call, source);
    if (!how.empty())
      return how + " (" + op.operands[0].name + ", " + op.operands[source].name + ")";
  }
  return "";
}

}  // namespace tvm_ascend::sim

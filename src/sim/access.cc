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

// Of the operands that have lanes.
DType widest_dtype(const Call& call) {
  DType widest = call.dtype(0);
  for (int i = 1; i < call.op->n_operands; ++i) {
    if (call.op->rep[0] >= 0 && call.op->rep[i] < 0) continue;
    if (call.itemsize(i) > item_size(widest)) widest = call.dtype(i);
  }
  return widest;
}

struct MaskWords {
  int64_t low;
  int64_t high;
};

// The mask of a form that has bits, or leaves them to the register.
MaskWords mask_words(const Call& call) {
  if (call.op->bits) return {call.params[call.op->mask], call.params[call.op->mask + 1]};
  return {call.registers[Register::vector_mask_low], call.registers[Register::vector_mask_high]};
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
void repeat_access(const Call& call, int operand, AccessKind kind, const LaneGroup& group,
                   AccessList& list) {
  const int64_t size = call.itemsize(operand);
  const int64_t block = block_stride(call, operand) * kBlockBytes;
  const int64_t repeat = repeat_stride(call, operand) * kBlockBytes;
  Pieces pieces{0, 0, 0, 0};
  auto flush = [&] {
    list.add(kind, operand, group.first * repeat + pieces.start, pieces.bytes, pieces.count,
             pieces.pitch, group.repeats, repeat);
  };
  for (const LaneRun& run : group.runs) {
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
  const int64_t repeats = masked_repeats(call);
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

LaneRuns::LaneRuns(int64_t count) {
  if (count > 0) runs_[size_++] = {0, count};
}

LaneRuns::LaneRuns(const Call& call) {
  const OpInfo& op = *call.op;
  if (op.mask >= 0 && !op.bits) {
    *this = LaneRuns(call.params[op.mask]);
    return;
  }
  if (counts_elements(call)) {
    *this = LaneRuns(std::min(counted_elements(call), lanes_per_repeat(call)));
    return;
  }
  const MaskWords words = mask_words(call);
  const int64_t lanes = std::min<int64_t>(2 * kWordBits, lanes_per_repeat(call));
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const int64_t word = lane < kWordBits ? words.low : words.high;
    if ((static_cast<uint64_t>(word) >> (lane % kWordBits) & 1) == 0) continue;
    if (size_ > 0 && this->lanes() == lane) {
      ++runs_[size_ - 1].count;
    } else {
      runs_[size_++] = {lane, 1};
    }
  }
}

LaneGroups::LaneGroups(const Call& call) {
  if (!counts_elements(call)) {
    groups_[size_++] = {0, masked_repeats(call), LaneRuns(call)};
    return;
  }
  const int64_t lanes = lanes_per_repeat(call);
  const int64_t whole = counted_elements(call) / lanes;
  const int64_t rest = counted_elements(call) % lanes;
  if (whole > 0) groups_[size_++] = {0, whole, LaneRuns(lanes)};
  if (rest > 0) groups_[size_++] = {whole, 1, LaneRuns(rest)};
}

bool counts_elements(const Call& call) {
  const OpInfo& op = *call.op;
  return call.registers[Register::mask_counter] != 0 && (op.bits || op.form == Form::Preset);
}

int64_t counted_elements(const Call& call) {
  constexpr int64_t kMost = 1 << 20;  // more than any memory holds, so out of bounds all the same
  return std::clamp<int64_t>(mask_words(call).low, 0, kMost);
}

int64_t masked_repeats(const Call& call) {
  const int repeat = call.op->repeat;
  if (!counts_elements(call)) return repeat < 0 ? 1 : call.params[repeat];
  const int64_t lanes = lanes_per_repeat(call);
  return (counted_elements(call) + lanes - 1) / lanes;
}

bool check_mask(const Call& call, AccessList& list) {
  const int64_t lanes = lanes_per_repeat(call);
  if (call.op->bits || call.op->mask < 0 || call.params[call.op->mask] <= lanes) return true;
  list.fault("mask " + std::to_string(call.params[call.op->mask]) + " is more than the " +
             std::to_string(lanes) + " lanes of " + name_of(widest_dtype(call)) + " in a repeat");
  return false;
}

void masked_access(const Call& call, int operand, AccessKind kind, AccessList& list) {
  for (const LaneGroup& group : LaneGroups(call)) repeat_access(call, operand, kind, group, list);
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
  const LaneGroups groups(call);
  each_access([&](int operand, AccessKind kind) {
    for (const LaneGroup& group : groups) repeat_access(call, operand, kind, group, list);
  });
}

std::string illegal_overlap(const Call& call) {
  const OpInfo& op = *call.op;
  if (op.form == Form::None) return "";
  if (op.blk[0] < 0 && op.form == Form::Preset)
    return "";  // a reduction: its dst has other strides
  if ((op.form == Form::Count ? call.params[op.count] : masked_repeats(call)) <= 0) return "";
  if (op.form != Form::Count && LaneRuns(call).empty()) return "";
  for (int source = 1; source < op.n_operands; ++source) {
    if (call.spaces[source] != call.spaces[0]) continue;
    if (op.form != Form::Count && op.rep[source] < 0) continue;  // no lanes
    std::string how =
        op.form == Form::Count ? count_overlap(call, source) : repeat_overlap(call, source);
    if (!how.empty())
      return how + " (" + op.operands[0].name + ", " + op.operands[source].name + ")";
  }
  return "";
}

}  // namespace tvm_ascend::sim

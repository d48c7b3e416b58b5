// SPDX-License-Identifier: Apache-2.0
#include "access.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace tvm_ascend::sim {

namespace {

constexpr int64_t kBlocksPerRepeat = kRepeatBytes / kBlockBytes;

bool overlaps(int64_t a, int64_t a_bytes, int64_t b, int64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

void repeat_access(const Call& call, int operand, AccessKind kind, AccessList& list) {
  const OpInfo& op = *call.op;
  const int64_t repeats = call.params[op.repeat];
  const int64_t bytes = call.params[op.mask] * call.itemsize(operand);
  const int64_t whole = bytes / kBlockBytes;
  const int64_t block = block_stride(call, operand) * kBlockBytes;
  const int64_t repeat = repeat_stride(call, operand) * kBlockBytes;
  if (block == kBlockBytes) {
    list.add(kind, operand, 0, bytes, repeats, repeat);
    return;
  }
  list.add(kind, operand, 0, kBlockBytes, whole, block, repeats, repeat);
  list.add(kind, operand, whole * block, bytes % kBlockBytes, repeats, repeat);
}

// Blocks of one repeat: their index in units of 32 bytes.
int64_t block_at(const Call& call, int operand, int64_t repeat, int64_t block) {
  return call.operands[operand] / kBlockBytes + repeat * repeat_stride(call, operand) +
         block * block_stride(call, operand);
}

int64_t blocks_used(const Call& call) {
  const int64_t bytes = call.params[call.op->mask] * call.itemsize(0);
  return std::min(kBlocksPerRepeat, (bytes + kBlockBytes - 1) / kBlockBytes);
}

bool accumulates_into(const Call& call, int source) {
  const OpInfo& op = *call.op;
  return op.accumulates && source == op.n_operands - 1 &&
         call.operands[source] == call.operands[0] && repeat_stride(call, source) == 0 &&
         repeat_stride(call, 0) == 0 && block_stride(call, source) == block_stride(call, 0);
}

std::string repeat_overlap(const Call& call, int source) {
  const int64_t repeats = call.params[call.op->repeat];
  const int64_t blocks = blocks_used(call);
  auto reach = [&](int operand) {
    return block_at(call, operand, repeats - 1, blocks - 1) - block_at(call, operand, 0, 0) + 1;
  };
  if (!overlaps(block_at(call, 0, 0, 0), reach(0), block_at(call, source, 0, 0), reach(source)))
    return "";
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

void lane_access(const Call& call, AccessList& list) {
  const OpInfo& op = *call.op;
  if (op.form == Form::Repeat && call.params[op.mask] * call.itemsize(0) > kRepeatBytes) {
    list.fault("mask " + std::to_string(call.params[op.mask]) + " is more than the " +
               std::to_string(kRepeatBytes / call.itemsize(0)) + " lanes of " +
               name_of(call.dtype(0)) + " in a repeat");
    return;
  }
  for (int i = 0; i < op.n_operands; ++i) {
    for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
      if (!(kind == AccessKind::Read ? op.operands[i].read : op.operands[i].write)) continue;
      if (op.form == Form::Count) {
        list.add(kind, i, 0, call.params[op.count] * call.itemsize(i));
      } else {
        repeat_access(call, i, kind, list);
      }
    }
  }
}

std::string illegal_overlap(const Call& call) {
  const OpInfo& op = *call.op;
  if (op.form == Form::None) return "";
  if (call.params[op.form == Form::Count ? op.count : op.repeat] <= 0) return "";
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

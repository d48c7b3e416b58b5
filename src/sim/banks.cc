// SPDX-License-Identifier: Apache-2.0
#include "banks.h"

#include <algorithm>
#include <cmath>

#include "access.h"

namespace tvm_ascend::sim {

namespace {

constexpr size_t kKnown = 512;
constexpr int64_t kBlocksPerRepeat = kRepeatBytes / kBlockBytes;

int64_t whole(double value) { return static_cast<int64_t>(std::llround(value)); }

}  // namespace

Banks::Banks(const Program& program)
    : program_(program),
      groups_(program.ub_banks.groups),
      row_blocks_(groups_ * program.ub_banks.bank_bytes / kBlockBytes),
      write_depth_(program.ub_banks.write_depth),
      known_(kKnown),
      losses_(kKnown, 0) {}

Banks::Stream Banks::stream_of(const Call& call, int operand, int64_t lanes) const {
  const int64_t bytes = lanes * call.itemsize(operand);
  const int64_t repeat_bytes = lanes_per_repeat(call) * call.itemsize(operand);
  const bool strided = call.op->rep[operand] >= 0;
  // A count form goes on where the last repeat ended, however narrow the operand.
  return {call.operands[operand] / kBlockBytes, block_stride(call, operand),
          strided ? repeat_stride(call, operand) : repeat_bytes / kBlockBytes,
          (bytes + kBlockBytes - 1) / kBlockBytes};
}

bool Banks::pattern_of(const Call& call, Pattern* pattern) const {
  const OpInfo& op = *call.op;
  if (op.timing < 0 || op.form == Form::None || op.n_operands < 2) return false;
  const bool reduces = op.form == Form::Preset && op.blk[0] < 0;
  if (reduces || !op.operands[0].write) return false;
  int64_t widest = 1;
  for (int i = 0; i < op.n_operands; ++i) widest = std::max(widest, call.itemsize(i));
  int64_t lanes = lanes_per_repeat(call);
  if (op.form == Form::Count) {
    // Whole repeats only: the last one is shorter than the rest at most.
    pattern->repeats = (call.params[op.count] * widest + kRepeatBytes - 1) / kRepeatBytes;
    lanes = std::min(lanes, call.params[op.count]);
  } else {
    pattern->repeats = masked_repeats(call);
    lanes = std::min(lanes, LaneRuns(call).lanes());
  }
  pattern->cycles = std::clamp<int64_t>(
      whole(program_.rates[op.timing].cycles[widest >= 4 ? 2 : widest - 1]), 1, kBlocksPerRepeat);
  if (pattern->repeats < 1 || lanes < 1) return false;
  pattern->streams[0] = stream_of(call, 0, lanes);
  // The cycles of a repeat cover the reading of dst where it is a source too.
  for (int i = 1; i < op.n_operands; ++i) {
    if (!op.operands[i].read || call.spaces[i] != Space::UB) continue;
    if (op.form != Form::Count && op.rep[i] < 0) continue;  // it has no lanes
    const Stream source = stream_of(call, i, lanes);
    if (pattern->sources == 1 && source == pattern->streams[1]) continue;
    pattern->streams[++pattern->sources] = source;
  }
  return true;
}

// Blocks are taken in order, an equal part of a whole repeat in each cycle, and a new cycle starts
// at a group that is in use.
Banks::Touches Banks::touches(const Stream& stream, int64_t repeat, int64_t cycles) const {
  const int64_t most = (kBlocksPerRepeat + cycles - 1) / cycles;
  // The same block is read once.
  const int64_t blocks = stream.block_stride == 0 ? 1 : stream.blocks;
  Touches out;
  Touch now;
  int64_t taken = 0;
  for (int64_t i = 0; i < blocks; ++i) {
    // Of lanes that are off, and so of no access, the address may be below zero: it wraps.
    const auto block = static_cast<uint64_t>(stream.first + repeat * stream.repeat_stride +
                                             i * stream.block_stride);
    const uint64_t at = block % groups_;
    const uint64_t group = uint64_t{1} << at;
    if (taken == most || (now.groups & group) != 0) {
      out.add(now);
      now = {};
      taken = 0;
    }
    now.groups |= group;
    now.banks |= uint64_t{1} << ((at + groups_ * (block / row_blocks_)) % 64);
    ++taken;
  }
  out.add(now);
  return out;
}

Banks::Touches Banks::reads(const Pattern& pattern, int64_t repeat) const {
  // What stays the same from repeat to repeat is read once [doc: ASCEND 5.5].
  auto read = [&](const Stream& stream) {
    const bool held = repeat > 0 && stream.repeat_stride == 0;
    return held ? Touches{} : touches(stream, repeat, pattern.cycles);
  };
  const Touches first = read(pattern.streams[1]);
  if (pattern.sources == 1) return first;
  const Touches second = read(pattern.streams[2]);
  Touches out;
  for (int i = 0; i < std::max(first.size, second.size); ++i) {
    const Touch a = i < first.size ? first.cycles[i] : Touch{};
    const Touch b = i < second.size ? second.cycles[i] : Touch{};
    if ((a.groups & b.groups) != 0) {
      out.add(a);
      out.add(b);
    } else {
      out.add({a.groups | b.groups, a.banks | b.banks});
    }
  }
  return out;
}

// Whether dst follows a source from bank to bank: the chip then writes one repeat later, when that
// source has moved on [doc: ASCEND 1.7].
bool Banks::in_phase(const Pattern& pattern) const {
  const Stream& dst = pattern.streams[0];
  for (int i = 1; i <= pattern.sources; ++i) {
    const Stream& source = pattern.streams[i];
    if (source.block_stride == dst.block_stride && source.repeat_stride == dst.repeat_stride &&
        source.blocks == dst.blocks && (source.first - dst.first) % groups_ == 0 &&
        source.first / row_blocks_ == dst.first / row_blocks_)
      return true;
  }
  return false;
}

int64_t Banks::simulate(const Pattern& pattern) const {
  std::array<uint64_t, kCycles> writes{};  // banks written at a time from now on, a ring
  const bool later = in_phase(pattern);
  int64_t now = 0;
  int64_t written = -1;
  for (int64_t repeat = 0; repeat < pattern.repeats; ++repeat) {
    Touches read = reads(pattern, repeat);
    const Touches write = touches(pattern.streams[0], repeat, pattern.cycles);
    while (read.size < pattern.cycles) read.add({});
    auto pass = [&] { writes[now++ % kCycles] = 0; };
    for (int i = read.size; i < write.size; ++i) pass();
    for (int i = 0; i < read.size; ++i) {
      while ((writes[now % kCycles] & read.cycles[i].banks) != 0) pass();
      pass();
    }
    int64_t at = now - 1 + write_depth_ + (later ? read.size : 0);
    for (int i = 0; i < write.size; ++i) {
      written = std::max(at + i, written + 1);
      writes[written % kCycles] = write.cycles[i].banks;
    }
  }
  return now - pattern.repeats * pattern.cycles;
}

int64_t Banks::lost(const Call& call) {
  Pattern pattern;
  if (!pattern_of(call, &pattern) || pattern.sources == 0) return 0;
  auto hash = static_cast<uint64_t>(pattern.repeats);
  for (const Stream& stream : pattern.streams) {
    hash = hash * 0x9E3779B97F4A7C15ULL + static_cast<uint64_t>(stream.first);
    hash = hash * 31 + static_cast<uint64_t>(stream.block_stride * 256 + stream.repeat_stride);
  }
  const size_t at = (hash ^ hash >> 32) % kKnown;
  if (!(known_[at] == pattern)) {
    known_[at] = pattern;
    losses_[at] = simulate(pattern);
  }
  return losses_[at];
}

}  // namespace tvm_ascend::sim

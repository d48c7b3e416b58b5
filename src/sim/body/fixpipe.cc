// SPDX-License-Identifier: Apache-2.0
// Fixpipe to row-major matrices, and what all ways out of L0C share.
#include "fixpipe.h"

#include <algorithm>
#include <cmath>

#include "store.h"

namespace tvm_ascend::sim {

namespace {

enum { kNoQuant, kToHalf, kToBFloat, kDeqF16, kQuantB8, kReq8, kVectorDeqF16 };
constexpr int kVectorModes =
    kVectorDeqF16 - kDeqF16;  // from a mode to that with a scale per column

int64_t value(const Call& call, const char* name, int64_t otherwise) {
  const int i = param_index(*call.op, name);
  return i < 0 ? otherwise : call.params[i];
}

// The mode that gives dst, without regard to how many scales there are; the cast is not implied by
// the dtype of dst [doc: ASCEND 3.10].
int64_t mode_for(DType dst, DType src) {
  const bool whole = src == DType::int32;
  switch (dst) {
    case DType::float16:
      return whole ? kDeqF16 : kToHalf;
    case DType::bfloat16:
      return kToBFloat;
    case DType::int8:
    case DType::uint8:
      return whole ? kReq8 : kQuantB8;
    default:
      return kNoQuant;
  }
}

// The word of a quantisation [doc: vendor's page on quantisation while draining].
struct Quantiser {
  explicit Quantiser(int64_t word)
      : factor(bit_cast<float>(static_cast<uint32_t>(word) & 0xFFFFE000)),  // 10 mantissa bits
        shift((word >> 32 & 0xF) + 1),
        shifts((word >> 36 & 1) != 0),
        offset(static_cast<int32_t>((word >> 37 & 0x1FF) ^ 0x100) - 0x100),
        is_signed((word >> 46 & 1) != 0) {}

  float scaled(float x) const { return x * factor; }
  float scaled(int32_t x) const {
    if (shifts) x = std::clamp(x >> shift, -32768, 32767);
    return static_cast<float>(x) * factor;
  }

  template <typename From>
  uint8_t byte(From x) const {
    const float product = scaled(x);
    const float bounded = product != product ? 0.0f : std::clamp(product, -256.0f, 255.0f);
    const int32_t sum = static_cast<int32_t>(std::nearbyint(bounded)) + offset;
    return static_cast<uint8_t>(is_signed ? std::clamp(sum, -128, 127) : std::clamp(sum, 0, 255));
  }

  float factor;
  int64_t shift;
  bool shifts;
  int32_t offset;
  bool is_signed;
};

template <typename From>
From convert(From x, const Quantiser&, From) {
  return x;
}
Half convert(float x, const Quantiser&, Half) { return Half(x); }
BFloat convert(float x, const Quantiser&, BFloat) { return BFloat(x); }
Half convert(int32_t x, const Quantiser& by, Half) { return Half(by.scaled(x)); }
template <typename From>
uint8_t convert(From x, const Quantiser& by, uint8_t) {
  return by.byte(x);
}

template <typename To, typename From>
void drain(const Drain& drain, const Call& call, Memories& memories) {
  const bool finite = saturates(call);
  for (int64_t i = 0; i < drain.matrices; ++i) {
    uint8_t* dst = memories.operand<uint8_t>(call, 0) + i * drain.dst_matrix;
    const auto* src = reinterpret_cast<const From*>(memories.operand<const uint8_t>(call, 1) +
                                                    i * drain.src_matrix);
    for (int64_t column = 0; column < drain.n; ++column) {
      const Quantiser by(drain.vector
                             ? bit_cast<int64_t>(*reinterpret_cast<const uint64_t*>(
                                   memories.at(drain.scale_space, drain.scale + 8 * column)))
                             : drain.word);
      const From* from =
          src + column / Drain::kSide * drain.src_stride * Drain::kSide + column % Drain::kSide;
      for (int64_t row = 0; row < drain.m; ++row) {
        From x = from[row * Drain::kSide];
        if (drain.relu && x <= From(0)) x = From(0);
        const To converted = convert(x, by, To());
        const To result = finite ? saturated(converted) : converted;
        store(call, dst + drain.target(row, column), &result, sizeof(To));
      }
    }
  }
}

}  // namespace

Drain::Drain(const Call& call, bool nz)
    : nz(nz),
      size(call.itemsize(0)),
      n(value(call, "n_size", 0)),
      m(value(call, "m_size", 0)),
      src_stride(value(call, "src_stride", 0)),
      dst_stride(value(call, "dst_stride", 0)),
      relu(value(call, "relu", 0) != 0),
      matrices(value(call, "nd_num", 1)),
      src_matrix(value(call, "src_nd_stride", 0) * kSide * kRowBytes),
      dst_matrix(value(call, "dst_nd_stride", 0) * size),
      split(value(call, "channel_split", 0) != 0),
      vector(call.op->n_operands > 2),
      word(value(call, "deq_scalar", 0)),
      scale_space(vector ? call.spaces[2] : Space::FB),
      scale(vector ? call.operands[2] : 0) {
  columns = size == 1 ? 2 * kSide : split ? kSide / 2 : kSide;
  if (m == 0 || matrices == 0) n = 0;
}

int64_t Drain::target(int64_t row, int64_t column) const {
  if (!nz) return (row * dst_stride + column) * size;
  // A last column of 16 bytes that finds no partner stays narrow.
  const bool alone = size == 1 && n - column / columns * columns <= kSide;
  const int64_t width = alone ? kSide : columns;
  return column / columns * dst_stride * kBlockBytes + (row * width + column % columns) * size;
}

void Drain::access(const Call& call, AccessList& list) const {
  if (n == 0) return;
  const int64_t mode = value(call, "quant_pre", kNoQuant);
  int64_t needed = mode_for(call.dtype(0), call.dtype(1));
  if (needed >= kDeqF16 && vector) needed += kVectorModes;
  if (mode != needed) {
    const ParamInfo& quant = call.op->params[param_index(*call.op, "quant_pre")];
    list.fault(std::string("quant_pre ") + quant.values[mode] + " does not give " +
               name_of(call.dtype(0)) + "; use " + quant.values[needed]);
  }
  if (split && size != 4) list.fault("channel_split needs float32 results");
  if (nz && n % (split ? kSide / 2 : kSide) != 0)
    list.fault("n_size " + std::to_string(n) + " is no multiple of " +
               std::to_string(split ? kSide / 2 : kSide));
  const int64_t whole = n / kSide;
  const int64_t column = src_stride * kRowBytes;
  list.add(AccessKind::Read, 1, 0, m * kRowBytes, whole, column, matrices, src_matrix);
  list.add(AccessKind::Read, 1, whole * column, n % kSide * 4, m, kRowBytes, matrices, src_matrix);
  if (vector && call.op->n_operands > 2) list.add(AccessKind::Read, 2, 0, n * 8);
  if (!nz) {
    list.add(AccessKind::Write, 0, 0, n * size, m, dst_stride * size, matrices, dst_matrix);
    return;
  }
  const int64_t full = n / columns;
  list.add(AccessKind::Write, 0, 0, m * columns * size, full, dst_stride * kBlockBytes);
  list.add(AccessKind::Write, 0, full * dst_stride * kBlockBytes, m * (n % columns) * size);
}

void Drain::run(const Call& call, Memories& memories) const {
  const bool whole = call.dtype(1) == DType::int32;
  switch (call.dtype(0)) {
    case DType::float16:
      return whole ? drain<Half, int32_t>(*this, call, memories)
                   : drain<Half, float>(*this, call, memories);
    case DType::bfloat16:
      return drain<BFloat, float>(*this, call, memories);
    case DType::float32:
      return drain<float, float>(*this, call, memories);
    case DType::int32:
      return drain<int32_t, int32_t>(*this, call, memories);
    default:
      return whole ? drain<uint8_t, int32_t>(*this, call, memories)
                   : drain<uint8_t, float>(*this, call, memories);
  }
}

namespace {

void access(const Call& call, AccessList& list) { Drain(call, false).access(call, list); }
void run(Call& call, Memories& memories) { Drain(call, false).run(call, memories); }

}  // namespace

extern const Body body_fixpipe;
const Body body_fixpipe{access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

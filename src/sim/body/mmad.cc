// SPDX-License-Identifier: Apache-2.0
// Mmad: C[m, n] (+)= A[m, k] B[k, n] on fractals; A is ZZ (one plain k-vector when m is 1), B is
// ZN, C is NZ [doc: ASCEND 2.2]. Along k whole fractals take part, so what pads k must be zero;
// rows and columns past m and n are ignored. The sum starts at zero, at C or at the biases.
#include <algorithm>
#include <vector>

#include "../program.h"
#include "../workers.h"
#include "body.h"
#include "multiply.h"

namespace tvm_ascend::sim {

namespace {

enum { kM, kN, kK };
enum { kC, kA, kB, kBias };
constexpr int64_t kRowBytes = kCubeSide * 4;  // of a C fractal
constexpr int64_t kTileBytes = kCubeSide * kRowBytes;
constexpr int kHf32Dropped =
    12;  // mantissa bits of a float that HF32 lacks [guess: 1 + 8 + 11 bits]
constexpr int64_t kWorthSharing = 1 << 18;  // products, some 10 us of one host core

struct Shape {
  explicit Shape(const Call& call)
      : m(call.params[kM]),
        n(call.params[kN]),
        k0(kBlockBytes / call.itemsize(1)),
        m1(div_up(m, kCubeSide)),
        n1(div_up(n, kCubeSide)),
        k1(div_up(call.params[kK], k0)),
        a_pitch(k0 == kCubeSide / 2 && flag(call, "k_direction_align") ? (k1 + 1) / 2 * 2 : k1),
        bias(call.op->n_operands > kBias),
        accumulates(!bias && !flag(call, "init")) {}

  static bool flag(const Call& call, const char* name) {
    const int i = param_index(*call.op, name);
    return i >= 0 && call.params[i] != 0;
  }

  int64_t m;
  int64_t n;
  int64_t k0;
  int64_t m1;
  int64_t n1;
  int64_t k1;
  int64_t a_pitch;  // fractals from one row of fractals of A to the next
  bool bias;
  bool accumulates;
};

void access_result(const Shape& shape, AccessKind kind, AccessList& list) {
  const int64_t whole = shape.n / kCubeSide;
  const int64_t column = shape.m1 * kTileBytes;
  list.add(kind, 0, 0, shape.m * kRowBytes, whole, column);
  list.add(kind, 0, whole * column, shape.n % kCubeSide * 4, shape.m, kRowBytes);
}

void access(const Call& call, AccessList& list) {
  const Shape shape(call);
  if (shape.m == 0 || shape.n == 0 || shape.k1 == 0) return;
  const int64_t group = shape.k1 * kFractalBytes;
  const int64_t pitch = shape.a_pitch * kFractalBytes;
  if (shape.m == 1) {
    list.add(AccessKind::Read, 1, 0, shape.k1 * kBlockBytes);
  } else {
    list.add(AccessKind::Read, 1, 0, group, shape.m / kCubeSide, pitch);
    list.add(AccessKind::Read, 1, shape.m / kCubeSide * pitch, shape.m % kCubeSide * kBlockBytes,
             shape.k1, kFractalBytes);
  }
  const int64_t whole = shape.n / kCubeSide * kFractalBytes;
  list.add(AccessKind::Read, 2, 0, whole, shape.k1, shape.n1 * kFractalBytes);
  list.add(AccessKind::Read, 2, whole, shape.n % kCubeSide * kBlockBytes, shape.k1,
           shape.n1 * kFractalBytes);
  if (shape.bias) list.add(AccessKind::Read, kBias, 0, shape.n * 4);
  if (shape.accumulates) access_result(shape, AccessKind::Read, list);
  const bool ragged = shape.m % kCubeSide != 0 || shape.n % kCubeSide != 0;
  if (ragged) list.add(AccessKind::Undefined, 0, 0, shape.m1 * shape.n1 * kTileBytes);
  access_result(shape, AccessKind::Write, list);
}

float value_of(float x) { return x; }
float value_of(Half x) { return static_cast<float>(x); }
float value_of(BFloat x) { return static_cast<float>(x); }
uint32_t value_of(Int<int8_t> x) { return static_cast<uint32_t>(static_cast<int32_t>(x.bits)); }

// A as rows of k values.
template <typename In, typename Acc>
void unpack_a(const Shape& shape, const In* a, std::vector<Acc>* rows) {
  const int64_t k = shape.k1 * shape.k0;
  rows->resize(shape.m * k);
  for (int64_t i = 0; i < shape.m; ++i) {
    for (int64_t block = 0; block < shape.k1; ++block) {
      const int64_t from =
          shape.m == 1
              ? block * shape.k0
              : ((i / kCubeSide * shape.a_pitch + block) * kCubeSide + i % kCubeSide) * shape.k0;
      for (int64_t c = 0; c < shape.k0; ++c)
        (*rows)[i * k + block * shape.k0 + c] = value_of(a[from + c]);
    }
  }
}

// A column of 16 of B: k rows of 16 values.
template <typename In, typename Acc>
void unpack_b(const Shape& shape, const In* b, int64_t j, std::vector<Acc>* column) {
  column->resize(shape.k1 * shape.k0 * kCubeSide);
  for (int64_t block = 0; block < shape.k1; ++block) {
    const In* fractal = b + (block * shape.n1 + j) * kCubeSide * shape.k0;
    Acc* to = column->data() + block * shape.k0 * kCubeSide;
    for (int64_t x = 0; x < kCubeSide; ++x) {
      for (int64_t row = 0; row < shape.k0; ++row)
        to[row * kCubeSide + x] = value_of(fractal[x * shape.k0 + row]);
    }
  }
}

// Rounds to HF32: to the nearest, ties to even or towards zero.
float to_hf32(float value, bool even) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  if ((bits & 0x7F800000) == 0x7F800000) return value;
  const uint32_t half = (1U << (kHf32Dropped - 1)) - 1;
  const uint32_t odd = even ? bits >> kHf32Dropped & 1 : 0;
  return bit_cast<float>((bits + half + odd) >> kHf32Dropped << kHf32Dropped);
}

void round_operands(const Call& call, std::vector<float>* values) {
  const bool even = call.registers[Register::hf32_to_zero] == 0;
  for (float& value : *values) value = to_hf32(value, even);
}
void round_operands(const Call&, std::vector<uint32_t>*) {}

template <typename Acc>
void round_to_hf32(const Call& call, std::vector<Acc>* values) {
  if (call.dtype(kA) == DType::float32 && call.registers[Register::hf32] != 0)
    round_operands(call, values);
}

// Column j of 16 of C.
template <typename In, typename Acc>
void multiply_column(const Call& call, const Memories& memories, const Shape& shape,
                     const std::vector<Acc>& rows, int64_t j) {
  thread_local std::vector<Acc> column;
  thread_local std::vector<Acc> sums;
  unpack_b(shape, memories.operand<const In>(call, 2), j, &column);
  round_to_hf32(call, &column);
  const int64_t width = std::min(kCubeSide, shape.n - j * kCubeSide);
  Acc* c = memories.operand<Acc>(call, 0) + j * shape.m1 * kCubeSide * kCubeSide;
  sums.assign(shape.m * kCubeSide, Acc{});
  if (shape.accumulates) std::copy_n(c, sums.size(), sums.begin());
  if (shape.bias) {
    const Acc* bias = memories.operand<const Acc>(call, kBias) + j * kCubeSide;
    for (int64_t i = 0; i < shape.m; ++i) std::copy_n(bias, width, &sums[i * kCubeSide]);
  }
  multiply_rows(rows.data(), column.data(), shape.m, shape.k1 * shape.k0, sums.data());
  for (int64_t i = 0; i < shape.m; ++i) std::copy_n(&sums[i * kCubeSide], width, c + i * kCubeSide);
}

template <typename In, typename Acc>
void multiply(const Call& call, Memories& memories) {
  thread_local std::vector<Acc> rows;
  const Shape shape(call);
  const int64_t k = shape.k1 * shape.k0;
  if (shape.m == 0 || shape.n == 0 || k == 0) return;
  unpack_a(shape, memories.operand<const In>(call, 1), &rows);
  round_to_hf32(call, &rows);
  const auto column = [&, &rows = rows](int64_t j) {
    multiply_column<In>(call, memories, shape, rows, j);
  };
  if (shape.m * shape.n * k >= kWorthSharing) {
    share_work(shape.n1, column);
  } else {
    for (int64_t j = 0; j < shape.n1; ++j) column(j);
  }
}

void run(Call& call, Memories& memories) {
  switch (call.dtype(1)) {
    case DType::float16:
      return multiply<Half, float>(call, memories);
    case DType::bfloat16:
      return multiply<BFloat, float>(call, memories);
    case DType::float32:
      return multiply<float, float>(call, memories);
    default:
      return multiply<Int<int8_t>, uint32_t>(call, memories);
  }
}

int64_t tile(const Call& call, const Program& program) {
  const Shape shape(call);
  const double least = program.constant(Constant::MMAD_BARRIER_FRACTALS);
  return static_cast<double>(shape.m1 * shape.n1) < least ? 0 : shape.m1 << 32 | shape.n1;
}

}  // namespace

extern const Body body_mmad;
const Body body_mmad{access, run, nullptr, tile, nullptr};

}  // namespace tvm_ascend::sim

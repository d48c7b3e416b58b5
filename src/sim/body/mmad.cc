// SPDX-License-Identifier: Apache-2.0
// Mmad: C[m, n] (+)= A[m, k] B[k, n] on fractals; A is ZZ (one plain k-vector when m is 1), B is
// ZN, C is NZ [doc: ASCEND 2.2]. Along k whole fractals take part, so what pads k must be zero;
// rows and columns past m and n are ignored.
#include <vector>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum { kM, kN, kK, kInit };
constexpr int64_t kSide = 16;
constexpr int64_t kRowBytes = kSide * 4;  // of a C fractal
constexpr int64_t kTileBytes = kSide * kRowBytes;
constexpr int64_t kFractalsWithoutBarrier = 10;  // [doc: ASCEND 3.9]

struct Shape {
  explicit Shape(const Call& call)
      : m(call.params[kM]),
        n(call.params[kN]),
        k0(kBlockBytes / call.itemsize(1)),
        m1(div_up(m, kSide)),
        n1(div_up(n, kSide)),
        k1(div_up(call.params[kK], k0)) {}

  int64_t m;
  int64_t n;
  int64_t k0;
  int64_t m1;
  int64_t n1;
  int64_t k1;
};

void access_result(const Shape& shape, AccessKind kind, AccessList& list) {
  const int64_t whole = shape.n / kSide;
  const int64_t column = shape.m1 * kTileBytes;
  list.add(kind, 0, 0, shape.m * kRowBytes, whole, column);
  list.add(kind, 0, whole * column, shape.n % kSide * 4, shape.m, kRowBytes);
}

void access(const Call& call, AccessList& list) {
  const Shape shape(call);
  if (shape.m == 0 || shape.n == 0 || shape.k1 == 0) return;
  const int64_t group = shape.k1 * kFractalBytes;
  if (shape.m == 1) {
    list.add(AccessKind::Read, 1, 0, shape.k1 * kBlockBytes);
  } else {
    list.add(AccessKind::Read, 1, 0, group, shape.m / kSide, group);
    list.add(AccessKind::Read, 1, shape.m / kSide * group, shape.m % kSide * kBlockBytes, shape.k1,
             kFractalBytes);
  }
  const int64_t whole = shape.n / kSide * kFractalBytes;
  list.add(AccessKind::Read, 2, 0, whole, shape.k1, shape.n1 * kFractalBytes);
  list.add(AccessKind::Read, 2, whole, shape.n % kSide * kBlockBytes, shape.k1,
           shape.n1 * kFractalBytes);
  if (call.params[kInit] == 0) access_result(shape, AccessKind::Read, list);
  const bool ragged = shape.m % kSide != 0 || shape.n % kSide != 0;
  if (ragged) list.add(AccessKind::Undefined, 0, 0, shape.m1 * shape.n1 * kTileBytes);
  access_result(shape, AccessKind::Write, list);
}

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
      const int64_t from = shape.m == 1
                               ? block * shape.k0
                               : ((i / kSide * shape.k1 + block) * kSide + i % kSide) * shape.k0;
      for (int64_t c = 0; c < shape.k0; ++c)
        (*rows)[i * k + block * shape.k0 + c] = value_of(a[from + c]);
    }
  }
}

// B as columns of 16: for each of them k rows of 16 values.
template <typename In, typename Acc>
void unpack_b(const Shape& shape, const In* b, std::vector<Acc>* columns) {
  const int64_t k = shape.k1 * shape.k0;
  columns->resize(shape.n1 * k * kSide);
  for (int64_t block = 0; block < shape.k1; ++block) {
    for (int64_t j = 0; j < shape.n1; ++j) {
      const In* fractal = b + (block * shape.n1 + j) * kSide * shape.k0;
      Acc* to = columns->data() + (j * k + block * shape.k0) * kSide;
      for (int64_t column = 0; column < kSide; ++column) {
        for (int64_t row = 0; row < shape.k0; ++row)
          to[row * kSide + column] = value_of(fractal[column * shape.k0 + row]);
      }
    }
  }
}

// One row of one column of 16: sums in the order of k, whatever the vector width of the host.
template <typename Acc>
void multiply_row(const Acc* a, const Acc* b, int64_t k, Acc (&sum)[kSide]) {
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t c = 0; c < kSide; ++c) sum[c] += a[i] * b[i * kSide + c];
  }
}

template <typename In, typename Acc>
void multiply(const Call& call, Memories& memories) {
  thread_local std::vector<Acc> rows;
  thread_local std::vector<Acc> columns;
  const Shape shape(call);
  const int64_t k = shape.k1 * shape.k0;
  if (k == 0) return;
  unpack_a(shape, memories.operand<const In>(call, 1), &rows);
  unpack_b(shape, memories.operand<const In>(call, 2), &columns);
  for (int64_t j = 0; j < shape.n1; ++j) {
    const int64_t width = j * kSide + kSide <= shape.n ? kSide : shape.n % kSide;
    Acc* c = memories.operand<Acc>(call, 0) + j * shape.m1 * kSide * kSide;
    for (int64_t i = 0; i < shape.m; ++i, c += kSide) {
      Acc sum[kSide] = {};
      if (call.params[kInit] == 0) {
        for (int64_t x = 0; x < kSide; ++x) sum[x] = c[x];
      }
      multiply_row(&rows[i * k], &columns[j * k * kSide], k, sum);
      for (int64_t x = 0; x < width; ++x) c[x] = sum[x];
    }
  }
}

void run(Call& call, Memories& memories) {
  switch (call.dtype(1)) {
    case DType::float16:
      return multiply<Half, float>(call, memories);
    case DType::bfloat16:
      return multiply<BFloat, float>(call, memories);
    default:
      return multiply<Int<int8_t>, uint32_t>(call, memories);
  }
}

int64_t tile(const Call& call) {
  const Shape shape(call);
  return shape.m1 * shape.n1 < kFractalsWithoutBarrier ? 0 : shape.m1 << 32 | shape.n1;
}

}  // namespace

extern const Body body_mmad;
const Body body_mmad{access, run, nullptr, tile, nullptr};

}  // namespace tvm_ascend::sim

// SPDX-License-Identifier: Apache-2.0
// Fixpipe with CFG_ROW_MAJOR: an NZ tile of L0C becomes rows of GM; relu first, then the cast.
#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum { kN, kM, kSrcStride, kDstStride, kRelu, kQuant };
enum { kNoQuant, kToHalf, kToBFloat };
constexpr int64_t kSide = 16;
constexpr int64_t kRowBytes = kSide * 4;

// The cast is not implied by the dtype of dst [doc: ASCEND 3.10].
int64_t quant_for(DType dst) {
  return dst == DType::float16 ? kToHalf : dst == DType::bfloat16 ? kToBFloat : kNoQuant;
}

void access(const Call& call, AccessList& list) {
  const int64_t m = call.params[kM];
  const int64_t n = call.params[kN];
  const int64_t size = call.itemsize(0);
  if (call.params[kQuant] != quant_for(call.dtype(0))) {
    const ParamInfo& quant = call.op->params[kQuant];
    list.fault(std::string("quant_pre ") + quant.values[call.params[kQuant]] + " does not give " +
               name_of(call.dtype(0)) + "; use " + quant.values[quant_for(call.dtype(0))]);
  }
  const int64_t whole = n / kSide;
  const int64_t column = call.params[kSrcStride] * kRowBytes;
  if (m > 0) list.add(AccessKind::Read, 1, 0, m * kRowBytes, whole, column);
  list.add(AccessKind::Read, 1, whole * column, n % kSide * 4, m, kRowBytes);
  list.add(AccessKind::Write, 0, 0, n * size, m, call.params[kDstStride] * size);
}

float convert(float x, float) { return x; }
Half convert(float x, Half) { return Half(x); }
BFloat convert(float x, BFloat) { return BFloat(x); }
int32_t convert(int32_t x, int32_t) { return x; }

template <typename To, typename From>
void drain(const Call& call, Memories& memories) {
  const int64_t n = call.params[kN];
  for (int64_t row = 0; row < call.params[kM]; ++row) {
    To* dst = memories.operand<To>(call, 0) + row * call.params[kDstStride];
    const From* src = memories.operand<const From>(call, 1) + row * kSide;
    for (int64_t column = 0; column < n; ++column) {
      From value = src[column / kSide * call.params[kSrcStride] * kSide + column % kSide];
      if (call.params[kRelu] != 0 && value <= From(0)) value = From(0);
      dst[column] = convert(value, To());
    }
  }
}

void run(Call& call, Memories& memories) {
  switch (call.dtype(0)) {
    case DType::float16:
      return drain<Half, float>(call, memories);
    case DType::bfloat16:
      return drain<BFloat, float>(call, memories);
    case DType::float32:
      return drain<float, float>(call, memories);
    default:
      return drain<int32_t, int32_t>(call, memories);
  }
}

}  // namespace

extern const Body body_fixpipe;
const Body body_fixpipe{access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

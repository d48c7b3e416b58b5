// SPDX-License-Identifier: Apache-2.0
// DataCopyPad, GM to UB: rows of any length, each ending on a 32-byte block.
#include <cstring>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum { kCount, kLength, kSrcStride, kDstStride, kIsPad, kLeft, kRight, kValue };

struct Shape {
  explicit Shape(const Call& call)
      : rows(call.params[kCount]),
        bytes(call.params[kLength]),
        left(call.params[kIsPad] != 0 ? call.params[kLeft] * call.itemsize(0) : 0),
        right(call.params[kIsPad] != 0 ? call.params[kRight] * call.itemsize(0) : 0),
        row_bytes(div_up(left + bytes + right, kBlockBytes) * kBlockBytes),
        src_pitch(bytes + call.params[kSrcStride]),
        dst_pitch(row_bytes + call.params[kDstStride] * kBlockBytes) {}

  int64_t rows;
  int64_t bytes;
  int64_t left;  // padding before and after the data that is given a value
  int64_t right;
  int64_t row_bytes;
  int64_t src_pitch;
  int64_t dst_pitch;
};

void access(const Call& call, AccessList& list) {
  const Shape shape(call);
  if (shape.bytes == 0) return;
  need_whole_elements(call, kLength, list);
  if (shape.rows > 1) need_whole_elements(call, kSrcStride, list);
  if (shape.left > kBlockBytes || shape.right > kBlockBytes)
    list.fault("padding is wider than 32 bytes");
  const int64_t defined = shape.left + shape.bytes + shape.right;
  list.add(AccessKind::Read, 1, 0, shape.bytes, shape.rows, shape.src_pitch);
  list.add(AccessKind::Write, 0, 0, defined, shape.rows, shape.dst_pitch);
  list.add(AccessKind::Undefined, 0, defined, shape.row_bytes - defined, shape.rows,
           shape.dst_pitch);
}

void fill(uint8_t* at, int64_t bytes, const uint8_t* element, int64_t size) {
  for (int64_t i = 0; i < bytes; i += size) std::memcpy(at + i, element, size);
}

// The rest of a row's last block gets the row's first element, as on the chip [doc: ASCEND 3.8].
template <typename T>
void copy(const Call& call, Memories& memories) {
  const Shape shape(call);
  const T value = scalar_from_word<T>(call.params[kValue]);
  const auto* pad = reinterpret_cast<const uint8_t*>(&value);
  for (int64_t r = 0; r < shape.rows; ++r) {
    uint8_t* dst = memories.operand<uint8_t>(call, 0) + r * shape.dst_pitch;
    const uint8_t* src = memories.operand<const uint8_t>(call, 1) + r * shape.src_pitch;
    const int64_t defined = shape.left + shape.bytes + shape.right;
    fill(dst, shape.left, pad, sizeof(T));
    std::memcpy(dst + shape.left, src, shape.bytes);
    fill(dst + shape.left + shape.bytes, shape.right, pad, sizeof(T));
    fill(dst + defined, shape.row_bytes - defined, src, sizeof(T));
  }
}

void run(Call& call, Memories& memories) {
  if (call.params[kLength] == 0) return;
  switch (call.dtype(0)) {
    case DType::float16:
      return copy<Half>(call, memories);
    case DType::bfloat16:
      return copy<BFloat>(call, memories);
    case DType::float32:
      return copy<float>(call, memories);
    case DType::int8:
    case DType::uint8:
      return copy<Int<uint8_t>>(call, memories);
    case DType::int16:
    case DType::uint16:
      return copy<Int<uint16_t>>(call, memories);
    case DType::int64:
    case DType::uint64:
      return copy<Int<uint64_t>>(call, memories);
    default:
      return copy<Int<uint32_t>>(call, memories);
  }
}

}  // namespace

extern const Body body_data_copy_pad_in;
const Body body_data_copy_pad_in{access, run, nullptr, nullptr, nullptr};

}  // namespace tvm_ascend::sim

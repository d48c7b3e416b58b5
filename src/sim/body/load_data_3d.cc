// SPDX-License-Identifier: Apache-2.0
// LoadData 3D, L1 to L0A or L0B: img2col of a feature map in NC1HWC0 [doc: ASCEND 2.4; the order of
// the columns and the transposed layouts are those of the vendor's load3d sample]. Undefined bytes
// travel along.
#include <algorithm>
#include <cstring>

#include "body.h"

namespace tvm_ascend::sim {

namespace {

enum {
  kChannels,
  kTranspose,
  kRight,
  kExtension,
  mExtension,
  kStart,
  mStart,
  kStrideW,
  kStrideH,
  kFilterW,
  kFilterH,
  kDilationW,
  kDilationH
};
constexpr int64_t kMostPatterns = 400;

// The feature map and the unrolled matrix: `m` rows of output pixels, columns in groups of 32
// bytes.
struct Unrolled {
  explicit Unrolled(const Call& call) : p(call.params), size(call.itemsize(0)) {
    const auto first =
        static_cast<int>(p[kRight] != 0 ? Register::right_l1_h : Register::left_l1_h);
    auto field = [&](int i) { return call.registers[static_cast<Register>(first + i)]; };
    height = field(0);
    width = field(1);
    left = field(2);
    top = field(4);
    out_width = outputs(width + left + field(3), p[kFilterW], p[kDilationW], p[kStrideW]);
    out_height = outputs(height + top + field(5), p[kFilterH], p[kDilationH], p[kStrideH]);
    lanes = kBlockBytes / size;
    first_group = p[kStart] / lanes;
    groups = div_up(p[kExtension], lanes);
    rows = p[mExtension];
    blocks = div_up(rows, kCubeSide);
    transposed = call.spaces[0] == Space::L0B || p[kTranspose] != 0;
    to_right = call.spaces[0] == Space::L0B;
  }

  static int64_t outputs(int64_t padded, int64_t filter, int64_t dilation, int64_t stride) {
    const int64_t reach = (filter - 1) * dilation + 1;
    return padded < reach ? 0 : (padded - reach) / stride + 1;
  }

  bool nothing() const {
    return height == 0 || width == 0 || p[kChannels] == 0 || groups == 0 || rows == 0 ||
           p[kFilterW] == 0 || p[kFilterH] == 0;
  }

  int64_t source_bytes() const { return p[kChannels] / lanes * height * width * kBlockBytes; }

  // Byte of the 32 bytes that row `m` has in column group `group`; -1 for padding.
  int64_t source(int64_t group, int64_t m) const {
    const int64_t pixel = p[mStart] + m;
    const int64_t point = (first_group + group) % (p[kFilterH] * p[kFilterW]);
    const int64_t channel = (first_group + group) / (p[kFilterH] * p[kFilterW]);
    const int64_t h = pixel / out_width * p[kStrideH] - top + point / p[kFilterW] * p[kDilationH];
    const int64_t w = pixel % out_width * p[kStrideW] - left + point % p[kFilterW] * p[kDilationW];
    if (h < 0 || h >= height || w < 0 || w >= width) return -1;
    return ((channel * height + h) * width + w) * kBlockBytes;
  }

  // Column groups that 32-bit transposition fills up to whole fractals.
  int64_t tall() const { return div_up(groups * lanes, kCubeSide); }

  // Byte where the element of row m and column k of the loaded part goes.
  int64_t target(int64_t m, int64_t k) const {
    if (!transposed) {
      return (m / kCubeSide * groups + k / lanes) * kFractalBytes + m % kCubeSide * kBlockBytes +
             k % lanes * size;
    }
    const int64_t across = m / lanes;  // fractals are 16 columns k high and `lanes` rows m wide
    const int64_t fractal = to_right ? across * tall() + k / kCubeSide
                                     : k / kCubeSide * (blocks * kCubeSide / lanes) + across;
    return fractal * kFractalBytes + k % kCubeSide * kBlockBytes + m % lanes * size;
  }

  const int64_t* p;
  int64_t size;
  int64_t height, width, left, top;
  int64_t out_width, out_height;
  int64_t lanes;
  int64_t first_group, groups;
  int64_t rows, blocks;
  bool transposed, to_right;
};

std::string refusal(const Call& call, const Unrolled& map) {
  if (map.p[kChannels] % map.lanes != 0)
    return "channel_size is no multiple of " + std::to_string(map.lanes) +
           ", which is not modelled";
  if (map.p[kStart] % map.lanes != 0)
    return "k_start is no multiple of " + std::to_string(map.lanes);
  if (map.size == 1 && map.transposed) return "8-bit elements cannot be transposed";
  if (map.p[mStart] + map.rows > map.out_width * map.out_height) {
    return "rows to " + std::to_string(map.p[mStart] + map.rows) + " of " +
           std::to_string(map.out_width * map.out_height) + " output pixels; check " +
           (call.params[kRight] != 0 ? "set_fmatrix_right" : "set_fmatrix_left");
  }
  const int64_t all = map.p[kChannels] / map.lanes * map.p[kFilterH] * map.p[kFilterW];
  if (map.first_group + map.groups > all) {
    return "columns to " + std::to_string((map.first_group + map.groups) * map.lanes) + " of " +
           std::to_string(all * map.lanes);
  }
  return "";
}

// Lists the runs of pixels that follow each other in the source. False when they are too many.
bool list_pixels(const Unrolled& map, AccessList* list) {
  int64_t patterns = 0;
  for (int64_t group = 0; group < map.groups; ++group) {
    int64_t start = -1, bytes = 0;
    for (int64_t m = 0; m <= map.rows; ++m) {
      const int64_t at = m < map.rows ? map.source(group, m) : -1;
      if (start >= 0 && at == start + bytes) {
        bytes += kBlockBytes;
        continue;
      }
      if (start >= 0) {
        if (++patterns > kMostPatterns) return false;
        if (list != nullptr) list->add(AccessKind::Copy, 1, start, bytes);
      }
      start = at;
      bytes = kBlockBytes;
    }
  }
  return true;
}

void access(const Call& call, AccessList& list) {
  const Unrolled map(call);
  if (map.nothing()) return;
  if (const std::string reason = refusal(call, map); !reason.empty()) {
    list.fault("loads " + reason);
    return;
  }
  if (map.p[kFilterW] * map.p[kFilterH] == 1 && map.width == map.out_width &&
      map.p[kStrideW] * map.p[kStrideH] == 1 && map.height == map.out_height) {
    const int64_t group = map.height * map.width * kBlockBytes;
    list.add(AccessKind::Copy, 1, map.first_group * group + map.p[mStart] * kBlockBytes,
             map.rows * kBlockBytes, map.groups, group);
  } else if (list_pixels(map, nullptr)) {
    list_pixels(map, &list);
  } else {
    list.add(AccessKind::Copy, 1, 0, map.source_bytes());
  }
  const int64_t columns = map.blocks * kCubeSide / map.lanes;
  const int64_t height = map.groups * map.lanes * kBlockBytes;
  if (!map.transposed || map.groups * map.lanes % kCubeSide == 0) {
    list.add(AccessKind::Write, 0, 0, map.blocks * kCubeSide * map.groups * kBlockBytes);
  } else if (map.to_right) {
    list.add(AccessKind::Write, 0, 0, height, columns, map.tall() * kFractalBytes);
  } else {
    const int64_t whole = map.groups * map.lanes / kCubeSide * columns * kFractalBytes;
    list.add(AccessKind::Write, 0, 0, whole);
    list.add(AccessKind::Write, 0, whole, map.groups * map.lanes % kCubeSide * kBlockBytes, columns,
             kFractalBytes);
  }
}

// The padding value as the bits of one element.
uint64_t padding(const Call& call) {
  const int64_t word = call.registers[Register::padding_value];
  switch (static_cast<DType>(call.registers[Register::padding_type])) {
    case DType::float16:
      return scalar_from_word<Half>(word).bits;
    case DType::bfloat16:
      return scalar_from_word<BFloat>(word).bits;
    case DType::float32:
      return bit_cast<uint32_t>(scalar_from_word<float>(word));
    default:
      return static_cast<uint64_t>(word);
  }
}

void run(Call& call, Memories& memories) {
  const Unrolled map(call);
  if (map.nothing()) return;
  const uint8_t* src = memories.operand<const uint8_t>(call, 1);
  uint8_t* dst = memories.operand<uint8_t>(call, 0);
  const uint64_t pad = padding(call);
  for (int64_t group = 0; group < map.groups; ++group) {
    for (int64_t m = 0; m < map.rows; ++m) {
      const int64_t from = map.source(group, m);
      for (int64_t lane = 0; lane < map.lanes; ++lane) {
        const void* element = &pad;
        if (from >= 0) element = src + from + lane * map.size;
        std::memcpy(dst + map.target(m, group * map.lanes + lane), element, map.size);
      }
    }
  }
}

// Rows past m_extension in the last fractals have no value, and what was undefined stays so.
void poison(const Call& call, PoisonMaps& maps) {
  const Unrolled map(call);
  if (map.nothing()) return;
  for (int64_t group = 0; group < map.groups; ++group) {
    for (int64_t m = 0; m < map.blocks * kCubeSide; ++m) {
      const int64_t from = m < map.rows ? map.source(group, m) : -1;
      const int64_t src = call.operands[1] + from;
      const bool clean =
          m < map.rows && (from < 0 || maps.find(call.spaces[1], src, src + kBlockBytes) < 0);
      if (clean) continue;
      for (int64_t lane = 0; lane < map.lanes; ++lane) {
        const int64_t at = call.operands[0] + map.target(m, group * map.lanes + lane);
        const int64_t element = src + lane * map.size;
        maps.set(call.spaces[0], at, at + map.size,
                 from < 0 || maps.find(call.spaces[1], element, element + map.size) >= 0);
      }
    }
  }
}

}  // namespace

extern const Body body_load_data_3d;
const Body body_load_data_3d{access, run, poison, nullptr, nullptr};

}  // namespace tvm_ascend::sim

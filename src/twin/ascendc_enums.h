// SPDX-License-Identifier: Apache-2.0
// Enumerations of Ascend C, with the vendor's order and values for the 910B.
#ifndef TVM_ASCEND_TWIN_ASCENDC_ENUMS_H_
#define TVM_ASCEND_TWIN_ASCENDC_ENUMS_H_

#include <cstdint>

enum pipe_t {
  PIPE_S = 0,
  PIPE_V,
  PIPE_M,
  PIPE_MTE1,
  PIPE_MTE2,
  PIPE_MTE3,
  PIPE_ALL,
  PIPE_FIX = 10,
};

enum QuantMode_t {
  NoQuant = 0,
  F322F16 = 1,
  VREQ8 = 2,
  REQ8 = 3,
  VDEQF16 = 4,
  DEQF16 = 5,
  F322BF16 = 16,
  VQF322B8_PRE = 23,
  QF322B8_PRE = 24,
};

namespace AscendC {

constexpr uint64_t MASK_PLACEHOLDER = 0;

enum class SaturationMode : uint8_t {
  FLOAT,
  CAST,
};

enum class MaskMode : uint8_t {
  NORMAL = 0,
  COUNTER,
};

enum class TPosition : uint8_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
  SPM,
  SHM = SPM,
  TSCM,
  C2PIPE2GM,
  C2PIPE2LOCAL,
  MAX,
};

enum class HardEvent : uint8_t {
  MTE2_MTE1,
  MTE1_MTE2,
  MTE1_M,
  M_MTE1,
  MTE2_V,
  V_MTE2,
  MTE3_V,
  V_MTE3,
  M_V,
  V_M,
  V_V,
  MTE3_MTE1,
  MTE1_MTE3,
  MTE1_V,
  MTE2_M,
  M_MTE2,
  V_MTE1,
  M_FIX,
  FIX_M,
  MTE3_MTE2,
  MTE2_MTE3,
  S_V,
  V_S,
  S_MTE2,
  MTE2_S,
  S_MTE3,
  MTE3_S,
  MTE2_FIX,
  FIX_MTE2,
  FIX_S,
  M_S,
  FIX_MTE3,
  MTE1_FIX,
  FIX_MTE1,
  FIX_FIX,
  MAX,
};

enum class RoundMode : uint8_t {
  CAST_NONE = 0,
  CAST_RINT,
  CAST_FLOOR,
  CAST_CEIL,
  CAST_ROUND,
  CAST_TRUNC,
  CAST_ODD,
  UNKNOWN = 0xFF,
};

enum class ReduceType {
  NONE = -1,
  SUM = 0,
  MAX,
  MIN,
};

enum class ReduceOrder : uint8_t {
  ORDER_VALUE_INDEX = 0,
  ORDER_INDEX_VALUE,
  ORDER_ONLY_VALUE,
  ORDER_ONLY_INDEX,
};

enum class CMPMODE : uint8_t {
  LT = 0,
  GT,
  EQ,
  LE,
  GE,
  NE,
};

enum class SELMODE : uint8_t {
  VSEL_CMPMASK_SPR = 0,
  VSEL_TENSOR_SCALAR_MODE,
  VSEL_TENSOR_TENSOR_MODE,
};

enum class GatherMaskMode : uint8_t {
  VERSION_V1 = 0,
  VERSION_V2 = 1,
};
constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V2;

enum class CO2Layout : uint8_t {
  NZ = 0,
  ROW_MAJOR,
  COLUMN_MAJOR,
};

enum class CacheLine : uint64_t {
  SINGLE_CACHE_LINE = 0,
  ENTIRE_DATA_CACHE,
};

enum class DcciDst : uint64_t {
  CACHELINE_ALL = 0,
  CACHELINE_UB,
  CACHELINE_OUT,
  CACHELINE_ATOMIC,
};

enum class FmatrixMode : uint8_t {
  FMATRIX_LEFT = 0,
  FMATRIX_RIGHT = 1,
};

struct FixpipeConfig {
  CO2Layout format;
  __aicore__ constexpr inline FixpipeConfig(CO2Layout format_) : format(format_) {}
};

constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};
constexpr FixpipeConfig CFG_COLUMN_MAJOR = {CO2Layout::COLUMN_MAJOR};

}  // namespace AscendC

#endif  // TVM_ASCEND_TWIN_ASCENDC_ENUMS_H_

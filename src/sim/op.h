// SPDX-License-Identifier: Apache-2.0
// The instruction table as the simulator sees it; the rows themselves are generated from
// tvm_ascend/isa.
#ifndef TVM_ASCEND_SIM_OP_H_
#define TVM_ASCEND_SIM_OP_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

namespace tvm_ascend::sim {

#include "../isa/isa_names.inc"

class AccessList;
class Core;
class Memories;
struct Program;
class PoisonMaps;

enum class ParamKind : uint8_t { Integer, Enum, Scalar, Text };  // of a text: a pointer to char
enum class Form : uint8_t { None, Count, Repeat, Bits, Preset };

inline int item_size(DType dtype) { return kItemSizes[static_cast<int>(dtype)]; }
inline bool is_float(DType dtype) { return dtype <= DType::float32; }
inline bool is_dma(Pipe pipe) { return pipe != Pipe::S && pipe != Pipe::V && pipe != Pipe::M; }
inline const char* name_of(Pipe pipe) { return kPipeNames[static_cast<int>(pipe)]; }
inline const char* name_of(Space space) { return kSpaceNames[static_cast<int>(space)]; }
inline const char* name_of(DType dtype) { return kDTypeNames[static_cast<int>(dtype)]; }

// The kinds of core, as in OpInfo::cores, that have a memory or a pipe [doc: ASCEND 1.2, 4.1].
inline uint32_t cores_of(Space space) {
  constexpr uint32_t kCube = 1, kVector = 2;
  return space == Space::GM ? kCube | kVector : space == Space::UB ? kVector : kCube;
}
inline uint32_t cores_of(Pipe pipe) {
  constexpr uint32_t kCube = 1, kVector = 2;
  if (pipe == Pipe::V) return kVector;
  return pipe == Pipe::M || pipe == Pipe::MTE1 || pipe == Pipe::FIX ? kCube : kCube | kVector;
}

struct OperandInfo {
  const char* name;
  uint32_t spaces;  // bit per Space
  bool read;
  bool write;
  int align;  // bytes; elements if negative; 0: the rule of the space
};

struct ParamInfo {
  const char* name;
  ParamKind kind;
  int64_t low;
  int64_t high;
  const char* const* values;
};

// One dtype tuple of a row.
struct Variant {
  const char* dtypes;
  DType operands[kMaxOperands];
  DType scalar;      // of the row's scalar parameter
  uint64_t choices;  // bit per allowed value of the row's enum parameter
};

// What a timing text may ask about one instruction.
struct TimingArgs {
  const double* constants;
  const int64_t* params;
  const Space* spaces;
  const DType* dtypes;
  const int64_t* registers = nullptr;

  double k(Constant name) const { return constants[static_cast<int>(name)]; }
  double r(Register name) const { return static_cast<double>(registers[static_cast<int>(name)]); }
  double p(int i) const { return static_cast<double>(params[i]); }
  Space space(int i) const { return spaces[i]; }
  double itemsize(int i) const { return item_size(dtypes[i]); }
  double block(int i) const { return static_cast<double>(kBlockBytes / item_size(dtypes[i])); }
  double fractal(int i) const { return static_cast<double>(kFractalBytes / item_size(dtypes[i])); }
};

// The registers of a core; see tvm_ascend/isa/registers.py.
class Registers {
 public:
  Registers() { std::copy(std::begin(kFirstValues), std::end(kFirstValues), values_); }
  int64_t& operator[](Register name) { return values_[static_cast<int>(name)]; }
  int64_t operator[](Register name) const { return values_[static_cast<int>(name)]; }
  const int64_t* data() const { return values_; }

 private:
  int64_t values_[kRegisters];
};

// What a row sets one register to: one of its parameters, the dtype that a parameter names, the
// address of an operand, the dtype of its scalar, or a constant.
enum class From : uint8_t { Param, Dtype, Operand, Type, Constant };
struct Setting {
  Register name;
  From from;
  int64_t value;
};

struct OpInfo;

// The bytes of an on-chip buffer in its memory; empty: not known.
struct Range {
  int64_t low = 0;
  int64_t high = 0;

  bool known() const { return low < high; }
};

// One instruction about to run: decoded operands and parameters.
struct Call {
  const OpInfo* op;
  const Variant* variant;
  uint32_t site;
  Space spaces[kMaxOperands];
  int64_t operands[kMaxOperands];  // byte address in its space, host pointer for GM
  Range buffers[kMaxOperands];     // what each operand is a part of
  int64_t params[kMaxParams];
  Registers registers;  // when it was issued
  int64_t result;       // of get_value: int64, or the bits of a float64

  DType dtype(int operand) const { return variant->operands[operand]; }
  int64_t itemsize(int operand) const { return item_size(dtype(operand)); }
};

// Meaning of an irregular row. `access` lists the bytes touched; `run` computes; `poison` moves
// undefined bytes along where the instruction copies without looking; `tile` gives a non-zero key
// when the chip itself orders it after an earlier one of the same key and the same first operand;
// `control` replaces all of them for rows that order pipes; `data_access` adds the accesses that
// depend on data, without which (null) it lists the most that can be; the bytes that `access` lists
// are then known to exist; `print` gives the text of a row that prints, without memories when there
// are none; `cleans` gives the address whose line leaves the scalar unit's data cache, 0 for all of
// it. Unused hooks are null.
struct Body {
  void (*access)(const Call&, AccessList&) = nullptr;
  void (*run)(Call&, Memories&) = nullptr;
  void (*poison)(const Call&, PoisonMaps&) = nullptr;
  int64_t (*tile)(const Call&, const Program&) = nullptr;
  bool (*control)(const Call&, Core&) = nullptr;  // whether the core may go on
  void (*data_access)(const Call&, const Memories*, AccessList&) = nullptr;
  std::string (*print)(const Call&, const Memories*) = nullptr;
  int64_t (*cleans)(const Call&) = nullptr;
};

// Whether the instruction combines what it stores with what GM holds.
bool stores_atomically(const Call& call);

using LaneFn = void (*)(const Call&, Memories&);
using TimingFn = double (*)(const TimingArgs&);

struct OpInfo {
  const char* key;
  const char* name;
  Pipe pipe;
  uint32_t cores;  // bit 0 AIC, bit 1 AIV
  int n_operands;
  OperandInfo operands[kMaxOperands];
  int n_params;
  const ParamInfo* params;
  int n_variants;
  const Variant* variants;
  Form form;
  int count;  // indices of parameters by their name, -1: the row has none
  int mask;   // the mask count, or the low word of a bit mask, which the high word follows; -1 of
              // a row with lanes: the vector mask register
  bool bits;  // the latter
  int repeat;
  int scalar;  // the parameter of a type variable's dtype
  int blk[kMaxOperands];
  int rep[kMaxOperands];
  int timing;        // index into kTimingNames, -1: by cycles()
  TimingFn repeats;  // of an instruction with a timing, null: by count or repeat
  TimingFn cycles;
  TimingFn latency;
  const Constant* constants;  // the ones its timing reads
  int n_constants;
  bool accumulates;
  const LaneFn* lanes;  // one per variant, or null
  const Body* body;
  const Setting* sets;
  int n_sets;
};

extern const OpInfo kOps[];
extern const int kOpCount;
extern const int kSpaceAlign[kSpaces];  // as OperandInfo::align

// Row of that key, or -1.
int find_op(const std::string& key);
// Variant of that row by its comma-joined dtypes, or -1.
int find_variant(const OpInfo& op, const std::string& dtypes);
// Index of a parameter by name; the row must have it.
int param_index(const OpInfo& op, const char* name);

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_OP_H_

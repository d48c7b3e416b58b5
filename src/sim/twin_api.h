// SPDX-License-Identifier: Apache-2.0
// The C interface between emitted Ascend C compiled by g++ (the "twin") and the simulator.
//
// A twin library exports exactly two functions:
//
//   extern "C" const char* tvm_ascend_twin_bind(const TwinApi* api);
//       Called once after dlopen, before any run. Stores `api` (it lives as long as the process)
//       and returns NULL, or a text that says why it cannot be used (for instance another
//       TVM_ASCEND_TWIN_VERSION).
//   extern "C" void tvm_ascend_twin_run(const int64_t* args);
//       Runs the kernel body of the calling block: one word per kernel parameter, in order: the
//       host pointer of a tensor, an integer scalar as int64, a float scalar as the bits of a
//       float64. Called on a fiber with a 256 KB stack, once per block, from several threads at
//       once when Python threads launch at once: keep per-block state on the stack.
//
// Every function below acts on the block that runs on the calling thread. A call that meets a
// hazard in strict mode does not return: the fiber is abandoned, destructors on its stack do not
// run, so nothing on it may own memory or a lock.
#ifndef TVM_ASCEND_SIM_TWIN_API_H_
#define TVM_ASCEND_SIM_TWIN_API_H_

#include <stdint.h>

#define TVM_ASCEND_TWIN_VERSION 3

// Numbering of spaces in the `spaces` array of issue(), the order of tvm_ascend.isa.instr.Space.
enum TwinSpace {
  kTwinGM = 0,
  kTwinUB = 1,
  kTwinL1 = 2,
  kTwinL0A = 3,
  kTwinL0B = 4,
  kTwinL0C = 5,
  kTwinBT = 6,
  kTwinFB = 7,
};

// Bytes of a memory, `high` not included.
typedef struct TwinRange {
  int64_t low;
  int64_t high;
} TwinRange;

typedef struct TwinApi {
  int32_t version;  // TVM_ASCEND_TWIN_VERSION of the simulator

  // Handle (>= 0) of the table row `key` for one of its dtype tuples, written in the order of the
  // row's `types` and joined by commas ("float16", "float32,float16", "" for rows without types);
  // -1 if the table has no such row. Handles do not depend on the block or the launch: keep one in
  // a function-local static.
  int32_t (*find)(const char* key, const char* dtypes);

  // Index of the name `value` among the row's `values` of parameter number `param` (counted without
  // operands); -1 if none.
  int32_t (*enum_value)(int32_t op, int32_t param, const char* value);

  // Issues one instruction. `args` holds the operands and then the parameters in the order of the
  // row, n_args words:
  //   tensor operand   byte address inside its space; for GM the host pointer
  //   integer, bool    the value
  //   enum             the index enum_value() returns
  //   scalar of a type variable of the row ("T"): bits of a float64 for float16/bfloat16/float32,
  //   else the int64 value
  // `spaces` holds one TwinSpace per operand, `ranges` the bytes of its memory that each operand's
  // tensor has (equal ends: not known); it may be NULL. `where` names the statement in reports
  // ("kernel.cce:42"), may be NULL; it must outlive the launch. Returns 0.
  int32_t (*issue)(int32_t op, const uint8_t* spaces, const TwinRange* ranges, const int64_t* args,
                   int32_t n_args, const char* where);

  // The scalar unit's element access (rows get_value and set_value; `op` as found for the element
  // dtype, `space` a TwinSpace, `range` and `address` as in issue()). The float forms serve
  // float16, bfloat16 and float32, the int forms every other dtype.
  double (*get_float)(int32_t op, int32_t space, TwinRange range, int64_t address,
                      const char* where);
  int64_t (*get_int)(int32_t op, int32_t space, TwinRange range, int64_t address,
                     const char* where);
  int32_t (*set_float)(int32_t op, int32_t space, TwinRange range, int64_t address, double value,
                       const char* where);
  int32_t (*set_int)(int32_t op, int32_t space, TwinRange range, int64_t address, int64_t value,
                     const char* where);

  int64_t (*block_idx)(void);      // AscendC::GetBlockIdx()
  int64_t (*block_num)(void);      // AscendC::GetBlockNum()
  int64_t (*sub_block_idx)(void);  // AscendC::GetSubBlockIdx()
  int64_t (*sub_block_num)(void);  // AscendC::GetSubBlockNum()
  int32_t (*is_cube)(void);        // whether the block runs on a Cube core
} TwinApi;

#endif  // TVM_ASCEND_SIM_TWIN_API_H_

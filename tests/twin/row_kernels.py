# SPDX-License-Identifier: Apache-2.0
"""For each row a final function that runs it on memories full of data and brings out the results.

Every function has the tensors ``data`` and ``out`` of bytes, and two for operands in GM; the second
of them takes what is in L0C in the end. What an instruction leaves in L0A and L0B comes out as a
product with other data, biases as a sum.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
from final_functions import SCOPES
from tvm import tirx
from tvm.ir import StringImm

from tvm_ascend.isa import cross_core
from tvm_ascend.isa.formula import ITEMSIZE, operand_dtype
from tvm_ascend.isa.instr import CoreType, Instr, Pipe, Space
from tvm_ascend.isa.scalar import ELEMENT_READ, ELEMENT_WRITE, TRAP
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.ops import call

AREA = 16384  # bytes of each operand in its memory
AREAS = 5  # of operands; the last one in L1 is for the data of a product
SIDE, DEPTH = 64, 256  # of that product in int8; half as deep in float16
SEED = 32768  # where L0A and L0B have it
READS_CMP_MASK = ("select_cmp_mask", "select_cmp_mask_scalar", "get_cmp_mask")
DRAINS_UNITS = tuple(
    key for key, row in TABLE.items() if key.endswith("_unit_flag") and row.pipe is Pipe.FIX
)
SCALED_BY_HALF = ("cast_deq", "add_deq_relu")
# Those need a partner on another core; the tests of mixed kernels run them on both paths.
ACROSS_CORES = {row.key for row in cross_core.ROWS}
SKIPPED = {*ACROSS_CORES, TRAP.key}

PARAMS = {
    "count": 128,
    "mask": 30,
    "mask_low": 0x00FF_0F0F,
    "mask_high": 0,
    "repeat": 2,
    "block_count": 2,
    "block_len": 32,
    "first": 3,
    "low": 0xFF,
    "high": 0,
    "l1_h": 1,
    "l1_w": 16,
    "repeat_times": 2,
    "block_num": 2,
    "src_stride": 1,
    "valid_bit": 15,
    "m": 32,
    "n": 32,
    "k": 64,
    "init": 0,
    "n_size": 32,
    "m_size": 32,
    "dst_stride": 32,
    "src_d_value": 40,
    "n_value": 20,
    "d_value": 24,
    "dst_nz_c0_stride": 32,
    "nd_num": 1,
    "dst_nz_n_stride": 1,
    "channel_size": 16,
    "k_extension": 16,
    "m_extension": 16,
    "filter_h": 1,
    "filter_w": 1,
    "nz2nd": 1,
    "pattern": 2,
    "scalar": 2,
    "value": 2,
    "dst_step": 64,
    "src_step": 64,
    "desc": 3,
    "dump_size": 16,
    "dumpSize": 16,
    "reduce_mode": 0,
    "length1": 16,
    "length2": 16,
    "length3": 16,
    "length4": 16,
    "scale": 2,
    "enable": 0,
}
QUANT = {
    ("float16", "float32"): "F322F16",
    ("bfloat16", "float32"): "F322BF16",
    ("float16", "int32"): "DEQF16",
    **{(t, "float32"): "QF322B8_PRE" for t in ("int8", "uint8")},
    **{(t, "int32"): "REQ8" for t in ("int8", "uint8")},
}
SPECIAL: dict[str, dict[str, int]] = {
    "mrg_sort": {"repeat": 1},
    "set_vector_mask_count": {"low": 64},
    "load_data_3d": {"f_matrix_ctrl": 0},
    "data_copy_pad_in": {"src_stride": 32},
    **{key: {"src_stride": 32, "unit_flag": 3} for key in DRAINS_UNITS},
    **{key: {"block_len": 2} for key in ("data_copy_bt", "data_copy_bt_cast", "data_copy_fb")},
}


def numpy_dtype(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name))


class RowKernel:
    """The function of one row with one of its dtype tuples, and the arrays to run it on."""

    def __init__(self, row: Instr, dtypes: tuple[str, ...], leave_out: bool = False) -> None:
        self.row, self.dtypes, self.leave_out = row, dtypes, leave_out
        self.name = "_".join(("run", row.key, *dtypes))
        self.cube = CoreType.AIV not in row.core
        self.types = [operand_dtype(row, o, dtypes) for o in row.operands]
        self.spaces = [o.spaces[0] for o in row.operands]
        self.allocations: list[tirx.Stmt] = []
        self.steps: list[tirx.Stmt] = []
        self.data = tirx.decl_buffer((AREA * (AREAS + 1),), "uint8", "data")
        self.out = tirx.decl_buffer((AREA * (AREAS + 1),), "uint8", "out")
        in_gm = [t for t, s in zip(self.types, self.spaces, strict=True) if s is Space.GM]
        l0c_dtype = next((t for t, s in self._placed() if s is Space.L0C), "int32")
        kinds = [*in_gm[:1], *["uint8"] * (1 - len(in_gm)), *(in_gm[1:] or [l0c_dtype])]
        self.gm = [
            tirx.decl_buffer((2 * AREA // ITEMSIZE[t],), t, f"gm{i}") for i, t in enumerate(kinds)
        ]
        self.l0c_dtype = l0c_dtype
        self.func = self._build()

    def _placed(self):
        return zip(self.types, self.spaces, strict=True)

    def _buffer(self, space: Space, dtype: str, name: str, byte: int, size: int = AREA):
        buffer = tirx.decl_buffer((size // ITEMSIZE[dtype],), dtype, name, scope=SCOPES[space])
        self.allocations.append(tirx.AllocBuffer(buffer, {"ascend.address": byte}))
        return buffer

    def _do(self, key: str, *args) -> None:
        words = [tirx.BufferLoad(a, [0]) if isinstance(a, tirx.Var) else a for a in args]
        self.steps.append(call(key, *words))

    def _barrier(self) -> None:
        self._do("pipe_barrier", "ALL")

    def _build(self) -> tirx.PrimFunc:
        if self.cube:
            self._fill_cube()
        operands = self._operands()
        self._barrier()
        if not self.leave_out:
            self._instruction(operands)
        self._barrier()
        self._drain()
        self._barrier()
        params = [self.data, self.out, *self.gm]
        func = tirx.PrimFunc(params, tirx.SeqStmt([*self.allocations, *self.steps]))
        return func.with_attr(
            {
                "global_symbol": self.name,
                "ascend.core_type": "AIC" if self.cube else "AIV",
                "ascend.grid": 1,
            }
        )

    def _operands(self) -> list:
        """The row's operands; those in UB are loaded."""
        operands, in_gm = [], iter(self.gm)
        for i, (dtype, space) in enumerate(self._placed()):
            if space is Space.GM:
                operands.append(next(in_gm))
                continue
            byte = 0 if space in (Space.BT, Space.FB, Space.L0C) else i * AREA
            if space in (Space.L0A, Space.L0B):
                byte = 0
            size = min(AREA, {Space.BT: 1024, Space.FB: 4096}.get(space, AREA))
            operands.append(self._buffer(space, dtype, f"operand{i}", byte, size))
            if space is Space.UB:
                raw = self._buffer(space, "uint8", f"raw{i}", byte)
                at = tirx.BufferLoad(self.data, [byte])
                self._do("data_copy_in_count", raw, at, AREA)
        return operands

    def _fill_cube(self) -> None:
        """Data in L1, in the starts of L0A, L0B and L0C, and biases."""
        self.l1 = self._buffer(Space.L1, "uint8", "l1", 0, AREA * (AREAS + 1))
        self._do("data_copy_in_count", self.l1, self.data, AREA * (AREAS + 1))
        self._barrier()
        seed = "float16" if self.l0c_dtype == "float32" else "int8"
        k = DEPTH // ITEMSIZE[seed]
        last = tirx.BufferLoad(self.l1, [AREA * AREAS])
        sides = []
        for space, name in ((Space.L0A, "left"), (Space.L0B, "right")):
            whole = self._buffer(space, "uint8", f"{name}_raw", 0, 65536)
            for i, byte in enumerate((0, SEED)):
                source = tirx.BufferLoad(self.l1, [AREA * i]) if byte == 0 else last
                at = tirx.BufferLoad(whole, [byte])
                self._do("load_data_2d", at, source, 0, AREA // 512, 1, 0, False)
            sides.append(self._buffer(space, seed, name, SEED))
        self.sides = sides
        self.l0c = self._buffer(Space.L0C, self.l0c_dtype, "l0c", 0)
        biases = self._buffer(Space.BT, self.l0c_dtype, "biases", 0, 1024)
        l1_biases = self._buffer(Space.L1, self.l0c_dtype, "l1_biases", 0)
        self._do("data_copy_bt", biases, l1_biases, 1, 4, 0, 0)
        self.biases = biases
        self._barrier()
        self._do("mmad", self.l0c, *sides, SIDE, SIDE, k, True)

    def _instruction(self, operands: list) -> None:
        row = self.row
        if row is ELEMENT_READ:
            (source,) = operands
            self.steps.append(tirx.BufferStore(source, tirx.BufferLoad(source, [1]), [0]))
            self._do("data_cache_clean", self.data, "ENTIRE_DATA_CACHE")
            return
        values = self._values()
        if row is ELEMENT_WRITE:
            self.steps.append(tirx.BufferStore(operands[0], values[0], [1]))
            self._do("data_cache_clean", self.data, "ENTIRE_DATA_CACHE")
            return
        if row.key in READS_CMP_MASK:
            self._do("set_cmp_mask", self._buffer(Space.UB, "uint8", "bits", 0))
        if row.body in SCALED_BY_HALF:
            self._do("set_deq_scale", tirx.const(0.5, "float16"))
        if row.body == "cast_dequant":
            signed = self.dtypes[0] == "int8"
            self._do("set_deq_scale_offset", tirx.const(0.5, "float32"), 3, signed)
        if row.key in DRAINS_UNITS:
            self._do("mmad_unit_flag", self.l0c, *self.sides, 32, 32, 32, True, 3)
        if row.key == "wait_flag":
            self._do("set_flag", *values)
        self._do(row.key, *operands, *values)
        if row.key == "set_flag":
            self._do("wait_flag", *values)

    def _values(self) -> list:
        by_type = dict(zip(self.row.types, self.dtypes, strict=True))
        values = []
        for param in self.row.params:
            if param.type == "text":
                values.append(StringImm(self._text()))
            elif param.name == "quant_pre":
                vector = "_vector" in self.row.key
                mode = QUANT.get(self.dtypes, "NoQuant")
                values.append(StringImm(f"V{mode}" if vector else mode))
            elif param.values:
                allowed = self.row.choices.get(self.dtypes, param.values)
                values.append(StringImm(allowed[-1]))
            elif param.type in by_type:
                dtype = by_type[param.type]
                value = self._value(param)
                values.append(tirx.const(value > 0 if dtype == "bool" else value, dtype))
            else:
                dtype = "bool" if param.type == "bool" else "int64"
                values.append(tirx.IntImm(dtype, self._value(param)))
        return values

    def _text(self) -> str:
        if not self.dtypes:
            return "a text\n"
        return "value %f\n" if "float" in self.dtypes[0] else "value %d\n"

    def _value(self, param) -> int:
        name = param.name
        usual = {"blk": 1, "rep": 8}.get(name.rpartition("_")[2], 1 if "stride" in name else 0)
        value = SPECIAL.get(self.row.key, {}).get(name, PARAMS.get(name, usual))
        if param.low is None:
            return value
        return min(max(value, param.low), param.high)

    def _drain(self) -> None:
        if not self.cube:
            lost = range(1, 3) if self.row.body == "add_deq_relu" else ()
            for i, space in enumerate(self.spaces):
                if space is Space.UB and i not in lost:
                    raw = self._buffer(space, "uint8", f"result{i}", i * AREA)
                    at = tirx.BufferLoad(self.out, [i * AREA])
                    self._do("data_copy_out_count", at, raw, AREA)
            return
        self._do("data_copy_l1_out_count", self.out, self.l1, AREA * AREAS)
        written = {s for o, s in zip(self.row.operands, self.spaces, strict=True) if "w" in o.rw}
        if written & {Space.L0A, Space.L0B, Space.BT}:
            self._multiply(written)
        if Space.GM not in self.spaces[1:] and len(set(map(id, self.gm))) == 2:
            self._barrier()
            args = (SIDE, SIDE, SIDE, SIDE, False, "NoQuant")
            self._do("fixpipe", self.gm[1], self.l0c, *args)

    def _multiply(self, written: set[Space]) -> None:
        """What is in L0A, L0B or the bias table, as a product that ends in L0C."""
        sides, key, rest = list(self.sides), "mmad", [True]
        for i, space in enumerate((Space.L0A, Space.L0B)):
            if space in written:
                sides[i] = self._buffer(space, str(sides[i].dtype), f"seen{i}", 0)
        if Space.BT in written:
            key, rest, sides = "mmad_bias", [False], [*sides, self.biases]
        k = DEPTH // ITEMSIZE[str(self.sides[0].dtype)]
        self._do(key, self.l0c, *sides, SIDE, SIDE, k, *rest)

    def arrays(self) -> list[np.ndarray]:
        """Fresh arguments: each operand's area holds data of its dtype, small and finite."""
        rng = np.random.default_rng(0)
        data = np.zeros(AREA * (AREAS + 1), "uint8")
        seed = "float16" if self.l0c_dtype == "float32" else "int8"
        kinds = [*self.types, *[seed] * (AREAS + 1 - len(self.types))]
        for i, dtype in enumerate(kinds):
            data[i * AREA : (i + 1) * AREA] = self._area(rng, i, dtype).view("uint8")
        out = np.zeros_like(data)
        gm = [
            rng.integers(0, 9, int(b.shape[0])).astype(numpy_dtype(str(b.dtype))) for b in self.gm
        ]
        return [data, out, *gm]

    def _area(self, rng, i: int, dtype: str) -> np.ndarray:
        count = AREA // ITEMSIZE[dtype]
        if i < len(self.types) and self.row.operands[i].name == "offset":
            return (32 * rng.integers(0, 64, count)).astype(dtype)
        low = 0 if dtype.startswith(("uint", "bool")) else -8
        return rng.integers(low, 2 if dtype == "bool" else 9, count).astype(numpy_dtype(dtype))

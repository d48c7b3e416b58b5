# SPDX-License-Identifier: Apache-2.0
"""Lane-wise vector rows against numpy, bit by bit: every row, every dtype, every form."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sim.machine import Machine, ub

from tvm_ascend.isa.table import TABLE

COUNT = 203  # neither a multiple of a repeat nor of a block
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 65504.0, 1e-7, -6e-8, 88.0, -104.0]
SCALARS = {"float": 1.5, "int": 3}
BITS = [0x8000_0000_0000_0001, 0x5555_0000_FFFF_1237]
AREA = 12288  # bytes of UB of each operand


def wide(function):
    """Evaluate in double, round once."""
    return lambda a: function(a.astype("float64")).astype(a.dtype)


def relu(a):
    if a.dtype.kind != "f":
        return np.maximum(a, 0)
    return np.where(np.isnan(a), a, np.where(a > 0, a, 0)).astype(a.dtype)


def pick(function, both_zero):
    def chosen(a, b):
        out = function(a, b)
        if a.dtype.kind == "f":
            zeros = (a == 0) & (b == 0)
            out = np.where(zeros, both_zero(a, b), out).astype(a.dtype)
        return out

    return chosen


def multiply_add(a, b, c):
    """A half product is exact in float, and only the sum is rounded."""
    if a.dtype == np.float16:
        return (a.astype("float32") * b.astype("float32") + c.astype("float32")).astype(c.dtype)
    return a * b + c


def shift(a, by, left):
    bits = 8 * a.dtype.itemsize
    if by >= bits:
        return a * 0 if left or a.dtype.kind == "u" else a >> (bits - 1)
    return a << by if left else a >> by


def shift_up(a, by):
    """The shift with half of what it drops added first, on integers of any width."""
    wide = [int(x) for x in a.reshape(-1)]
    out = [(x + (1 << int(by) >> 1)) >> int(by) for x in wide]
    return np.array(out, "int64").astype(a.dtype).reshape(a.shape)


biggest = pick(np.maximum, lambda a, b: np.where(np.signbit(a) & np.signbit(b), -0.0, 0.0))
least = pick(np.minimum, lambda a, b: np.where(np.signbit(a) | np.signbit(b), -0.0, 0.0))

ORACLES = {
    "src0 + src1": lambda v: v.src0 + v.src1,
    "src0 - src1": lambda v: v.src0 - v.src1,
    "src0 * src1": lambda v: v.src0 * v.src1,
    "div(src0, src1)": lambda v: v.src0 / v.src1,
    "max(src0, src1)": lambda v: biggest(v.src0, v.src1),
    "min(src0, src1)": lambda v: least(v.src0, v.src1),
    "relu(src0 + src1)": lambda v: relu(v.src0 + v.src1),
    "relu(src0 - src1)": lambda v: relu(v.src0 - v.src1),
    "bit_and(src0, src1)": lambda v: v.src0 & v.src1,
    "bit_or(src0, src1)": lambda v: v.src0 | v.src1,
    "bit_not(src)": lambda v: ~v.src,
    "exp(src)": lambda v: wide(np.exp)(v.src),
    "ln(src)": lambda v: wide(np.log)(v.src),
    "sqrt(src)": lambda v: np.sqrt(v.src),
    "rsqrt(src)": lambda v: wide(lambda a: 1 / np.sqrt(a))(v.src),
    "div(1, src)": lambda v: v.src.dtype.type(1) / v.src,
    "abs(src)": lambda v: np.abs(v.src),
    "relu(src)": lambda v: relu(v.src),
    "src": lambda v: v.src,
    "src + scalar": lambda v: v.src + v.scalar,
    "src * scalar": lambda v: v.src * v.scalar,
    "max(src, scalar)": lambda v: biggest(v.src, v.scalar),
    "min(src, scalar)": lambda v: least(v.src, v.scalar),
    "leaky_relu(src, scalar)": lambda v: np.where(v.src < 0, v.src * v.scalar, v.src),
    "shift_left(src, scalar)": lambda v: shift(v.src, v.scalar, True),
    "shift_right(src, scalar)": lambda v: shift(v.src, v.scalar, False),
    "shift_right_round(src, scalar)": lambda v: shift_up(v.src, v.scalar),
    "multiply_add(src, scalar, dst)": lambda v: multiply_add(v.src, v.scalar, v.dst),
    "multiply_add(src0, src1, dst)": lambda v: multiply_add(v.src0, v.src1, v.dst),
    "multiply_add(src0, dst, src1)": lambda v: multiply_add(v.src0, v.dst, v.src1),
    "relu(multiply_add(src0, dst, src1))": lambda v: relu(multiply_add(v.src0, v.dst, v.src1)),
    "scalar": lambda v: v.scalar,
}

LANES = [
    (key, dtypes)
    for key, row in TABLE.items()
    if row.lane
    for dtypes in row.dtypes
    if row.form in ("count", "repeat", "bits", "preset")
]


def sample(rng, dtype, count):
    if "float" in dtype:
        values = rng.normal(0, 30, count)
        values[: len(SPECIAL)] = rng.permutation(SPECIAL)
        with np.errstate(over="ignore"):
            return values.astype(to_numpy(dtype))
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)


def to_numpy(dtype):
    if dtype == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(dtype)


def narrow(value, dtype):
    """To the dtype of dst: nearest even; integers saturate, NaN gives 0."""
    dtype = to_numpy(dtype)
    value = np.asarray(value)
    if value.dtype == dtype or dtype.kind not in "iu":
        return value.astype(dtype)
    info = np.iinfo(dtype)
    if value.dtype.kind == "f":
        value = np.rint(np.nan_to_num(value.astype("float64"), posinf=1e9, neginf=-1e9))
    return np.clip(value, info.min, info.max).astype(dtype)


def assert_same_bits(got, want):
    if got.dtype.kind in "fV":
        nan = np.isnan(want.astype("float64"))
        assert np.array_equal(nan, np.isnan(got.astype("float64")))
        got, want = got[~nan], want[~nan]
    assert got.tobytes() == want.tobytes(), np.flatnonzero(got.view("uint8") != want.view("uint8"))[
        :8
    ]


def scalar_of(dtype):
    return to_numpy(dtype).type(SCALARS["float" if "float" in dtype else "int"])


def oracle(row, dtypes, values):
    with np.errstate(all="ignore"):
        return narrow(ORACLES[row.lane](SimpleNamespace(**values)), dtypes[0])


class Run:
    """One instruction on areas full of data; ``want`` starts as what dst held."""

    def __init__(self, key, dtypes, rng):
        self.row, self.dtypes = TABLE[key], dtypes
        of = dict(zip(self.row.types, dtypes, strict=True))
        self.types = {o.name: of[o.dtype] for o in self.row.operands}
        self.data = {
            name: sample(rng, t, AREA // to_numpy(t).itemsize) for name, t in self.types.items()
        }
        self.scalar = scalar_of(dtypes[-1])
        self.want = self.data["dst"].copy()

    def issue(self, params, before=()):
        """Runs the instruction after others, given as key and arguments."""
        machine = Machine()
        places = [ub(i * AREA, name) for i, name in enumerate(self.types)]
        for place, (name, array) in zip(places, self.data.items(), strict=True):
            machine.load(place, machine.tensor(name, array), array.size, self.types[name])
        machine.sync("MTE2_V")
        for key, *args in before:
            machine.issue(key, None, *args)
        value = self.scalar.item() if "float" not in self.dtypes[-1] else float(self.scalar)
        scalars = [value for p in self.row.params if p.type in self.row.types]
        machine.issue(self.row.key, self.dtypes, *places, *scalars, *params)
        machine.sync("V_MTE3")
        machine.store(
            machine.tensor("dst", self.data["dst"]), places[0], self.want.size, self.types["dst"]
        )
        machine.barrier()
        machine.clean()
        assert_same_bits(self.data["dst"], self.want)

    @property
    def lanes(self):
        """Lanes of a repeat."""
        return 256 // max(to_numpy(t).itemsize for t in self.types.values())

    def strided(self, repeat, lane, strides):
        """Where each operand has some lanes of a repeat."""
        at = {}
        for name, dtype in self.types.items():
            block = 32 // to_numpy(dtype).itemsize
            first = repeat * strides[f"{name}_rep"] + lane // block * strides[f"{name}_blk"]
            at[name] = first * block + lane % block
        return at

    def expect(self, at):
        """Lanes of each operand that one evaluation reads, of dst also writes."""
        values = {name: self.data[name][at[name]] for name in self.types}
        self.want[at["dst"]] = oracle(self.row, self.dtypes, values | {"scalar": self.scalar})


@pytest.mark.parametrize(("key", "dtypes"), [x for x in LANES if TABLE[x[0]].form == "count"])
def test_count_form(key, dtypes, rng):
    run = Run(key, dtypes, rng)
    run.expect({name: slice(0, COUNT) for name in run.types})
    run.issue([COUNT])


STRIDES = [
    {"dst_blk": 1, "dst_rep": 8, "src0_blk": 1, "src0_rep": 8, "src1_blk": 1, "src1_rep": 8},
    {"dst_blk": 1, "dst_rep": 9, "src0_blk": 2, "src0_rep": 17, "src1_blk": 0, "src1_rep": 1},
    {"dst_blk": 2, "dst_rep": 17, "src0_blk": 1, "src0_rep": 8, "src1_blk": 1, "src1_rep": 0},
]


@pytest.mark.parametrize("strides", STRIDES)
@pytest.mark.parametrize(("key", "dtypes"), [x for x in LANES if TABLE[x[0]].form != "count"])
def test_repeat_forms(key, dtypes, strides, rng):
    run = Run(key, dtypes, rng)
    row, repeats = run.row, 3
    strides = strides | {"src_blk": strides["src0_blk"], "src_rep": strides["src0_rep"]}
    if row.form == "repeat":
        masks = [run.lanes - 3]
        lane = np.arange(run.lanes - 3)
    else:
        masks = BITS
        lane = np.array([i for i in range(run.lanes) if BITS[i // 64] >> i % 64 & 1])
    for r in range(repeats):
        run.expect(run.strided(r, lane, strides))
    low, *high = (int(np.array(m, "uint64").view("int64")) for m in masks)
    steps = [strides[p.name] for p in row.params if p.name in strides]
    if row.form == "preset":
        run.issue([repeats, *steps], [("set_vector_mask", "float16", *high, low)])
    else:
        run.issue([low, *high, repeats, *steps])


@pytest.mark.parametrize("strides", STRIDES)
@pytest.mark.parametrize(("key", "dtypes"), [x for x in LANES if TABLE[x[0]].form == "preset"])
def test_preset_forms_in_counter_mode(key, dtypes, strides, rng):
    run = Run(key, dtypes, rng)
    strides = strides | {"src_blk": strides["src0_blk"], "src_rep": strides["src0_rep"]}
    count = 2 * run.lanes + 11
    for r in range(3):
        run.expect(run.strided(r, np.arange(min(run.lanes, count - r * run.lanes)), strides))
    steps = [strides[p.name] for p in run.row.params if p.name in strides]
    run.issue(
        [1, *steps],
        [("set_mask_count",), ("set_vector_mask_count", "float16", 0, count)],
    )


def test_accumulating_repeats_add_up():
    data = np.arange(4 * 64, dtype="float32")
    out = np.zeros(64, "float32")
    machine = Machine()
    machine.load(ub(0), machine.tensor("data", data), 256, "float32")
    machine.load(ub(4096), machine.tensor("out", out), 64, "float32")
    machine.sync("MTE2_V")
    machine.issue("add_repeat", "float32", ub(4096), ub(0), ub(4096), 64, 4, 1, 1, 1, 0, 8, 0)
    machine.sync("V_MTE3")
    machine.store(machine.tensor("out", out), ub(4096), 64, "float32")
    machine.barrier()
    machine.clean()
    assert np.array_equal(out, data.reshape(4, 64).sum(0))


@pytest.mark.parametrize(("dtype", "by"), [("int16", 16), ("uint16", 40), ("int32", 31)])
@pytest.mark.parametrize("key", ["shift_left", "shift_right"])
def test_shifts_by_the_width(key, dtype, by, rng):
    run = Run(key, (dtype,), rng)
    run.scalar = np.dtype(dtype).type(by)
    run.expect({name: slice(0, COUNT) for name in run.types})
    run.issue([COUNT])


@pytest.mark.parametrize(
    ("dtype", "by"), [("int16", 0), ("int16", 16), ("int32", 1), ("int32", 40)]
)
def test_rounding_shifts_at_the_edges(dtype, by, rng):
    run = Run("shift_right_round_repeat", (dtype,), rng)
    run.scalar = np.dtype(dtype).type(by)
    strides = dict.fromkeys(("dst_blk", "src_blk"), 1) | dict.fromkeys(("dst_rep", "src_rep"), 8)
    run.expect(run.strided(0, np.arange(run.lanes), strides))
    run.issue([run.lanes, 1, 1, 1, 8, 8])


def test_a_count_of_zero_does_nothing():
    machine = Machine()
    machine.issue("add", "float32", ub(0), ub(256), ub(512), 0)
    assert machine.clean()["instructions"] == {"add": 1}


def test_a_mask_without_lanes_does_nothing():
    machine = Machine()
    machine.issue("relu_bits", "float32", ub(0), ub(256), 0, 0, 1, 1, 1, 8, 8)
    machine.issue("relu_repeat", "float32", ub(0), ub(256), 0, 1, 1, 1, 8, 8)
    assert machine.clean()["instructions"] == {"relu_bits": 1, "relu_repeat": 1}


def test_a_bit_mask_touches_exactly_its_lanes():
    machine = Machine()
    machine.issue("relu_bits", "float32", ub(0), ub(4096), 0b11_0000_0001, -1, 2, 2, 1, 17, 8)
    (entry,) = machine.inspect()
    # Lane 0, and lanes 8 and 9 at the start of the second block; the end is that of repeat 1.
    assert entry["accesses"] == [
        [0, "write", 0, 17 * 32 + 4, 2 * 4],
        [0, "write", 64, 17 * 32 + 64 + 8, 2 * 8],
        [1, "read", 0, 8 * 32 + 4, 2 * 4],
        [1, "read", 32, 8 * 32 + 32 + 8, 2 * 8],
    ]


@pytest.mark.parametrize("repeat", [1, 2])
def test_dst_over_a_source_of_another_width_is_refused(repeat):
    machine = Machine()
    args = ["CAST_NONE", 64, repeat, 1, 1, 8, 4]
    machine.issue("cast_repeat", ("float32", "float16"), ub(0), ub(0), *args)
    (hazard,) = machine.hazards()
    assert hazard["kind"] == "overlap"


@pytest.mark.parametrize("dtype", ["float16", "float32", "int16", "int32"])
@pytest.mark.parametrize("count", [3, 100, 5000])
def test_indices_count_up_block_by_block(dtype, count):
    out = np.zeros(5008, dtype)
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(0), gm_out, out.size, dtype)
    machine.sync("MTE2_V")
    first = 0.1 if "float" in dtype else 7
    machine.issue("create_vec_index", dtype, ub(0), first, count)
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(0), out.size, dtype)
    machine.barrier()
    machine.clean()
    block, repeat = 32 // out.itemsize, 256 // out.itemsize
    want = np.zeros_like(out)
    for i in range(count):
        back = block if i < repeat else repeat
        base, step = (want[i - back], back) if i >= block else (first, i)
        want[i] = out.dtype.type(base) + out.dtype.type(step)
    assert np.array_equal(out, want)

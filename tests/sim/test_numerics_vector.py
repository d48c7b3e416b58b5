# SPDX-License-Identifier: Apache-2.0
"""Lane-wise vector rows against numpy, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import Machine, ub

from tvm_ascend.isa.table import TABLE

COUNT = 203  # neither a multiple of a repeat nor of a block
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 65504.0, 1e-7, -6e-8, 88.0, -104.0]


def wide(function):
    """Evaluate in double, round once."""
    return lambda *args: function(*(np.asarray(a, "float64") for a in args)).astype(args[0].dtype)


def relu(a):
    return (
        np.where(np.isnan(a), a, np.where(a > 0, a, 0)).astype(a.dtype)
        if a.dtype.kind == "f"
        else np.maximum(a, 0)
    )


def pick(function, both_zero):
    def chosen(a, b):
        out = function(a, b)
        if a.dtype.kind == "f":
            zeros = (a == 0) & (b == 0)
            out = np.where(zeros, both_zero(a, b), out).astype(a.dtype)
        return out

    return chosen


def positive_zero_wins(a, b):
    return np.where(np.signbit(a) & np.signbit(b), -0.0, 0.0)


def negative_zero_wins(a, b):
    return np.where(np.signbit(a) | np.signbit(b), -0.0, 0.0)


ORACLES = {
    "src0 + src1": np.add,
    "src0 - src1": np.subtract,
    "src0 * src1": np.multiply,
    "div(src0, src1)": np.divide,
    "max(src0, src1)": pick(np.maximum, positive_zero_wins),
    "min(src0, src1)": pick(np.minimum, negative_zero_wins),
    "exp(src)": wide(np.exp),
    "ln(src)": wide(np.log),
    "sqrt(src)": np.sqrt,
    "rsqrt(src)": wide(lambda a: 1 / np.sqrt(a)),
    "div(1, src)": lambda a: a.dtype.type(1) / a,
    "abs(src)": np.abs,
    "relu(src)": relu,
    "src + scalar": np.add,
    "src * scalar": np.multiply,
    "max(src, scalar)": pick(np.maximum, positive_zero_wins),
    "min(src, scalar)": pick(np.minimum, negative_zero_wins),
    "scalar": lambda s: s,
}

LANES = [(key, dtypes[0]) for key, row in TABLE.items() if row.lane for dtypes in row.dtypes]


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


def assert_same_bits(got, want):
    if got.dtype.kind in "fV":
        nan = np.isnan(want.astype("float64"))
        assert np.array_equal(nan, np.isnan(got.astype("float64")))
        got, want = got[~nan], want[~nan]
    assert got.tobytes() == want.tobytes(), np.flatnonzero(got.view("uint8") != want.view("uint8"))[
        :8
    ]


def lanes(call, row, count):
    """Addresses of dst and sources, far apart."""
    return [ub(i * 4096, operand.name) for i, operand in enumerate(row.operands)]


def oracle(row, sources, scalar):
    args = [*sources, scalar] if any(p.type == "T" for p in row.params) else sources
    with np.errstate(all="ignore"):
        return ORACLES[row.lane](*args)


@pytest.mark.parametrize(("key", "dtype"), [x for x in LANES if TABLE[x[0]].form == "count"])
def test_count_form(key, dtype, rng):
    row = TABLE[key]
    machine = Machine()
    sources = [sample(rng, dtype, COUNT) for o in row.operands if o.rw == "r"]
    scalar = sample(rng, dtype, 20)[15] if "float" not in dtype else to_numpy(dtype).type(1.5)
    out = np.zeros(256, to_numpy(dtype))
    gm_out = machine.tensor("out", out)
    places = lanes(machine, row, COUNT)
    machine.load(places[0], gm_out, 256, dtype)
    for i, source in enumerate(sources):
        machine.load(places[i + 1], machine.tensor(f"in{i}", source), COUNT, dtype)
    machine.sync("MTE2_V")
    value = scalar.item() if "float" not in dtype else float(scalar)
    params = [value if p.type == "T" else COUNT for p in row.params]
    machine.issue(key, dtype, *places, *params)
    machine.sync("V_MTE3")
    machine.store(gm_out, places[0], 256, dtype)
    machine.barrier()
    machine.clean()
    want = oracle(row, sources, scalar)
    assert_same_bits(out[:COUNT], np.broadcast_to(want, COUNT).astype(out.dtype))
    assert not out[COUNT:].view("uint8").any()


@pytest.mark.parametrize(("key", "dtype"), [x for x in LANES if TABLE[x[0]].form == "repeat"])
@pytest.mark.parametrize("strides", [(1, 1, 1, 8, 8, 8), (1, 1, 0, 8, 8, 1), (2, 1, 1, 17, 9, 0)])
def test_repeat_form(key, dtype, strides, rng):
    row = TABLE[key]
    size = to_numpy(dtype).itemsize
    block, repeats, mask = 32 // size, 3, 256 // size - 3
    machine = Machine()
    total = 8192 // size
    arrays = [sample(rng, dtype, total) for _ in range(3)]
    old = arrays[0].copy()
    places = [ub(i * 8192) for i in range(3)]
    handles = [machine.tensor(f"x{i}", a) for i, a in enumerate(arrays)]
    for place, handle in zip(places, handles, strict=True):
        machine.load(place, handle, total, dtype)
    machine.sync("MTE2_V")
    machine.issue(key, dtype, *places, mask, repeats, *strides)
    machine.sync("V_MTE3")
    machine.store(handles[0], places[0], total, dtype)
    machine.barrier()
    machine.clean()
    lane = np.arange(mask)
    want = old.copy()
    for r in range(repeats):
        at = [
            (r * strides[3 + i] + lane // block * strides[i]) * block + lane % block
            for i in range(3)
        ]
        want[at[0]] = oracle(row, [arrays[1][at[1]], arrays[2][at[2]]], None)
    assert_same_bits(arrays[0], want)


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


def test_a_count_of_zero_does_nothing():
    machine = Machine()
    machine.issue("add", "float32", ub(0), ub(256), ub(512), 0)
    assert machine.clean()["instructions"] == {"add": 1}

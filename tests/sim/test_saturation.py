# SPDX-License-Identifier: Apache-2.0
"""Results that do not fit, with saturation on and off, against numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from sim.machine import Machine, ub

HALVES = [65504.0, -65504.0, np.inf, -np.inf, np.nan, 1.0, -0.0, 6e-8]
WIDE = [1e6, -1e6, 65519.0, 65520.0, np.inf, -np.inf, np.nan, 3e38, -3.4e38, 1e-8]


def finite(values):
    """inf as the largest value, NaN as zero."""
    limit = ml_dtypes.finfo(values.dtype).max
    wide = values.astype("float64")
    return np.nan_to_num(wide, nan=0.0, posinf=float(limit), neginf=-float(limit)).astype(
        values.dtype
    )


def run(key, dtypes, data, out, args, before):
    """What an instruction stores after setting some register."""
    machine = Machine()
    machine.load(ub(0), machine.tensor("out", out), out.size, str(out.dtype))
    machine.load(ub(4096), machine.tensor("data", data), data.size, str(data.dtype))
    machine.sync("MTE2_V")
    machine.issue(*before)
    machine.issue(key, dtypes, ub(0), ub(4096), *args)
    machine.sync("V_MTE3")
    machine.store(machine.tensor("out", out), ub(0), out.size, str(out.dtype))
    machine.barrier()
    machine.clean()
    return out


def same(got, want):
    nan = np.isnan(want.astype("float64"))
    assert np.array_equal(np.isnan(got.astype("float64")), nan)
    assert got[~nan].tobytes() == want[~nan].tobytes()


FLOAT_OFF = ("set_ctrl_spr", None, 1)
FLOAT_ON = ("set_ctrl_spr", None, 0)


@pytest.mark.parametrize("on", [False, True])
@pytest.mark.parametrize(
    ("key", "args", "oracle"),
    [
        ("adds", [1000.0, 8], lambda a: a + np.float16(1000)),
        ("muls", [-3.0, 8], lambda a: a * np.float16(-3)),
        ("exp", [8], lambda a: np.exp(a.astype("float64")).astype("float16")),
        ("abs", [8], np.abs),
        ("adds_repeat", [1000.0, 8, 1, 1, 1, 8, 8], lambda a: a + np.float16(1000)),
    ],
)
def test_half_results(key, args, oracle, on):
    data = np.array(HALVES, "float16")
    with np.errstate(all="ignore"):
        want = oracle(data)
    got = run(key, "float16", data, np.zeros(8, "float16"), args, FLOAT_ON if on else FLOAT_OFF)
    same(got, finite(want) if on else want)


@pytest.mark.parametrize("on", [False, True])
def test_float_results_do_not_saturate(on):
    data = np.array([3e38, -3e38, np.inf, np.nan, 1, 2, 3, 4], "float32")
    with np.errstate(all="ignore"):
        want = data * np.float32(4)
    before = FLOAT_ON if on else FLOAT_OFF
    same(run("muls", "float32", data, np.zeros(8, "float32"), [4.0, 8], before), want)


def test_moves_do_not_saturate():
    data = np.array(HALVES, "float16")
    args = [8, 1, 1, 1, 8, 8]
    same(run("copy_repeat", "float16", data, np.zeros(8, "float16"), args, FLOAT_ON), data)


@pytest.mark.parametrize("on", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_casts_to_sixteen_bits(dtype, on):
    data = np.array(WIDE, "float32")
    to = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    with np.errstate(all="ignore"):
        want = data.astype(to)
    args = ["CAST_RINT", len(data)]
    before = FLOAT_ON if on else FLOAT_OFF
    got = run("cast", (dtype, "float32"), data, np.zeros(len(data), to), args, before)
    same(got, finite(want) if on else want)


@pytest.mark.parametrize("on", [False, True])
def test_sums_of_halves(on):
    data = np.full(128, 60000.0, "float16")
    want = np.array([np.inf], "float16")
    args = [128, 1, 1, 1, 8]
    before = FLOAT_ON if on else FLOAT_OFF
    got = run("whole_reduce_sum", "float16", data, np.zeros(1, "float16"), args, before)
    same(got, finite(want) if on else want)


CASTS = [("int16", "float32"), ("int32", "float32"), ("int8", "float16"), ("uint8", "float16")]
CASTS += [("int16", "int32"), ("int32", "int64"), ("int64", "float32"), ("int16", "float16")]


def whole_numbers(dtype):
    if dtype == "float16":
        return np.array([300, -300, 127, 128, -129, 255, 256, 60000, -60000, 0, np.nan], dtype)
    if dtype == "float32":
        big = [2.0**31, -(2.0**31) - 256, 2.0**40 + 2.0**20, 2.0**63, -(2.0**66), 1e20]
        return np.array([70000, -70000, 40000, 3.5, *big, np.nan], dtype)
    high = np.iinfo(dtype).max
    return np.array([70000, -70000, 40000, -1, high, -high - 1, high - 12345], dtype)


@pytest.mark.parametrize("on", [False, True])
@pytest.mark.parametrize(("to", "source"), CASTS)
def test_casts_to_integers(to, source, on):
    data = whole_numbers(source)
    bits = np.iinfo(to).bits
    low, high = np.iinfo(to).min, np.iinfo(to).max
    want = []
    for value in data.tolist():
        number = 0 if value != value else round(value)
        kept = min(max(number, low), high) if on else number % 2**bits
        want.append(kept - 2**bits if kept > high else kept)
    mode = "CAST_NONE" if "int" in source else "CAST_RINT"
    before = ("set_saturation_flag_cast", None, int(on))
    got = run("cast", (to, source), data, np.zeros(len(data), to), [mode, len(data)], before)
    assert got.tolist() == want


def test_casts_saturate_at_first():
    data, out = np.array([1e9, -1e9], "float32"), np.zeros(2, "int16")
    before = ("set_mask_norm", None)
    assert run("cast", ("int16", "float32"), data, out, ["CAST_RINT", 2], before).tolist() == [
        32767,
        -32768,
    ]

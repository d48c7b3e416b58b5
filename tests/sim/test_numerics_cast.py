# SPDX-License-Identifier: Apache-2.0
"""Cast: every dtype pair of the row in every rounding mode against exact arithmetic."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from sim.machine import Machine, ub

from tvm_ascend.isa.table import TABLE

ROW = TABLE["cast"]
MODES = ROW.params[0].values
NUMPY = {"bfloat16": np.dtype(ml_dtypes.bfloat16)}
DIGITS = {"float16": (11, -13, 65504.0), "bfloat16": (8, -125, 3.3895313892515355e38)}
DIGITS["float32"] = (24, -125, float(np.finfo("float32").max))


def numpy_dtype(name):
    return NUMPY.get(name) or np.dtype(name)


def values(dtype, rng):
    if "float" not in dtype:
        info = np.iinfo(dtype)
        edges = [info.min, info.max, 0, 1, -1 if info.min else 2, 2049 % (info.max + 1)]
        return np.concatenate(
            [np.array(edges, dtype), rng.integers(info.min, info.max, 250, dtype)]
        )
    ties = np.arange(-8, 8) + 0.5
    edges = [0.0, -0.0, np.nan, np.inf, -np.inf, 65504, 65520, 1e30, -1e30, 6e-8, 2.9e-8, 5e-324]
    spread = rng.normal(0, 1, 100) * 10.0 ** rng.integers(-9, 9, 100)
    halves = (1 + rng.integers(0, 4096, 100) / 4096) * 2.0 ** rng.integers(-20, 16, 100)
    with np.errstate(over="ignore"):
        return np.concatenate([ties, edges, spread, halves]).astype(numpy_dtype(dtype))


def to_integer(x, mode):
    match mode:
        case "CAST_FLOOR":
            return math.floor(x)
        case "CAST_CEIL":
            return math.ceil(x)
        case "CAST_ROUND":
            return int(math.copysign(math.floor(abs(x) + 0.5), x))
        case "CAST_TRUNC":
            return math.trunc(x)
        case "CAST_ODD":
            down = math.floor(x)
            return down if down == x or down % 2 else down + 1
    return round(x)


def to_float(x, mode, dtype):
    if x == 0 or not math.isfinite(x):
        return x
    digits, least, largest = DIGITS[dtype]
    ulp = 2.0 ** (max(math.frexp(x)[1], least) - digits)
    rounded = to_integer(x / ulp, mode) * ulp
    if abs(rounded) <= largest:
        return math.copysign(rounded, x)
    stays = mode in ("CAST_TRUNC", "CAST_ODD") or mode == ("CAST_FLOOR" if x > 0 else "CAST_CEIL")
    return math.copysign(largest if stays else math.inf, x)


def expected(x, mode, dtype):
    if "float" in dtype:
        return to_float(x, mode, dtype)
    if math.isnan(x):
        return 0
    info = np.iinfo(dtype)
    if math.isinf(x):
        return info.max if x > 0 else info.min
    return min(max(to_integer(x, mode), info.min), info.max)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("to", "source"), ROW.dtypes)
def test_cast(to, source, mode, rng):
    data = values(source, rng)
    out = np.zeros(len(data), numpy_dtype(to))
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(8192), machine.tensor("data", data), len(data), source)
    machine.sync("MTE2_V")
    machine.issue("cast", (to, source), ub(0), ub(8192), mode, len(data))
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(0), len(data), to)
    machine.barrier()
    machine.clean()
    want = [expected(float(x), mode, to) for x in data]
    for x, got, wanted in zip(data, out, want, strict=True):
        same = float(got) == wanted and math.copysign(1, float(got)) == math.copysign(1, wanted)
        assert same or (math.isnan(wanted) and math.isnan(float(got))), (x, got, wanted)


def test_every_float16_survives_the_way_to_float32_and_back():
    every = np.arange(65536, dtype="uint16").view("float16")
    out = np.zeros_like(every)
    machine = Machine()
    source, target = machine.tensor("every", every), machine.tensor("out", out)
    for at in range(0, 65536, 16384):
        part = type(source)("every", at)
        machine.load(ub(0), part, 16384, "float16")
        machine.sync("MTE2_V")
        machine.issue("cast", ("float32", "float16"), ub(65536), ub(0), "CAST_NONE", 16384)
        machine.barrier("V")
        machine.issue("cast", ("float16", "float32"), ub(0), ub(65536), "CAST_NONE", 16384)
        machine.sync("V_MTE3")
        machine.store(type(target)("out", at), ub(0), 16384, "float16")
        machine.barrier()
    machine.clean()
    numbers = ~np.isnan(every)
    assert np.array_equal(out[numbers].view("uint16"), every[numbers].view("uint16"))
    assert np.isnan(out[~numbers]).all()

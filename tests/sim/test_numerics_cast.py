# SPDX-License-Identifier: Apache-2.0
"""Cast: every dtype pair in every rounding mode it has, against exact arithmetic."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from sim.machine import Machine, ub

from tvm_ascend.isa.table import TABLE

ROW = TABLE["cast"]
LEGAL = [(to, source, mode) for (to, source), modes in ROW.choices.items() for mode in modes]
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
    edges += [2.0**31, 2.0**31 - 128, 2.0**63, -(2.0**63), 9e18]
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


def expected(x, mode, dtype, source):
    if dtype == source:  # to a whole number of the same dtype
        return float(to_integer(x, mode)) if math.isfinite(x) else x
    if "float" in dtype:
        return to_float(x, mode, dtype) if isinstance(x, float) else int_to_float(x, mode, dtype)
    if math.isnan(x):
        return 0
    info = np.iinfo(dtype)
    if math.isinf(x):
        return info.max if x > 0 else info.min
    return min(max(to_integer(x, mode), info.min), info.max)


def int_to_float(x, mode, dtype):
    """An integer of any size that is not too large for the dtype."""
    shift = max(0, abs(x).bit_length() - DIGITS[dtype][0])
    below = x >> shift
    rest, half = x - (below << shift), (1 << shift) // 2
    up = {
        "CAST_FLOOR": False,
        "CAST_CEIL": rest > 0,
        "CAST_TRUNC": rest > 0 > x,
        "CAST_ROUND": rest > half or (rest == half > 0 and x > 0),
    }.get(mode, rest > half or (rest == half > 0 and below % 2 == 1))
    return float((below + up) << shift)


def check(data, out, mode, to, source):
    for x, got in zip(data, out, strict=True):
        exact = float(x) if "float" in source else int(x)
        wanted = expected(exact, mode, to, source)
        same = got == wanted and math.copysign(1, float(got)) == math.copysign(1, wanted)
        assert same or (math.isnan(wanted) and math.isnan(float(got))), (x, got, wanted)


@pytest.mark.parametrize(("to", "source", "mode"), LEGAL)
def test_cast(to, source, mode, rng):
    data = values(source, rng)
    out = np.zeros(len(data), numpy_dtype(to))
    machine = Machine()
    gm_out = machine.tensor("out", out)
    load(machine, 8192, "data", data, source)
    machine.sync("MTE2_V")
    machine.issue("cast", (to, source), ub(0), ub(8192), mode, len(data))
    machine.sync("V_MTE3")
    store(machine, gm_out, out)
    machine.barrier()
    machine.clean()
    check(data, out, mode, to, source)


def load(machine, byte, name, data, dtype):
    """Copies have no 64-bit elements: those travel as pairs."""
    place = machine.tensor(name, as_words(data))
    machine.load(ub(byte), place, as_words(data).size, "int32" if dtype == "int64" else dtype)


def store(machine, place, out):
    words = as_words(out)
    machine.arrays[place.name] = words
    dtype = "int32" if out.dtype == np.int64 else str(out.dtype)
    machine.store(place, ub(0), words.size, dtype)


def as_words(array):
    return array.view("int32") if array.dtype == np.int64 else array


@pytest.mark.parametrize("form", ["repeat", "bits"])
@pytest.mark.parametrize(("to", "source"), ROW.dtypes)
def test_cast_of_masked_lanes(form, to, source, rng):
    mode = ROW.choices[to, source][0]
    sizes = [numpy_dtype(t).itemsize for t in (to, source)]
    lanes = 256 // max(sizes)
    if form == "repeat":
        masks, lane = [lanes - 3], np.arange(lanes - 3)
    else:
        masks, lane = [0b1011, 1 << 62], np.array([0, 1, 3, *([126] if lanes == 128 else [])])
    data = np.resize(values(source, rng), 4096 // sizes[1])
    out = np.zeros(8192 // sizes[0], numpy_dtype(to))
    machine = Machine()
    gm_out = machine.tensor("out", as_words(out))
    load(machine, 16384, "data", data, source)
    machine.load(ub(0), gm_out, as_words(out).size, "int32" if to == "int64" else to)
    machine.sync("MTE2_V")
    key = f"cast_{form}"
    machine.issue(key, (to, source), ub(0), ub(16384), mode, *masks, 3, 2, 1, 17, 9)
    machine.sync("V_MTE3")
    store(machine, gm_out, out)
    machine.barrier()
    machine.clean()
    touched = np.zeros(out.size, bool)
    for r in range(3):
        block = [32 // size for size in sizes]
        at = (r * 17 + lane // block[0] * 2) * block[0] + lane % block[0]
        check(data[r * 9 * block[1] + lane], out[at], mode, to, source)
        touched[at] = True
    assert not out[~touched].any()


def test_a_mode_that_the_dtypes_lack_is_refused():
    machine = Machine()
    machine.issue("cast", ("float32", "float16"), ub(0), ub(8192), "CAST_RINT", 64)
    (hazard,) = machine.hazards()
    assert hazard["kind"] == "parameter"
    assert "round_mode = CAST_RINT, which (float32,float16) does not have" in hazard["message"]


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


@pytest.mark.parametrize("scale", [1.0, 0.0078125, -3.0, 0.1])
def test_cast_from_int32_to_half_scales(scale, rng):
    data = values("int32", rng)
    out = np.zeros((2, len(data)), "float16")
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(8192), machine.tensor("data", data), len(data), "int32")
    machine.sync("MTE2_V")
    machine.issue("set_deq_scale", "float16", scale)
    machine.issue("cast_deq", ("float16", "int32"), ub(0), ub(8192), "CAST_NONE", len(data))
    machine.issue("set_deq_scale", "float16", 1.0)
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(0), len(data), "float16")
    machine.barrier()
    machine.clean()
    with np.errstate(over="ignore"):
        want = (data.astype("float64") * float(np.float16(scale))).astype("float16")
    assert out[0].tobytes() == want.tobytes()

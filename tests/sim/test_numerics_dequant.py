# SPDX-License-Identifier: Apache-2.0
"""CastDequant and AddDeqRelu against numpy: forms, dtypes, tails, strides and special values."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import Machine, ub

SOURCE, SECOND = 32768, 65536
SIGNED = {"int8": 1, "uint8": 0}
COUNT = 203  # neither a multiple of a repeat nor of a block
BITS = [0x8000_0000_0000_0001, 0x5555_0000_FFFF_1237]


def integers(rng, dtype, count):
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    values[:6] = [info.min, info.max, 0, 1, -1, 5]
    small = rng.integers(-200, 200, count).astype(dtype)
    return np.where(np.arange(count) % 3 == 0, values, small).astype(dtype)


def lanes_of(form, lanes):
    """Arguments and lanes of a mask."""
    if form == "repeat":
        return [lanes - 3], np.arange(lanes - 3)
    words = [int(np.array(b, "uint64").view("int64")) for b in BITS]
    return words, np.array([i for i in range(lanes) if BITS[i // 64] >> i % 64 & 1])


def to_bytes(x, scale, offset, dtype):
    kept = (np.array(scale, "float32").view("uint32") & 0xFFFFE000).view("float32")
    info = np.iinfo(dtype)
    return np.clip(np.rint(x * kept.astype("float64") + offset), info.min, info.max).astype(dtype)


class Cast:
    """One CastDequant to bytes on areas full of data."""

    def __init__(self, dtype, rng):
        self.dtype = dtype
        self.data = integers(rng, "int16", 8192)
        self.out = rng.integers(0, 100, 16384).astype(dtype)
        self.want = self.out.copy()

    def run(self, key, params, scale, offset, before=()):
        machine = Machine()
        place = machine.tensor("out", self.out)
        machine.load(ub(0), place, self.out.size, self.dtype)
        machine.load(ub(SOURCE), machine.tensor("data", self.data), self.data.size, "int16")
        machine.sync("MTE2_V")
        machine.issue("set_deq_scale_offset", "float32", scale, offset, SIGNED[self.dtype])
        for name, *args in before:
            machine.issue(name, None, *args)
        machine.issue(key, (self.dtype, "int16"), ub(0), ub(SOURCE), *params)
        machine.sync("V_MTE3")
        machine.store(place, ub(0), self.out.size, self.dtype)
        machine.barrier()
        machine.clean()
        assert np.array_equal(self.out, self.want)


@pytest.mark.parametrize("half", ["false", "true"])
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0), (0.1, -7), (-3.75, 255), (1e-3, -256)])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_cast_of_a_count(dtype, scale, offset, half, rng):
    case = Cast(dtype, rng)
    lane = np.arange(COUNT)
    at = lane // 16 * 32 + lane % 16 + (16 if half == "true" else 0)
    case.want[at] = to_bytes(case.data[lane], scale, offset, dtype)
    case.run("cast_dequant", [half, COUNT], scale, offset)


@pytest.mark.parametrize("scale", [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-40])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_cast_with_a_special_scale(dtype, scale, rng):
    case = Cast(dtype, rng)
    with np.errstate(invalid="ignore"):
        value = case.data[:COUNT] * float(np.float32(scale)) + 3.0
    info = np.iinfo(dtype)
    whole = np.clip(np.rint(np.nan_to_num(value, posinf=1e9, neginf=-1e9)), info.min, info.max)
    lane = np.arange(COUNT)
    case.want[lane // 16 * 32 + lane % 16] = np.where(np.isnan(value), 0, whole)
    case.run("cast_dequant", ["false", COUNT], scale, 3)


@pytest.mark.parametrize(
    ("dst", "src"), [((1, 8), (1, 8)), ((2, 17), (1, 9)), ((1, 9), (0, 1)), ((1, 8), (2, 17))]
)
@pytest.mark.parametrize("form", ["repeat", "bits", "preset"])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_cast_of_masked_lanes(dtype, form, dst, src, rng):
    case = Cast(dtype, rng)
    mask, lane = lanes_of(form, 128)
    for repeat in range(3):
        at = (repeat * dst[1] + lane // 16 * dst[0]) * 32 + lane % 16 + 16
        source = (repeat * src[1] + lane // 16 * src[0]) * 16 + lane % 16
        case.want[at] = to_bytes(case.data[source], 0.25, 5, dtype)
    low, *high = mask
    before = [("set_vector_mask", "int16", *high, low)] if form == "preset" else []
    mask = [] if form == "preset" else mask
    strides = [dst[0], src[0], dst[1], src[1]]
    case.run(f"cast_dequant_{form}", ["true", *mask, 3, *strides], 0.25, 5, before)


def test_cast_in_counter_mode(rng):
    case = Cast("int8", rng)
    lane = np.arange(128 + 37)
    case.want[lane // 16 * 32 + lane % 16] = to_bytes(case.data[lane], 0.5, 0, "int8")
    before = [("set_mask_count",), ("set_vector_mask_count", "int16", 0, lane.size)]
    case.run("cast_dequant_preset", ["false", 1, 1, 1, 8, 8], 0.5, 0, before)


@pytest.mark.parametrize("form", ["count", "repeat", "bits", "preset"])
def test_cast_to_half(form, rng):
    data, out = integers(rng, "int32", 2048), np.zeros(4096, "float16")
    want, scale = out.copy(), 0.0078125
    machine = Machine()
    place = machine.tensor("out", out)
    machine.load(ub(0), place, out.size, "float16")
    machine.load(ub(SOURCE), machine.tensor("data", data), data.size, "int32")
    machine.sync("MTE2_V")
    machine.issue("set_deq_scale", "float16", scale)
    with np.errstate(over="ignore"):
        converted = (data * scale).astype("float16")
    key = "cast_dequant_half" + ("" if form == "count" else f"_{form}")
    if form == "count":
        params = [COUNT]
        want[:COUNT] = converted[:COUNT]
    else:
        mask, lane = lanes_of(form, 64)
        for repeat in range(3):
            at = (repeat * 9 + lane // 16 * 2) * 16 + lane % 16
            want[at] = converted[repeat * 64 + lane]
        if form == "preset":
            machine.issue("set_vector_mask", None, "int32", mask[1], mask[0])
            mask = []
        params = [*mask, 3, 2, 1, 9, 8]
    machine.issue(key, ("float16", "int32"), ub(0), ub(SOURCE), *params)
    machine.sync("V_MTE3")
    machine.store(place, ub(0), out.size, "float16")
    machine.barrier()
    machine.clean()
    assert out.tobytes() == want.tobytes()


def relu_of_sum(a, b, scale):
    """The library's steps: a sum that wraps, then float, its scale, half, and what is above 0."""
    total = (a.astype("int64") + b).astype("int32").astype("float32")
    with np.errstate(over="ignore", invalid="ignore"):
        half = (total * np.float32(np.float16(scale))).astype("float16")
    return np.where(np.isnan(half), half, np.where(half > 0, half, np.float16(0)))


class Relu:
    """One AddDeqRelu."""

    def __init__(self, rng, count=8192):
        self.a, self.b = integers(rng, "int32", count), integers(rng, "int32", count)
        self.out = np.zeros(16384, "float16")
        self.want = self.out.copy()

    def machine(self, scale):
        machine = Machine()
        self.place = machine.tensor("out", self.out)
        machine.load(ub(0), self.place, self.out.size, "float16")
        machine.load(ub(SOURCE), machine.tensor("a", self.a), self.a.size, "int32")
        machine.load(ub(SECOND), machine.tensor("b", self.b), self.b.size, "int32")
        machine.sync("MTE2_V")
        machine.issue("set_deq_scale", "float16", scale)
        return machine

    def run(self, key, params, scale):
        machine = self.machine(scale)
        machine.issue(key, ("float16", "int32"), ub(0), ub(SOURCE), ub(SECOND), *params)
        machine.sync("V_MTE3")
        machine.store(self.place, ub(0), self.out.size, "float16")
        machine.barrier()
        machine.clean()
        nan = np.isnan(self.want)
        assert np.array_equal(np.isnan(self.out), nan)
        assert self.out[~nan].tobytes() == self.want[~nan].tobytes()


@pytest.mark.parametrize("scale", [1.0, 0.1, -0.5, 6e-8, 65504.0, np.inf, np.nan, 0.0, -0.0])
@pytest.mark.parametrize("count", [1, COUNT, 5000])
def test_relu_of_a_count(count, scale, rng):
    case = Relu(rng)
    case.want[:count] = relu_of_sum(case.a[:count], case.b[:count], scale)
    case.run("add_deq_relu", [count], scale)


@pytest.mark.parametrize("repeats", [3, 40])
@pytest.mark.parametrize("form", ["repeat", "bits"])
def test_relu_of_masked_lanes(form, repeats, rng):
    case = Relu(rng)
    mask, lane = lanes_of(form, 64)
    for repeat in range(repeats):
        at = (repeat * 9 + lane // 16 * 2) * 16 + lane % 16
        first = repeat * 64 + lane
        second = (repeat * 9 + lane // 8) * 8 + lane % 8
        case.want[at] = relu_of_sum(case.a[first], case.b[second], 0.25)
    case.run(f"add_deq_relu_{form}", [*mask, repeats, 2, 1, 1, 9, 8, 9], 0.25)


@pytest.mark.parametrize(("source", "lost"), [(SOURCE, 4 * COUNT), (SECOND, 2 * COUNT)])
def test_relu_loses_its_sources(source, lost, rng):
    """Of src0 as many floats, of src1 as many halves."""
    found = []
    for byte in (source + lost - 2, source + lost):
        machine = Relu(rng).machine(1.0)
        machine.issue("add_deq_relu", ("float16", "int32"), ub(0), ub(SOURCE), ub(SECOND), COUNT)
        machine.barrier("V")
        machine.issue("data_copy_ub", "int16", ub(131072), ub(byte // 32 * 32), 1, 1, 0, 0)
        machine.barrier("V")
        first = byte % 32 // 2
        machine.issue("relu_bits", "float16", ub(0), ub(131072), 1 << first, 0, 1, 1, 1, 8, 8)
        machine.barrier()
        found.append([h["kind"] for h in machine.hazards()])
    assert found == [["poison"], []]


def first_hazard(*calls):
    machine = Machine()
    for key, dtypes, *args in calls:
        machine.issue(key, dtypes, *args)
    return machine.hazards()[0]


BYTES = ("cast_dequant", ("int8", "int16"), ub(0), ub(SOURCE), "false", 16)
HALF = ("cast_dequant_half", ("float16", "int32"), ub(0), ub(SOURCE), 16)
SCALE = ("set_deq_scale", "float16", 1.0)
OFFSET = ("set_deq_scale_offset", "float32", 1.0, 0, 0)


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ([BYTES], "which nothing called"),
        ([HALF], "call SetDeqScale(half scale) before it"),
        ([SCALE, BYTES], "whose last call was of the other form"),
        ([OFFSET, HALF], "whose last call was of the other form"),
        ([OFFSET, BYTES], "gives int8, and SetDeqScale was called for unsigned results"),
        ([("set_deq_scale_offset", "float32", 1.0, 256, 0)], "offset = 256; allowed is -256 to"),
    ],
)
def test_a_scale_that_does_not_fit_is_refused(calls, words):
    assert words in first_hazard(*calls)["message"]


@pytest.mark.parametrize(
    ("second", "params", "words"),
    [
        (SOURCE + 96, [64, 3, 1, 1, 1, 8, 8, 8], "src0 and src1 overlap"),
        (SECOND, [64, 40, 1, 1, 1, 8, 7, 8], "overwrites what its next 32 repeats read of src0"),
    ],
)
def test_sources_that_it_would_overwrite_too_early_are_refused(second, params, words, rng):
    machine = Relu(rng).machine(1.0)
    place = (ub(0), ub(SOURCE), ub(second))
    machine.issue("add_deq_relu_repeat", ("float16", "int32"), *place, *params)
    assert words in machine.hazards()[0]["message"]

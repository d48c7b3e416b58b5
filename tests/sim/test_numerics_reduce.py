# SPDX-License-Identifier: Apache-2.0
"""Whole-repeat reductions and block broadcasts against numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sim.machine import Machine, ub

from tvm_ascend.isa.table import TABLE


def tree(values, active, combine):
    """Over neighbouring lanes; an inactive one takes no part. None if all are inactive."""
    pairs = [v if on else None for v, on in zip(values, active, strict=True)]
    while len(pairs) > 1:
        pairs = [
            (combine(a, b) if a is not None else b) if b is not None else a
            for a, b in zip(pairs[::2], pairs[1::2], strict=True)
        ]
    return pairs[0]


def larger(a, b):
    return a if math.isnan(a) else b if math.isnan(b) else max(a, b)


def smaller(a, b):
    return a if math.isnan(a) else b if math.isnan(b) else min(a, b)


COMBINE = {"sum": lambda a, b: a + b, "max": larger, "min": smaller}
GROUP = {"whole": 256, "block": 32}  # bytes of one result's lanes; a pair has two lanes
PLAIN = [(f"{group}_reduce_{kind}", group, kind) for group in GROUP for kind in COMBINE] + [
    ("pair_reduce_sum", "pair", "sum")
]
BITS = [0x8000_0001_0F0F_0006, 0x8000_0000_0000_0000]
STRIDES = [(1, 1, 8), (3, 1, 8), (2, 2, 17), (1, 0, 3)]


def words(masks):
    return [int(np.array(m, "uint64").view("int64")) for m in masks]


class Reduction:
    """Data, masks and the active lanes of each repeat."""

    def __init__(self, dtype, strides, bits, rng):
        self.dtype, self.repeats = np.dtype(dtype), 4
        self.dst_rep, self.src_blk, self.src_rep = strides
        self.data = rng.normal(0, 10, 4096).astype(dtype)
        self.data[rng.integers(0, 1024, 20)] = np.inf
        self.data[rng.integers(0, 1024, 3)] = np.nan
        self.lanes = 256 // self.dtype.itemsize
        self.masks = words(BITS) if bits else [self.lanes - 5]
        lane = np.arange(self.lanes)
        chosen = [BITS[i // 64] >> i % 64 & 1 for i in range(self.lanes)]
        self.active = np.array(chosen, bool) if bits else lane < self.lanes - 5
        block = 32 // self.dtype.itemsize
        self.at = lane // block * self.src_blk * block + lane % block
        self.step = self.src_rep * block
        self.out = rng.integers(0, 9, 2048).astype(dtype)

    def values(self, repeat):
        return self.data[repeat * self.step + self.at]

    def issue(self, key, *order):
        machine = Machine()
        masks = self.masks
        if key.endswith("_preset"):
            machine.issue("set_vector_mask", None, "float16", *reversed(masks))
            masks = []
        gm_out = machine.tensor("out", self.out)
        machine.load(ub(0), gm_out, 2048, str(self.dtype))
        machine.load(ub(16384), machine.tensor("data", self.data), 4096, str(self.dtype))
        machine.sync("MTE2_V")
        strides = (self.dst_rep, self.src_blk, self.src_rep)
        dtype, places = str(self.dtype), (ub(0), ub(16384))
        machine.issue(key, dtype, *places, *masks, self.repeats, *strides, *order)
        machine.sync("V_MTE3")
        machine.store(gm_out, ub(0), 2048, dtype)
        machine.barrier()
        machine.clean()


@pytest.mark.parametrize(("key", "group", "kind"), PLAIN)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("strides", STRIDES)
@pytest.mark.parametrize("form", ["", "_bits", "_preset"])
def test_reduce(key, group, kind, dtype, strides, form, rng):
    run = Reduction(dtype, strides, form != "", rng)
    width = 2 if group == "pair" else GROUP[group] // run.dtype.itemsize
    per_repeat = run.lanes // width
    want = run.out.copy()
    with np.errstate(all="ignore"):
        for r in range(run.repeats):
            values = run.values(r)
            for g in range(per_repeat):
                part = slice(g * width, (g + 1) * width)
                result = tree(list(values[part]), run.active[part], COMBINE[kind])
                if result is not None:
                    want[r * run.dst_rep * per_repeat + g] = result
    run.issue(key + form)
    np.testing.assert_array_equal(run.out, want)


@pytest.mark.parametrize("order", TABLE["reduce_index_max"].params[-1].values)
@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("strides", STRIDES)
@pytest.mark.parametrize("form", ["", "_bits", "_preset"])
def test_reduce_with_index(kind, dtype, strides, order, form, rng):
    run = Reduction(dtype, strides, form != "", rng)
    run.data[5:9] = run.data[5]  # equal ones
    raw = np.uint16 if dtype == "float16" else np.uint32
    want = run.out.copy()
    for r in range(run.repeats):
        values = run.values(r)
        best = tree(list(values), run.active, COMBINE[kind])
        same = np.isnan(values) if np.isnan(best) else values == best
        lane = int(np.flatnonzero(same & run.active)[0])
        if order == "ORDER_ONLY_INDEX":
            want.view("uint32")[r * run.dst_rep] = lane
            continue
        pair = [np.array(best, dtype).view(raw), raw(lane)]
        if order == "ORDER_INDEX_VALUE":
            pair.reverse()
        want.view(raw)[2 * r * run.dst_rep : 2 * r * run.dst_rep + 2] = pair
    run.issue(f"reduce_index_{kind}{form}", order)
    nan = np.isnan(want)
    assert np.array_equal(nan, np.isnan(run.out))
    assert np.array_equal(run.out.view(raw)[~nan], want.view(raw)[~nan])


def test_a_value_and_its_index_need_both_places_aligned():
    machine = Machine()
    args = (64, 1, 1, 1, 8)
    machine.issue("reduce_index_max", "float32", ub(4), ub(1024), *args, "ORDER_VALUE_INDEX")
    machine.issue("reduce_index_max", "float32", ub(4), ub(1024), *args, "ORDER_ONLY_INDEX")
    machine.issue("block_reduce_max", "float16", ub(8), ub(1024), *args)
    first, second, third = machine.inspect()
    assert "multiple of 8" in first["fault"]
    assert not second["fault"]
    assert not third["fault"]
    (hazard,) = [h for h in machine.hazards() if h["kind"] == "misaligned"]
    assert "must be a multiple of 16" in hazard["message"]


def test_a_reduced_value_may_sit_at_any_element():
    data, out = np.arange(64, dtype="float32"), np.zeros(8, "float32")
    machine = Machine()
    machine.load(ub(1024), machine.tensor("data", data), 64, "float32")
    machine.sync("MTE2_V")
    machine.issue("whole_reduce_sum", "float32", ub(4), ub(1024), 64, 1, 1, 1, 8)
    machine.sync("V_S")
    machine.issue("get_value", "float32", ub(4))
    report = machine.clean()
    assert np.array(report["values"], "int64").view("float64")[0] == data.sum()
    assert not out.any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "int16", "int32", "uint32"])
@pytest.mark.parametrize(("dst_blk", "dst_rep"), [(1, 8), (2, 17)])
def test_brcb(dtype, dst_blk, dst_rep, rng):
    size = np.dtype(dtype).itemsize
    block, repeats = 32 // size, 2
    data = rng.integers(0, 1000, 16).astype(dtype)
    out = np.zeros(40 * block, dtype)
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(0), gm_out, len(out), dtype)
    machine.load(ub(4096), machine.tensor("data", data), 16, dtype)
    machine.sync("MTE2_V")
    machine.issue("brcb", dtype, ub(0), ub(4096), repeats, dst_blk, dst_rep)
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(0), len(out), dtype)
    machine.barrier()
    machine.clean()
    want = np.zeros((40, block), dtype)
    for i in range(8 * repeats):
        want[i // 8 * dst_rep + i % 8 * dst_blk] = data[i]
    assert np.array_equal(out, want.ravel())

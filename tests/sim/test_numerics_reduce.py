# SPDX-License-Identifier: Apache-2.0
"""Whole-repeat reductions and block broadcasts against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import Machine, ub


def tree(values, combine):
    while len(values) > 1:
        pairs = [combine(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + ([values[-1]] if len(values) % 2 else [])
    return values[0]


COMBINE = {
    "whole_reduce_sum": lambda a, b: a + b,
    "whole_reduce_max": max,
    "whole_reduce_min": min,
}


@pytest.mark.parametrize("key", COMBINE)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    ("lost", "dst_rep", "src_blk", "src_rep"), [(0, 1, 1, 8), (5, 3, 1, 8), (9, 1, 2, 17)]
)
def test_reduce(key, dtype, lost, dst_rep, src_blk, src_rep, rng):
    size = np.dtype(dtype).itemsize
    block, mask, repeats = 32 // size, 256 // size - lost, 5
    data = rng.normal(0, 10, 4096).astype(dtype)
    out = np.zeros(16, dtype)
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(0), gm_out, 16, dtype)
    machine.load(ub(1024), machine.tensor("data", data), 4096, dtype)
    machine.sync("MTE2_V")
    machine.issue(key, dtype, ub(0), ub(1024), mask, repeats, dst_rep, src_blk, src_rep)
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(0), 16, dtype)
    machine.barrier()
    machine.clean()
    lane = np.arange(mask)
    want = np.zeros(16, dtype)
    for r in range(repeats):
        at = (r * src_rep + lane // block * src_blk) * block + lane % block
        want[r * dst_rep] = tree(list(data[at]), COMBINE[key])
    assert np.array_equal(out, want)


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

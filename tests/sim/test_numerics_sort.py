# SPDX-License-Identifier: Apache-2.0
"""Sorting, merging and transposing, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import Machine, ub

from tvm_ascend.isa.table import TABLE

SPECIAL = [0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 6e-8]


def scores(rng, dtype, count):
    values = rng.integers(-20, 20, count).astype(dtype)
    values[:: count // len(SPECIAL)][: len(SPECIAL)] = SPECIAL
    return rng.permutation(values)


def records(score, index):
    out = np.zeros(
        len(score),
        [("score", score.dtype), ("index", "uint32")]
        if score.itemsize == 4
        else [("score", score.dtype), ("pad", "uint16"), ("index", "uint32")],
    )
    out["score"], out["index"] = score, index
    return out


def ordered(record):
    """From high to low; equal scores keep their order."""
    return record[np.argsort(-record["score"].astype("float64"), kind="stable")]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_sort32(dtype, rng):
    count = 96
    score, index = scores(rng, dtype, count), rng.integers(0, 2**32, count, dtype="uint32")
    out = np.zeros(count * 8 // np.dtype(dtype).itemsize, dtype)
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(4096), machine.tensor("score", score), count, dtype)
    machine.load(ub(8192), machine.tensor("index", index), count, "uint32")
    machine.sync("MTE2_V")
    machine.issue("sort32", dtype, ub(0), ub(4096), ub(8192), 3)
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(0), out.size, dtype)
    machine.barrier()
    machine.clean()
    groups = [ordered(records(score, index)[i : i + 32]) for i in range(0, count, 32)]
    assert out.tobytes() == np.concatenate(groups).tobytes()


def test_sort32_needs_its_alignments():
    machine = Machine()
    machine.issue("sort32", "float16", ub(128), ub(4096), ub(8192), 1)
    machine.issue("sort32", "float16", ub(0), ub(4096 + 32), ub(8192), 1)
    hazards = machine.hazards()
    assert [(h["kind"], h["bytes"][0]) for h in hazards] == [
        ("misaligned", 128),
        ("misaligned", 4128),
    ]


LENGTHS = [(3, (5, 9, 7, 7)), (7, (8, 1, 6, 3)), (15, (4, 0, 11, 6))]


def merge(dtype, lists, valid, suspend, repeat=1, place=None):
    flat = [r.view(dtype) for r in lists]
    out = np.zeros(sum(f.size for f in flat), dtype)
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(0), gm_out, out.size, dtype)
    places = place or [ub(8192 * (i + 1)) for i in range(4)]
    for i, (array, at) in enumerate(zip(flat, places, strict=True)):
        if array.size:
            machine.load(at, machine.tensor(f"in{i}", array), array.size, dtype)
    machine.sync("MTE2_V")
    lengths = [len(r) // repeat for r in lists]
    machine.issue("mrg_sort", dtype, ub(0), *places, *lengths, suspend, valid, repeat)
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(0), out.size, dtype)
    machine.barrier()
    machine.clean()
    return out.view(lists[0].dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("suspend", [False, True])
@pytest.mark.parametrize(("valid", "lengths"), LENGTHS)
def test_mrg_sort(dtype, suspend, valid, lengths, rng):
    lists = []
    for i, length in enumerate(lengths):
        score = rng.integers(-5, 5, length).astype(dtype)
        lists.append(ordered(records(score, 100 * i + np.arange(length))))
    used = {3: 2, 7: 3, 15: 4}[valid]
    want = ordered(np.concatenate(lists[:used]))
    if suspend:  # up to the last record of the list that ends first
        ends = [np.flatnonzero(want["index"] // 100 == i)[-1] for i in range(used) if lengths[i]]
        want = want[: min(ends) + 1]
    out = merge(dtype, lists, valid, suspend)
    assert out[: len(want)].tobytes() == want.tobytes()
    assert not out[len(want) :]["index"].any() or valid != 15


def test_repeats_of_mrg_sort(rng):
    length = 4
    groups = [
        records(rng.integers(-5, 5, 16).astype("float32"), np.arange(16) + 16 * r) for r in range(3)
    ]
    groups = [
        np.concatenate([ordered(g[i : i + length]) for i in range(0, 16, length)]) for g in groups
    ]
    data = np.concatenate(groups)
    out = np.zeros(data.size * 2, "float32")
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(8192), machine.tensor("in", data.view("float32")), out.size, "float32")
    machine.sync("MTE2_V")
    places = [ub(8192 + 8 * length * i) for i in range(4)]
    machine.issue("mrg_sort", "float32", ub(0), *places, *[length] * 4, False, 15, 3)
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(0), out.size, "float32")
    machine.barrier()
    machine.clean()
    assert out.tobytes() == np.concatenate([ordered(g) for g in groups]).tobytes()


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((4, 4, 4, 4, False, 5, 1), "valid_bit is 5"),
        ((4, 4, 4, 2, False, 15, 2), "repeats need four lists"),
        ((4, 4, 4, 4, True, 15, 2), "repeats need four lists"),
    ],
)
def test_merges_that_the_chip_does_not_define(args, text):
    machine = Machine()
    places = [ub(8192 + 32 * i) for i in range(4)]
    machine.issue("mrg_sort", "float32", ub(0), *places, *args)
    assert text in machine.inspect()[0]["fault"]


@pytest.mark.parametrize("dtype", ["float16", "int16", "uint16"])
@pytest.mark.parametrize("target", [0, 4096])
def test_transpose(dtype, target, rng):
    data = rng.integers(0, 1000, 256).astype(dtype)
    out = np.zeros(256, dtype)
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(4096), machine.tensor("data", data), 256, dtype)
    machine.sync("MTE2_V")
    machine.issue("transpose", dtype, ub(target), ub(4096))
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(target), 256, dtype)
    machine.barrier()
    machine.clean()
    assert np.array_equal(out.reshape(16, 16), data.reshape(16, 16).T)


TURNED = [d[0] for d in TABLE["trans_data_to_5hd"].dtypes]


def turned(tile, dtype):
    """Sixteen blocks of columns from sixteen blocks of rows."""
    size = np.dtype(dtype).itemsize
    columns = 16 if size == 1 else 32 // size
    return tile[:, :columns].T.reshape(16, columns)


@pytest.mark.parametrize("dtype", TURNED)
@pytest.mark.parametrize("high", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("repeats", [1, 3])
def test_trans_data_to_5hd(dtype, high, repeats, rng):
    size = np.dtype(dtype).itemsize
    block = 32 // size
    data = rng.integers(0, 100, (64, 2, block)).astype(dtype)
    out = np.zeros((64, 3, block), dtype)
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(0), gm_out, out.size, dtype)
    machine.load(ub(16384), machine.tensor("data", data), data.size, dtype)
    machine.sync("MTE2_V")
    # Rows two blocks apart, repeats 16 rows; columns three blocks apart, repeats side by side.
    params = (3 * block, 2 * block, *high, repeats, 1, 32)
    machine.issue("trans_data_to_5hd", dtype, ub(0), ub(16384), *params)
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(0), out.size, dtype)
    machine.barrier()
    machine.clean()
    want = np.zeros_like(out)
    to, source = (slice(16 * h, 16 * h + 16) if size == 1 else slice(None) for h in high)
    for repeat in range(repeats):
        at = 1 if repeats == 1 else repeat
        want[:16, at, to] = turned(data[16 * at : 16 * at + 16, 0, source], dtype)
    assert np.array_equal(out, want)

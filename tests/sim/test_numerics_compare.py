# SPDX-License-Identifier: Apache-2.0
"""Comparisons into bits and selections by bits, against numpy."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from sim.machine import Machine, ub

from tvm_ascend.isa.table import TABLE

OPERATORS = {
    "LT": operator.lt,
    "GT": operator.gt,
    "EQ": operator.eq,
    "LE": operator.le,
    "GE": operator.ge,
    "NE": lambda a, b: (a < b) | (a > b),
}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 6e-8]
MASK_TYPES = ["uint8", "uint16", "uint32", "uint64"]


def sample(rng, dtype, count):
    values = rng.integers(-3, 4, count).astype(dtype)
    if "float" in dtype:
        values[:128:7] = rng.choice(SPECIAL, len(values[:128:7]))
    return values


def legal(key):
    row = TABLE[key]
    modes = next(p.values for p in row.params if p.values)
    return [(d, m) for d in row.dtypes for m in row.choices.get(d, modes)]


def compare(key, dtypes, arrays, params, rng):
    """Bits that the instruction stores, and what lay behind them."""
    out = rng.integers(0, 256, 256).astype("uint8")
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(0), gm_out, 256, "uint8")
    places = [ub(0)]
    for i, array in enumerate(arrays):
        places.append(ub(16384 * (i + 1)))
        machine.load(places[-1], machine.tensor(f"in{i}", array), array.size, dtypes[0])
    machine.sync("MTE2_V")
    machine.issue(key, dtypes, *places, *params)
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(0), 256, "uint8")
    machine.barrier()
    machine.clean()
    return out


def value(dtype):
    return 1.0 if "float" in dtype else 1


COMPARES = [(d, m, False) for d, m in legal("compare")]
COMPARES += [(d, m, True) for d, m in legal("compare_scalar")]


@pytest.mark.parametrize(("dtypes", "mode", "scalar"), COMPARES)
def test_compare(dtypes, mode, scalar, rng):
    count = 768 // np.dtype(dtypes[0]).itemsize
    a, b = sample(rng, dtypes[0], count), sample(rng, dtypes[0], count)
    other = value(dtypes[0]) if scalar else b
    result = OPERATORS[mode](a, a.dtype.type(other) if scalar else b)
    want = np.packbits(result, bitorder="little")
    key, arrays = ("compare_scalar", [a]) if scalar else ("compare", [a, b])
    out = compare(key, dtypes, arrays, [*([other] if scalar else []), mode, count], rng)
    assert np.array_equal(out[: want.size], want)


@pytest.mark.parametrize("scalar", [False, True])
@pytest.mark.parametrize(("dtypes", "mode"), legal("compare_scalar_repeat"))
def test_compare_repeats(dtypes, mode, scalar, rng):
    size = np.dtype(dtypes[0]).itemsize
    a, b = (sample(rng, dtypes[0], 8192 // size) for _ in range(2))
    lanes, block = 256 // size, 32 // size
    lane, repeats = np.arange(lanes), 3
    at_a = [(r * 17 + lane // block * 2) * block + lane % block for r in range(repeats)]
    at_b = [(r * 0 + lane // block * 0) * block + lane % block for r in range(repeats)]
    other = value(dtypes[0])
    results = [
        OPERATORS[mode](a[x], a.dtype.type(other) if scalar else b[y])
        for x, y in zip(at_a, at_b, strict=True)
    ]
    want = np.packbits(np.concatenate(results), bitorder="little")
    if scalar:
        out = compare("compare_scalar_repeat", dtypes, [a], [other, mode, 3, repeats, 2, 17], rng)
    else:
        out = compare("compare_repeat", dtypes, [a, b], [mode, 3, repeats, 2, 0, 17, 0], rng)
    assert np.array_equal(out[: want.size], want)


def test_a_compare_touches_whole_repeats_and_packed_bits():
    machine = Machine()
    machine.issue("compare", ("float32", "uint8"), ub(0), ub(1024), ub(4096), "LT", 128)
    machine.issue("compare", ("float32", "uint8"), ub(0), ub(1024), ub(4096), "LT", 100)
    whole, part = machine.inspect()
    assert whole["accesses"] == [
        [0, "write", 0, 16, 16],
        [1, "read", 0, 512, 512],
        [2, "read", 0, 512, 512],
    ]
    assert "not a multiple of the 64 lanes" in part["fault"]


def test_int32_compares_for_equality_only():
    machine = Machine()
    machine.issue("compare", ("int32", "uint8"), ub(0), ub(1024), ub(4096), "LT", 64)
    (hazard,) = machine.hazards()
    assert "mode = LT, which (int32,uint8) does not have" in hazard["message"]


def select(key, dtypes, mask, sources, params):
    out = np.zeros(256, dtypes[0])
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(0), gm_out, 256, dtypes[0])
    machine.load(ub(4096), machine.tensor("mask", mask), mask.size, "uint8")
    places = []
    for i, array in enumerate(sources):
        places.append(ub(8192 * (i + 1)))
        machine.load(places[-1], machine.tensor(f"in{i}", array), array.size, dtypes[0])
    machine.sync("MTE2_V")
    machine.issue(key, dtypes, ub(0), ub(4096), *places, *params)
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(0), 256, dtypes[0])
    machine.barrier()
    machine.clean()
    return out


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("mask_type", MASK_TYPES)
@pytest.mark.parametrize("mode", TABLE["select"].params[0].values)
def test_select(dtype, mask_type, mode, rng):
    count = 203
    a, b = sample(rng, dtype, count), sample(rng, dtype, count)
    mask = rng.integers(0, 256, 64).astype("uint8")
    bits = np.unpackbits(mask, bitorder="little").astype(bool)
    if mode == "VSEL_CMPMASK_SPR":
        bits = np.resize(bits[: 256 // a.itemsize], count)
    bits = bits[:count]
    if mode == "VSEL_TENSOR_SCALAR_MODE":
        want = np.where(bits, a, a.dtype.type(2.5))
        out = select("select_scalar", (dtype, mask_type), mask, [a], [2.5, mode, count])
    else:
        want = np.where(bits, a, b)
        out = select("select", (dtype, mask_type), mask, [a, b], [mode, count])
    assert out[:count].tobytes() == want.astype(dtype).tobytes()
    assert not out[count:].any()


def test_a_selection_reads_no_more_bits_than_it_needs():
    machine = Machine()
    places = (ub(0), ub(4096), ub(8192), ub(16384))
    machine.issue("select", ("float32", "uint8"), *places, "VSEL_TENSOR_TENSOR_MODE", 100)
    machine.issue("select", ("float32", "uint8"), *places, "VSEL_CMPMASK_SPR", 100)
    bits, shared = ([a for a in e["accesses"] if a[0] == 1] for e in machine.inspect())
    assert bits == [[1, "read", 0, 13, 13]]
    assert shared == [[1, "read", 0, 8, 8]]


def test_a_mask_under_dst_is_refused():
    machine = Machine()
    places = (ub(0), ub(32), ub(8192), ub(16384))
    machine.issue("select", ("float32", "uint8"), *places, "VSEL_TENSOR_TENSOR_MODE", 100)
    (hazard,) = machine.hazards()
    assert "sel_mask overlaps dst" in hazard["message"]

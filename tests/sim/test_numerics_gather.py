# SPDX-License-Identifier: Apache-2.0
"""Elements and blocks collected by offsets, bits and patterns, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import Machine, ub
from sim.test_numerics_vector import sample, to_numpy

from tvm_ascend.isa.table import TABLE

WORDS = [d[0] for d in TABLE["gather"].dtypes]
OUT = 4096  # bytes of dst


def bits(array):
    """The elements as unsigned integers: NaN equals itself."""
    return array.view(f"uint{8 * array.itemsize}")


def run(key, dtypes, inputs, params, check=True):
    """What dst holds; inputs are (array, dtype) and lie 16 KB apart behind dst."""
    dtype = dtypes[0]
    out = np.zeros(OUT // to_numpy(dtype).itemsize, to_numpy(dtype))
    machine = Machine()
    gm_out = machine.tensor("out", out)
    machine.load(ub(0), gm_out, out.size, dtype)
    places = [ub(0)]
    for i, (array, kind) in enumerate(inputs):
        places.append(ub(16384 * (i + 1)))
        machine.load(places[-1], machine.tensor(f"in{i}", array), array.size, kind)
    machine.sync("MTE2_V")
    machine.issue(key, dtypes, *places, *params)
    machine.sync("V_MTE3")
    machine.store(gm_out, ub(0), out.size, dtype)
    machine.barrier()
    if not check:
        return machine.hazards()
    machine.clean()
    return bits(out)


@pytest.mark.parametrize("dtype", WORDS)
def test_gather(dtype, rng):
    data = sample(rng, dtype, 1000)
    chosen = rng.integers(0, 990, 203)
    offsets = (chosen * data.itemsize).astype("uint32")
    base = 8 * data.itemsize
    inputs = [(data, dtype), (offsets, "uint32")]
    out = run("gather", (dtype,), inputs, [base, 203])
    assert np.array_equal(out[:203], bits(data)[chosen + 8])
    assert not out[203:].any()


@pytest.mark.parametrize("dtype", ["float16", "int32"])
def test_gather_repeats(dtype, rng):
    data = sample(rng, dtype, 1000)
    lanes = 256 // data.itemsize
    chosen = rng.integers(0, 1000, 3 * lanes)
    offsets = (chosen * data.itemsize).astype("uint32")
    inputs = [(data, dtype), (offsets, "uint32")]
    out = run("gather_repeat", (dtype,), inputs, [0, lanes - 5, 3, 9])
    want = np.zeros_like(out)
    for r in range(3):
        at = r * 9 * 32 // data.itemsize
        want[at : at + lanes - 5] = bits(data)[chosen[r * lanes : (r + 1) * lanes - 5]]
    assert np.array_equal(out, want)


def test_a_gather_reads_exactly_the_elements_it_names():
    data, offsets = np.arange(8, dtype="float32"), np.array([0, 40, 0, 0, 0, 0, 0, 0], "uint32")
    (hazard,) = run("gather", ("float32",), [(data, "float32"), (offsets, "uint32")], [0, 2], False)
    assert hazard["kind"] == "poison"
    assert hazard["bytes"][0] == 16384 + 40


def test_an_offset_inside_an_element_is_refused():
    data, offsets = np.arange(8, dtype="float32"), np.full(8, 2, "uint32")
    (hazard,) = run("gather", ("float32",), [(data, "float32"), (offsets, "uint32")], [0, 8], False)
    assert "offset 2 is no multiple of 4" in hazard["message"]


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_gatherb(dtype, rng):
    data = sample(rng, dtype, 2048)
    blocks = rng.integers(0, 64, 16)
    inputs = [(data, dtype), ((blocks * 32).astype("uint32"), "uint32")]
    out = run("gatherb", (dtype,), inputs, [2, 2, 17]).reshape(-1, 32 // data.itemsize)
    want = np.zeros_like(out)
    source = data.reshape(-1, 32 // data.itemsize)
    for i, block in enumerate(blocks):
        want[i // 8 * 17 + i % 8 * 2] = source[block]
    assert np.array_equal(out, want)


FIXED = {
    1: [0, 2],
    2: [1, 3],
    3: [0],
    4: [1],
    5: [2],
    6: [3],
    7: [0, 1, 2, 3],
}


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("pattern", FIXED)
@pytest.mark.parametrize("counter", [True, False])
def test_fixed_patterns(dtype, pattern, counter, rng):
    data = sample(rng, dtype, 4096 // to_numpy(dtype).itemsize)
    lanes, block = 256 // data.itemsize, 32 // data.itemsize
    total = 2 * lanes + 7 if counter else 2 * lanes
    element = np.arange(total)
    lane = element % lanes
    at = (element // lanes * 9 + lane // block) * block + lane % block
    kept = at[np.isin(element % 4, FIXED[pattern])]
    params = [pattern, counter, total if counter else 0, 1, 2, 9, 0]
    out = run("gather_mask_fixed", (dtype,), [(data, dtype)], params)
    assert np.array_equal(out[: kept.size], bits(data)[kept])
    assert not out[kept.size :].any()


@pytest.mark.parametrize("dtypes", TABLE["gather_mask"].dtypes)
@pytest.mark.parametrize("counter", [True, False])
@pytest.mark.parametrize("pattern_rep", [0, 1])
def test_patterns_in_memory(dtypes, counter, pattern_rep, rng):
    data = sample(rng, dtypes[0], 4096 // to_numpy(dtypes[0]).itemsize)
    lanes = 256 // data.itemsize
    pattern = rng.integers(0, 256, 256).astype("uint8")
    chosen = np.unpackbits(pattern, bitorder="little")
    total = 2 * lanes + 7 if counter else 2 * lanes
    element = np.arange(total)
    bit = element // lanes * pattern_rep * 256 + element % lanes
    kept = element[chosen[bit] == 1]
    words = pattern.view(dtypes[1])
    params = [counter, total if counter else 0, 1, 2, 8, pattern_rep]
    out = run("gather_mask", dtypes, [(data, dtypes[0]), (words, dtypes[1])], params)
    assert np.array_equal(out[: kept.size], bits(data)[kept])
    assert not out[kept.size :].any()


def test_elements_that_are_not_chosen_may_be_undefined():
    data = np.arange(2, dtype="float32")
    out = run("gather_mask_fixed", ("float32",), [(data, "float32")], [1, True, 2, 1, 1, 8, 0])
    assert out[0] == 0
    hazards = run(
        "gather_mask_fixed", ("float32",), [(data, "float32")], [7, True, 3, 1, 1, 8, 0], False
    )
    assert [h["kind"] for h in hazards] == ["poison"]


@pytest.mark.parametrize(
    ("key", "dtypes", "params"),
    [
        ("gather", ("float32",), [0, 2**30]),
        ("gather_repeat", ("float32",), [0, 64, 255, 65535]),
        ("gatherb", ("uint32",), [255, 255, 255]),
        ("gather_mask", ("float32", "uint32"), [True, 2**32 - 1, 1, 1, 8, 1]),
        ("gather_mask_fixed", ("float32",), [7, True, 2**32 - 1, 1, 1, 8, 0]),
        ("gather_mask_fixed", ("float32",), [3, False, 0, 0, 65535, 0, 0]),
        ("mrg_sort", ("float32",), [4095, 4095, 4095, 4095, True, 15, 1]),
    ],
)
@pytest.mark.parametrize("numerics", [False, True])
def test_what_runs_past_the_memory_is_refused(key, dtypes, params, numerics):
    machine = Machine()
    operands = TABLE[key].operands
    machine.issue(
        key, dtypes, *[ub(196608 - 4096 * (i + 1)) for i, _ in enumerate(operands)], *params
    )
    (hazard, *_) = machine.hazards(numerics=numerics)
    assert hazard["kind"] in ("out_of_bounds", "parameter")


def test_gathers_run_without_data():
    machine = Machine()
    machine.load(ub(8192), machine.tensor("offsets", np.zeros(64, "uint32")), 64, "uint32")
    machine.load(ub(4096), machine.tensor("data", np.zeros(64, "uint32")), 64, "uint32")
    machine.sync("MTE2_V")
    machine.issue("gather", "uint32", ub(0), ub(4096), ub(8192), 0, 64)
    machine.issue(
        "gather_mask", ("uint32", "uint32"), ub(1024), ub(4096), ub(8192), True, 64, 1, 1, 8, 1
    )
    machine.barrier("V")
    machine.issue("duplicate", "uint32", ub(0), 1, 64)
    machine.clean(numerics=False)

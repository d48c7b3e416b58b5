# SPDX-License-Identifier: Apache-2.0
"""The vector mask register: what sets it, what each form leaves in it, and counter mode."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import Machine, ub

from tvm_ascend.isa import formula
from tvm_ascend.isa.table import TABLE

LANES = 64
FULL = np.ones(LANES, bool)


def first(count):
    return np.arange(LANES) < count


def lanes_after(*before):
    """The lanes of a float32 repeat that a preset form works on after other instructions."""
    data, out = np.ones(256, "float32"), np.zeros(LANES, "float32")
    machine = Machine()
    machine.load(ub(0), machine.tensor("out", out), LANES, "float32")
    machine.load(ub(4096), machine.tensor("data", data), data.size, "float32")
    machine.sync("MTE2_V")
    for key, dtypes, *args in before:
        machine.issue(key, dtypes, *args)
    machine.issue("adds_preset", "float32", ub(0), ub(4096), 4.0, 1, 1, 1, 8, 8)
    machine.sync("V_MTE3")
    machine.store(machine.tensor("out", out), ub(0), LANES, "float32")
    machine.barrier()
    machine.clean()
    return out == 5


REPEATED = (1, 1, 1, 8, 8)
SET = ("set_vector_mask", None, "float32", 0, 0b1011)
COUNTED = ("set_vector_mask_count", None, "float32", 0, 3)
LEFT_BEHIND = {
    "nothing": ([], FULL),
    "a mask of bits": ([SET], np.isin(np.arange(LANES), [0, 1, 3])),
    "ResetMask": ([SET, ("reset_mask", None)], FULL),
    "a form with a mask count": (
        [("adds_repeat", "float32", ub(8192), ub(4096), 1.0, 7, *REPEATED)],
        first(7),
    ),
    "a form with bits": (
        [("adds_bits", "float32", ub(8192), ub(4096), 1.0, 0b101, 0, *REPEATED)],
        np.isin(np.arange(LANES), [0, 2]),
    ),
    "a count form": ([SET, ("adds", "float32", ub(8192), ub(4096), 1.0, 5)], FULL),
    "a reduction": (
        [("whole_reduce_sum", "float32", ub(8192), ub(4096), 9, 1, 1, 1, 8)],
        first(9),
    ),
    "a preset form": (
        [SET, ("adds_preset", "float32", ub(8192), ub(4096), 1.0, *REPEATED)],
        np.isin(np.arange(LANES), [0, 1, 3]),
    ),
    "counter mode": ([("set_mask_count", None), COUNTED], first(3)),
    "normal mode again": ([("set_mask_count", None), COUNTED, ("set_mask_norm", None)], first(2)),
    "counter mode ended by a count form": (
        [("set_mask_count", None), COUNTED, ("adds", "float32", ub(8192), ub(4096), 1.0, 5)],
        FULL,
    ),
    "a gather by a pattern": (
        [
            ("set_mask_count", None),
            ("gather_mask_fixed", "float32", ub(8192), ub(4096), 1, 1, 256, 1, 1, 8, 8),
        ],
        np.isin(np.arange(LANES), [8]),  # 256 as bits
    ),
}


@pytest.mark.parametrize(("before", "lanes"), LEFT_BEHIND.values(), ids=list(LEFT_BEHIND))
def test_what_leaves_which_mask(before, lanes):
    assert np.array_equal(lanes_after(*before), lanes)


def test_a_count_of_more_than_the_repeats_goes_on():
    """`repeat` does not matter in counter mode, nor does it stop at 255."""
    data, out = np.arange(64 * 300, dtype="float32"), np.zeros(64 * 300, "float32")
    machine = Machine()
    machine.load(ub(0), machine.tensor("data", data), data.size, "float32")
    machine.sync("MTE2_V")
    machine.issue("set_mask_count", None)
    machine.issue("set_vector_mask_count", None, "float32", 0, data.size - 5)
    machine.issue("muls_preset", "float32", ub(98304), ub(0), 2.0, 1, 1, 1, 8, 8)
    machine.sync("V_MTE3")
    machine.store(machine.tensor("out", out), ub(98304), data.size - 5, "float32")
    machine.barrier()
    machine.clean()
    assert np.array_equal(out[:-5], data[:-5] * 2)
    assert not out[-5:].any()


@pytest.mark.parametrize("count", [0, 1, 64, 65, 200])
def test_counter_mode_touches_what_it_counts(count):
    """Undefined bytes from there on are not looked at, and are found one element further."""
    for more in (0, 1):
        machine = Machine()
        machine.issue("duplicate", "float32", ub(0), 1.0, count)
        machine.barrier("V")
        machine.issue("set_mask_count", None)
        machine.issue("set_vector_mask_count", None, "float32", 0, count + more)
        machine.issue("relu_preset", "float32", ub(4096), ub(0), 9, 1, 1, 8, 8)
        kinds = [h["kind"] for h in machine.hazards()]
        assert kinds == ["poison"] * more


@pytest.mark.parametrize("key", ["adds_preset", "whole_reduce_sum_preset", "cast_preset"])
@pytest.mark.parametrize(("counter", "low"), [(0, 5), (1, 1), (1, 64), (1, 65), (1, 1000)])
def test_cycles_agree_with_python(key, counter, low):
    row, rate = TABLE[key], {"head": 0, "tail": 0, "b8": 3, "b16": 3, "b32": 5}
    machine = Machine(rate=rate)
    machine.issue("duplicate", row.dtypes[0][0], ub(0), 1.0, 4096)
    machine.issue("duplicate", row.dtypes[0][-1], ub(65536), 1.0, 4096)
    machine.barrier("V")
    machine.issue(("set_mask_norm", "set_mask_count")[counter], None)
    machine.issue("set_vector_mask", None, "float32", 0, low)
    values = {p.name: 2 if p.name == "repeat" else 8 for p in row.params}
    values |= {"dst_blk": 1, "src_blk": 1, "scalar": 1.0, "round_mode": row.choices and "CAST_NONE"}
    args = [values[p.name] for p in row.params]
    site = machine.issue(key, row.dtypes[0], ub(0), ub(65536), *args)
    report = machine.clean(trace=True)
    start, end = [event[2:4] for event in report["trace"] if event[1] == "V"][-1]
    registers = {"mask_counter": counter, "vector_mask_low": low}
    timings = {row.timing: rate}
    dtypes, spaces = row.dtypes[0], (None, None)
    want = formula.cycles(row, dtypes, spaces, values, {}, timings, registers)
    lost = dict(report["bank_conflicts"]).get(site, 0)
    assert end - start - lost == want


@pytest.mark.parametrize("key", ["adds_repeat", "whole_reduce_sum", "gather_repeat"])
def test_a_mask_of_lanes_in_counter_mode_is_refused(key):
    machine = Machine()
    machine.issue("set_mask_count", None)
    row = TABLE[key]
    places = [ub(16384 * (1 + i)) for i in range(len(row.operands))]
    values = [1.0 if p.type == "T" else 1 for p in row.params]
    machine.issue(key, "float32", *places, *values)
    assert "counter mode" in machine.hazards()[0]["message"]

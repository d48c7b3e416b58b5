# SPDX-License-Identifier: Apache-2.0
"""Every race is found and names both statements; its synchronised counterpart is clean."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import At, Gm, Machine, ub

F16 = ("float32", "float16", "float16")


def vector_kernel(*, load_flag=True, free_flag=True, barrier=True, store_flag=True, reuse=True):
    """Load, two dependent vector ops, store; then the input buffer is loaded again."""
    machine = Machine()
    data, out = np.arange(128, dtype="float32"), np.zeros(128, "float32")
    gm, gm_out = machine.tensor("data", data), machine.tensor("out", out)
    sites = {"load": machine.load(ub(0, "x"), gm, 128, "float32")}
    if load_flag:
        machine.sync("MTE2_V")
    sites["add"] = machine.issue("adds", "float32", ub(1024, "y"), ub(0, "x"), 1.0, 128)
    if barrier:
        machine.barrier("V")
    sites["mul"] = machine.issue("muls", "float32", ub(2048, "z"), ub(1024, "y"), 2.0, 128)
    if store_flag:
        machine.sync("V_MTE3")
    sites["store"] = machine.store(gm_out, ub(2048, "z"), 128, "float32")
    if reuse:
        if free_flag:
            machine.sync("V_MTE2")
        sites["again"] = machine.load(ub(0, "x"), gm, 128, "float32")
    return machine, sites


CASES = {
    "load_flag": ("load", "add", "ub", (0, 512), "SetFlag/WaitFlag<HardEvent::MTE2_V>"),
    "barrier": ("add", "mul", "ub", (1024, 1536), "PipeBarrier<PIPE_V>"),
    "store_flag": ("mul", "store", "ub", (2048, 2560), "SetFlag/WaitFlag<HardEvent::V_MTE3>"),
    "free_flag": ("add", "again", "ub", (0, 512), "SetFlag/WaitFlag<HardEvent::V_MTE2>"),
}


def test_the_synchronised_kernel_is_clean():
    vector_kernel()[0].clean(strict=True)


@pytest.mark.parametrize("missing", CASES)
def test_a_missing_sync_is_a_race_between_both_statements(missing):
    machine, sites = vector_kernel(**{missing: False})
    first, second, space, span, fix = CASES[missing]
    hazard = machine.hazards()[0]
    assert hazard["kind"] == "race"
    assert (hazard["first"]["site"], hazard["second"]["site"]) == (sites[first], sites[second])
    assert hazard["space"] == space
    assert tuple(hazard["bytes"]) == span
    assert hazard["fix"] == fix
    named = (hazard["first"]["text"], hazard["second"]["where"], fix, f"[{span[0]}, {span[1]})")
    for text in named:
        assert text in hazard["message"]


def test_strict_stops_at_the_first_race():
    machine, _ = vector_kernel(load_flag=False, barrier=False, reuse=False)
    assert len(machine.hazards()) == 2
    report = machine.run(strict=True)
    assert len(report["hazards"]) == 1
    assert "muls" not in report["instructions"]


def test_a_write_after_a_read_on_one_pipe_needs_nothing():
    machine = Machine()
    machine.issue("duplicate", "float32", ub(0), 1.0, 64)
    machine.barrier("V")
    machine.issue("adds", "float32", ub(256), ub(0), 1.0, 64)
    machine.issue("duplicate", "float32", ub(0), 2.0, 64)
    machine.clean()


def test_two_writes_on_one_pipe_need_a_barrier():
    machine = Machine()
    machine.issue("duplicate", "float32", ub(0), 1.0, 64)
    machine.issue("duplicate", "float32", ub(32), 2.0, 8)
    (hazard,) = machine.hazards()
    assert hazard["fix"] == "PipeBarrier<PIPE_V>"
    assert hazard["bytes"] == [32, 64]


@pytest.mark.parametrize(("byte", "races"), [(508, True), (512, False)])
def test_ranges_are_exact_to_the_byte(byte, races):
    machine = Machine()
    machine.issue("duplicate", "float32", ub(0), 1.0, 128)
    machine.issue("set_value", "float32", ub(byte), 2.0)
    assert bool(machine.hazards()) == races


def test_neighbouring_elements_of_one_block_do_not_race():
    machine = Machine()
    machine.issue("duplicate", "float32", ub(256), 1.0, 64)
    machine.barrier("V")
    for row in range(8):
        machine.issue("whole_reduce_sum", "float32", ub(4 * row), ub(256), 8, 1, 1, 1, 8)
    machine.clean()


def test_a_flag_orders_everything_before_it_and_through_other_pipes():
    """MTE2 -> V -> MTE3: the store also knows what the load wrote."""
    machine = Machine()
    data = np.zeros(64, "float32")
    machine.tensor("data", data)
    machine.load(ub(0), Gm("data"), 64, "float32")
    machine.sync("MTE2_V")
    machine.sync("V_MTE3")
    machine.store(Gm("data"), ub(0), 64, "float32")
    machine.clean()


def test_what_the_scalar_unit_waited_for_is_known_to_later_instructions():
    machine = Machine()
    machine.tensor("data", np.zeros(64, "float32"))
    machine.load(ub(0), Gm("data"), 64, "float32")
    machine.sync("MTE2_S")
    machine.issue("adds", "float32", ub(0), ub(0), 1.0, 64)
    machine.clean()


def test_scalar_accesses_need_flags():
    machine = Machine()
    machine.issue("duplicate", "float32", ub(0), 1.0, 64)
    machine.issue("get_value", "float32", ub(0))
    (hazard,) = machine.hazards()
    assert hazard["fix"] == "SetFlag/WaitFlag<HardEvent::V_S>"


def test_barrier_all_joins_every_pipe():
    machine, _ = vector_kernel(load_flag=False)
    keys = [machine.sites[call[0]]["op"] for call in machine.blocks[0]]
    at = keys.index("adds")
    machine.barrier()
    machine.blocks[0].insert(at, machine.blocks[0].pop())
    machine.clean()


def two_cores(first_bytes, second_bytes, *, read=False):
    machine = Machine(grid=2)
    array = np.zeros(64, "float32")
    machine.tensor("array", array)
    for start, stop in (first_bytes, second_bytes):
        count = (stop - start) // 4
        if read and machine.blocks[-1] == [] and len(machine.blocks) == 2:
            machine.load(ub(0), Gm("array", start // 4), count, "float32")
        else:
            machine.issue("duplicate", "float32", ub(0), 1.0, count)
            machine.sync("V_MTE3")
            machine.store(Gm("array", start // 4), ub(0), count, "float32")
        if len(machine.blocks) == 1:
            machine.block()
    return machine


def test_cores_may_write_neighbouring_elements():
    two_cores((0, 20), (20, 52)).clean()


@pytest.mark.parametrize("read", [False, True])
def test_cores_may_not_touch_each_others_elements(read):
    (hazard,) = two_cores((0, 20), (16, 52), read=read).hazards()
    assert hazard["kind"] == "race"
    assert hazard["space"] == "gm"
    assert hazard["bytes"] == [16, 20]
    assert hazard["core"] == 1
    assert "of core 0" in hazard["message"]
    assert "`array`" in hazard["message"]


def test_cores_may_read_the_same_elements():
    machine = Machine(grid=3)
    machine.tensor("array", np.zeros(64, "float32"))
    machine.load(ub(0), Gm("array"), 64, "float32")
    machine.clean()


def test_a_write_after_two_other_cores_read_is_found():
    machine = Machine(grid=3)
    machine.tensor("array", np.zeros(64, "float32"))
    machine.load(ub(0), Gm("array"), 64, "float32")
    machine.block()
    machine.load(ub(0), Gm("array"), 64, "float32")
    machine.block()
    machine.issue("set_value", "float32", Gm("array", 3), 1.0)
    assert [h["bytes"] for h in machine.hazards()] == [[12, 16], [12, 16]]


def test_arguments_that_overlap_are_one_memory():
    machine = Machine()
    array = np.zeros(128, "float32")
    machine.tensor("whole", array)
    machine.tensor("half", array[64:])
    machine.issue("set_value", "float32", Gm("whole", 70), 1.0)
    machine.issue("data_cache_clean", "float32", Gm("whole", 70), "SINGLE_CACHE_LINE")
    machine.load(ub(0), Gm("half"), 64, "float32")
    (hazard,) = machine.hazards()
    assert hazard["bytes"] == [24, 28]
    assert "`half`" in hazard["message"]


def test_stores_that_overlap_in_gm_need_a_barrier():
    for barrier in (False, True):
        machine = Machine()
        machine.tensor("out", np.zeros(64, "float32"))
        machine.issue("duplicate", "float32", ub(0), 1.0, 64)
        machine.sync("V_MTE3")
        machine.store(Gm("out"), ub(0), 64, "float32")
        if barrier:
            machine.barrier("MTE3")
        machine.store(Gm("out", 32), ub(0), 32, "float32")
        fixes = [h["fix"] for h in machine.hazards()]
        assert fixes == ([] if barrier else ["PipeBarrier<PIPE_MTE3>"])


def mmads(m, n, *, second=None, barrier=False, least=10):
    """Two Mmads into L0C on operands that hold zeros."""
    machine = Machine("AIC", constants={"MMAD_BARRIER_FRACTALS": least})
    machine.issue("fill_l1", "float32", At("l1", 0), 1, 2048, 0, 0.0)
    machine.sync("MTE2_MTE1")
    for space in ("l0a", "l0b"):
        machine.issue("load_data_2d", "float16", At(space, 0), At("l1", 0), 0, 128, 1, 0, 0)
    machine.sync("MTE1_M")
    operands = (At("l0a", 0), At("l0b", 0))
    machine.issue("mmad", F16, At("l0c", 0), *operands, m, n, 16, 1)
    if barrier:
        machine.barrier("M")
    machine.issue("mmad", F16, At("l0c", 0), *operands, *(second or (m, n)), 16, 0)
    return machine


def test_large_mmads_accumulate_back_to_back():
    mmads(64, 48).clean()


@pytest.mark.parametrize("shape", [(48, 48), (16, 16)])
def test_small_mmads_need_a_barrier(shape):
    (hazard, *_) = mmads(*shape).hazards()
    assert hazard["fix"] == "PipeBarrier<PIPE_M>"
    assert hazard["space"] == "l0c"
    mmads(*shape, barrier=True).clean()


def test_which_mmads_need_a_barrier_comes_with_the_chip():
    mmads(64, 48, least=12).clean()
    assert mmads(64, 48, least=13).hazards()


def test_mmads_into_different_tiles_of_the_same_bytes_need_a_barrier():
    assert mmads(64, 48, second=(64, 32)).hazards()
    mmads(64, 48, second=(64, 32), barrier=True).clean()


def test_mmad_needs_flags_to_its_loads():
    machine = mmads(64, 64)
    machine.blocks[0] = [
        call for call in machine.blocks[0] if {"c": "MTE1_M"} not in machine.sites[call[0]]["args"]
    ]
    fixes = {h["fix"] for h in machine.hazards()}
    assert fixes == {"SetFlag/WaitFlag<HardEvent::MTE1_M>"}

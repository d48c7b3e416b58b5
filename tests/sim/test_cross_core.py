# SPDX-License-Identifier: Apache-2.0
"""Flags and barriers between cores: order, time, counters, deadlocks."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sim.machine import At, Gm, Machine, ub

LATENCY = 100  # CROSS_CORE_LATENCY of the machine


def mixed(grid=1):
    return Machine(core_type="MIX", grid=grid)


def vectors(grid, kernel_type="MIX_AIV_1_0"):
    return Machine(grid=grid, program={"kernel_type": kernel_type, "cores": {"AIC": 24, "AIV": 48}})


def kinds(machine, **options):
    return [h["kind"] for h in machine.hazards(**options)]


def through_l1(machine, target, source, count, element=0):
    """A Cube core copies a row of GM."""
    machine.issue("data_copy_in_count", "float32", At("l1", 0), Gm(source, element), count)
    machine.sync("MTE2_MTE3")
    machine.issue("data_copy_l1_out_count", "float32", Gm(target, element), At("l1", 0), count)


def add_one(machine, target, source, count, element=0):
    """A Vector core adds 1 to a row of GM."""
    machine.load(ub(0), Gm(source, element), count, "float32")
    machine.sync("MTE2_V")
    machine.issue("adds", "float32", ub(512), ub(0), 1.0, count)
    machine.sync("V_MTE3")
    machine.store(Gm(target, element), ub(512), count, "float32")


def exchange(grid=1, without=()):
    """Cube cores copy `d` to `w`, the Vector cores add 1 to their halves of it, into `o`."""
    machine = mixed(grid)
    arrays = np.arange(128 * grid, dtype="float32"), *np.zeros((2, 128 * grid), "float32")
    for name, array in zip("dwo", arrays, strict=True):
        machine.tensor(name, array)
    for block in range(grid):
        if block:
            machine.block()
        through_l1(machine, "w", "d", 128, 128 * block)
        if "set" not in without:
            machine.cross_set(2, "MTE3", 3)
        for half in range(2):
            machine.block()
            if f"wait {half}" not in without:
                machine.cross_wait(3)
            add_one(machine, "o", "w", 64, 128 * block + 64 * half)
    return machine, arrays


def test_a_flag_orders_cube_and_vector_cores():
    machine, (data, _, out) = exchange(grid=3)
    report = machine.clean()
    assert np.array_equal(out, data + 1)
    names = ["AIC 0", "AIV 0", "AIV 1", "AIC 1", "AIV 2", "AIV 3"]
    assert [c["name"] for c in report["cores"][:6]] == names
    cube, *vector = (c["cycles"] for c in report["cores"][:3])
    assert all(v > cube + LATENCY for v in vector)


def test_numerics_do_not_change_the_time():
    machine, (_, _, out) = exchange(grid=2)
    timed = machine.clean(numerics=False)
    assert not out.any()
    assert timed["cores"] == machine.clean()["cores"] == machine.clean(dma="late")["cores"]
    assert out.all()


@pytest.mark.parametrize("dma", ["eager", "late"])
def test_without_flags_the_read_is_a_race_that_names_the_flag(dma):
    machine, _ = exchange(without=("set", "wait 0", "wait 1"))
    first, *_ = machine.hazards(dma=dma)
    assert first["kind"] == "race"
    assert (first["first"]["pipe"], first["second"]["pipe"]) == ("MTE3", "MTE2")
    assert "on pipe MTE3 of AIC 0 writes" in first["message"]
    assert first["fix"] == "CrossCoreSetFlag<2, PIPE_MTE3> and CrossCoreWaitFlag"


def test_a_missing_wait_is_a_race_on_that_core_alone():
    machine, _ = exchange(without=("wait 1",))
    found = machine.hazards()
    assert [h["kind"] for h in found] == ["race", "unconsumed_flag"]
    assert found[0]["core"] == 2
    assert "ends before AIV 1 waits for it" in found[1]["message"]


def test_a_flag_of_the_wrong_pipe_orders_nothing():
    machine, _ = exchange()
    (site,) = (s for s in machine.sites if s["op"] == "cross_core_set_flag")
    site["args"][1]["c"] = "MTE2"
    assert "race" in kinds(machine)


def test_a_deadlock_says_who_waits_where_since_when_and_for_whom():
    machine, _ = exchange(without=("set",))
    first, *_ = machine.hazards()
    assert first["kind"] == "deadlock"
    text = first["message"]
    assert text.startswith("AIV 0 waits forever at `CrossCoreWaitFlag #4` (kernel.py:5)")
    assert "for cross-core flag 3, since cycle 0" in text
    assert "no statement sets it" in text


def test_a_deadlock_of_two_names_both_waits():
    machine = mixed()
    machine.cross_wait(1)
    machine.cross_set(2, "FIX", 2)
    for _ in range(2):
        machine.block()
        machine.cross_wait(2)
        machine.cross_set(2, "MTE3", 1)
    cube, *vector = machine.hazards()
    assert cube["kind"] == "deadlock"
    assert (cube["first"]["where"], cube["second"]["where"]) == ("kernel.py:1", "kernel.py:3")
    assert "CrossCoreSetFlag<2, ...>(1) on AIV 0 would raise it" in cube["message"]
    assert "AIV 0 itself waits at" in cube["message"]
    assert len(vector) == 2
    assert set(kinds(machine, strict=True)) == {"deadlock"}


def test_one_vector_core_alone_raises_nothing():
    machine = mixed()
    machine.cross_wait(1)
    machine.block()
    machine.cross_set(2, "MTE3", 1)
    machine.block()
    machine.barrier()
    first, *_ = machine.hazards()
    assert first["kind"] == "deadlock"
    assert "CrossCoreSetFlag<2, ...>(1) on AIV 1 would raise it" in first["message"]
    assert "AIV 1 has ended after `PipeBarrier" in first["message"]


def test_a_flag_left_up_is_reported():
    machine = mixed()
    machine.cross_set(2, "FIX", 1)
    machine.block()
    machine.cross_wait(1)
    machine.block()
    (hazard,) = machine.hazards()
    assert hazard["kind"] == "unconsumed_flag"
    assert "ends before AIV 1 waits for it" in hazard["message"]


@pytest.mark.parametrize(("sets", "found"), [(15, []), (16, ["flag_overflow"])])
def test_a_counter_holds_fifteen_sets(sets, found):
    machine = mixed()
    for _ in range(sets):
        machine.cross_set(2, "FIX", 1)
    for _ in range(2):
        machine.block()
        for _ in range(sets):
            machine.cross_wait(1)
    assert kinds(machine) == found


def test_a_flag_back_keeps_the_counter_low():
    machine = mixed()
    for _ in range(40):
        machine.cross_set(2, "FIX", 1)
        machine.cross_wait(2)
    for _ in range(2):
        machine.block()
        for _ in range(40):
            machine.cross_wait(1)
            machine.cross_set(2, "MTE2", 2)
    machine.clean()


def rotate(machine, grid, mode=None):
    """Every Vector core writes its row of `w` and then reads the next one's."""
    work, out = np.zeros(64 * grid, "float32"), np.zeros(64 * grid, "float32")
    machine.tensor("d", np.arange(64 * grid, dtype="float32"))
    machine.tensor("w", work), machine.tensor("o", out)
    for block in range(grid):
        if block:
            machine.block()
        add_one(machine, "w", "d", 64, 64 * block)
        if mode is not None:
            mode(machine)
        machine.sync("MTE3_MTE2")
        machine.sync("V_MTE2")
        machine.sync("MTE3_V")
        machine.load(ub(0), Gm("w", 64 * ((block + 1) % grid)), 64, "float32")
        machine.sync("MTE2_V")
        machine.issue("adds", "float32", ub(512), ub(0), 1.0, 64)
        machine.sync("V_MTE3")
        machine.store(Gm("o", 64 * block), ub(512), 64, "float32")
    return out


def flag_of_all(machine):
    machine.cross_set(0, "MTE3", 5)
    machine.cross_wait(5)


BARRIERS = {"mode 0": flag_of_all, "SyncAll": lambda machine: machine.issue("sync_all", None)}


@pytest.mark.parametrize("barrier", BARRIERS.values(), ids=BARRIERS)
@pytest.mark.parametrize("grid", [1, 3, 48])
def test_a_barrier_joins_all_vector_cores(barrier, grid):
    machine = vectors(grid)
    out = rotate(machine, grid, barrier)
    report = machine.clean()
    rows = np.arange(64 * grid, dtype="float32").reshape(grid, 64)
    assert np.array_equal(out.reshape(grid, 64), np.roll(rows, -1, 0) + 2)
    assert len({core["cycles"] for core in report["cores"]}) == 1


def test_without_the_barrier_neighbours_race():
    machine = vectors(3)
    rotate(machine, 3)
    first, *_ = machine.hazards()
    assert first["kind"] == "race"
    assert first["fix"].startswith("CrossCoreSetFlag<0, PIPE_MTE")


def test_mode_1_joins_the_vector_cores_of_one_block():
    def pairs(cut):
        machine = mixed(2)
        machine.tensor("d", np.arange(256, dtype="float32"))
        machine.tensor("w", np.zeros(256, "float32")), machine.tensor("o", np.zeros(256, "float32"))
        for block in range(2):
            if block:
                machine.block()
            for half in range(2):
                machine.block()
                row = 64 * (2 * block + half)
                add_one(machine, "w", "d", 64, row)
                machine.cross_set(1, "MTE3", 4)
                machine.cross_wait(4)
                for event in ("V_MTE2", "MTE3_MTE2", "MTE3_V"):
                    machine.sync(event)
                other = row ^ 64 if cut else 64 * 3 - row
                add_one(machine, "o", "w", 64, other)
        return machine

    pairs(cut=True).clean()
    first, *_ = pairs(cut=False).hazards()
    assert first["kind"] == "race"


def test_sync_all_of_both_kinds():
    machine, (data, work, out) = exchange(without=("set", "wait 0", "wait 1"))
    for core, calls in enumerate(machine.blocks):
        site = machine.issue("sync_all_mix", None)
        calls.insert(3 + 1 if core == 0 else 0, machine.blocks[-1].pop())
        assert site == calls[4 if core == 0 else 0][0]
    machine.clean()
    assert np.array_equal(out, data + 1)
    assert np.array_equal(work, data)


def test_a_core_that_never_comes_to_the_barrier():
    machine = vectors(3)
    machine.issue("sync_all", None)
    machine.block()
    machine.barrier()
    machine.blocks.append(machine.blocks[0])
    first, *_ = machine.hazards()
    assert first["kind"] == "deadlock"
    assert "core 0 (and 1 more) waits forever" in first["message"]
    assert "SyncAll on core 1 would raise it, and core 1 has ended after" in first["message"]


def test_a_core_of_the_other_kind_that_never_comes_to_sync_all():
    machine = mixed(2)
    for core in range(6):
        if core:
            machine.block()
        machine.barrier()
        if core != 3:
            machine.issue("sync_all_mix", None)
    first, *_ = machine.hazards()
    assert first["kind"] == "deadlock"
    assert "AIC 0 waits forever" in first["message"]
    assert "SyncAll on AIC 1 would raise it, and AIC 1 has ended after" in first["message"]


def test_a_whole_chip_that_waits_in_a_ring_names_each_core():
    """Every AI Core waits for its Vector cores, which wait for it."""
    machine = mixed(24)
    for core in range(72):
        if core:
            machine.block()
        machine.cross_wait(1 if core % 3 == 0 else 2)
        machine.cross_set(2, "MTE2", 2 if core % 3 == 0 else 1)
    found = [h for h in machine.hazards(max_hazards=1000) if h["kind"] == "deadlock"]
    assert len(found) == 72
    for h in found:
        assert re.search(
            r"^(AIC|AIV) \d+ waits forever at .* since cycle 0: .* itself waits at .*, "
            r"since cycle 0$",
            h["message"],
        )


def test_a_core_that_waits_behind_a_full_queue():
    """The pipe of the set still has a queue of work; the set that comes after it is not lost."""

    def loaded(sets):
        machine = mixed()
        machine.tensor("d", np.zeros(64, "float32"))
        for _ in range(100):
            machine.issue("data_copy_in_count", "float32", At("l1", 0), Gm("d"), 64)
            machine.barrier("MTE2")
        if sets:
            machine.cross_set(2, "MTE2", 1)
        for _ in range(2):
            machine.block()
            machine.cross_wait(1)
        return machine

    loaded(sets=True).clean()
    assert kinds(loaded(sets=False)) == ["deadlock", "deadlock"]


@pytest.mark.parametrize(
    ("machine", "issue", "text"),
    [
        (vectors(1, "AIV_ONLY"), lambda m: m.cross_set(0, "MTE3", 0), "scheduler .* is off for"),
        (vectors(1, "AIV_ONLY"), lambda m: m.cross_wait(0), "needs a kernel of type MIX"),
        (vectors(1, "AIV_ONLY"), lambda m: m.issue("sync_all", None), "needs a kernel of type MIX"),
        (vectors(49), lambda m: m.issue("sync_all", None), "only 48 run at once"),
        (vectors(49), lambda m: m.cross_set(0, "MTE3", 0), "launch at most 48"),
        (vectors(1), lambda m: m.cross_set(2, "MTE3", 0), "one kind of core only; use mode 0"),
        (vectors(1), lambda m: m.cross_set(0, "MTE3", 11), "11 is reserved; ids 0 to 10 are free"),
        (vectors(1), lambda m: m.cross_wait(15), "flag 15 is reserved"),
        (vectors(1), lambda m: m.cross_set(0, "FIX", 1), "names pipe FIX, which AIV does not have"),
        (mixed(), lambda m: m.cross_set(1, "FIX", 1), "from its Cube core; use mode 2"),
        (mixed(), lambda m: m.cross_set(2, "ALL", 1), "names PIPE_ALL; a flag leaves one pipe"),
    ],
)
def test_misuse_is_refused(machine, issue, text):
    issue(machine)
    first, *_ = machine.hazards()
    assert first["kind"] == "cross_core"
    assert re.search(text, first["message"])


def test_a_block_alone_needs_no_other():
    machine, (data, _, out) = exchange(grid=3)
    report = machine.clean(block=1)
    assert [core["name"] for core in report["cores"]] == ["AIC 1", "AIV 2", "AIV 3"]
    assert np.array_equal(out[128:256], data[128:256] + 1)
    assert not out[:128].any()


def test_order_passes_on_through_a_third_core():
    """AIV 0 stores, AIC 0 hears of it and tells both Vector cores: AIV 1 may read."""

    def relayed(tell):
        machine = mixed()
        machine.tensor("d", np.ones(64, "float32")), machine.tensor("w", np.ones(64, "float32"))
        machine.tensor("o", np.ones(64, "float32"))
        machine.cross_wait(1)
        if tell:
            machine.cross_set(2, "S", 2)
        machine.block()
        add_one(machine, "w", "d", 64)
        machine.cross_set(2, "MTE3", 1)
        if tell:
            machine.cross_wait(2)
        machine.block()
        machine.cross_set(2, "MTE3", 1)
        if tell:
            machine.cross_wait(2)
        add_one(machine, "o", "w", 64)
        return machine

    relayed(tell=True).clean()
    assert "race" in kinds(relayed(tell=False))

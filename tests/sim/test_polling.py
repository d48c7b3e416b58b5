# SPDX-License-Identifier: Apache-2.0
"""SyncAll, IBSet and IBWait by words of GM: order, words, time, deadlocks and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import Gm, Machine, ub

WORK = 4096  # bytes of UB where the workspace is


def vectors(grid, words=64, **program):
    machine = Machine(grid=grid, program={"cores": {"AIC": 24, "AIV": 48}, **program})
    machine.work = np.zeros(words * 8, "int32")
    machine.tensor("sync", machine.work)
    return machine


def barrier(machine, used=0):
    return machine.issue("sync_all_soft", None, Gm("sync"), ub(WORK), used)


def ib(machine, verb, block=0, event=0):
    return machine.issue(f"ib_{verb}", None, Gm("sync"), ub(WORK), block, event)


def step(machine, target, source, element, by=1.0):
    """Adds to 64 elements."""
    machine.load(ub(0), Gm(source, element), 64, "float32")
    machine.sync("MTE2_V")
    machine.issue("adds", "float32", ub(512), ub(0), by, 64)
    machine.sync("V_MTE3")
    machine.store(Gm(target, 64 * (element // 64)), ub(512), 64, "float32")


def neighbours(cores, rounds, synced=True, used=0):
    """Every core passes what it got to the next one, round after round."""
    machine = vectors(cores)
    arrays = np.zeros((rounds + 1, cores * 64), "float32")
    arrays[0] = np.repeat(np.arange(cores), 64)
    for i, array in enumerate(arrays):
        machine.tensor(f"t{i}", array)
    for core in range(cores):
        if core:
            machine.block()
        for i in range(rounds):
            machine.load(ub(0), Gm(f"t{i}", (core + 1) % cores * 64), 64, "float32")
            machine.sync("MTE2_V")
            machine.issue("adds", "float32", ub(512), ub(0), 1.0, 64)
            machine.sync("V_MTE3")
            machine.store(Gm(f"t{i + 1}", core * 64), ub(512), 64, "float32")
            if synced:
                barrier(machine, used)
    return machine, arrays


@pytest.mark.parametrize("late_dma", [False, True])
@pytest.mark.parametrize(("cores", "rounds", "used"), [(2, 1, 0), (5, 3, 0), (3, 2, 3)])
def test_a_barrier_orders_all_cores_and_counts(cores, rounds, used, late_dma):
    machine, arrays = neighbours(cores, rounds, used=used)
    machine.clean(late_dma=late_dma)
    for i in range(1, rounds + 1):
        want = np.repeat((np.arange(cores) + i) % cores + i, 64)
        assert np.array_equal(arrays[i], want)
    counts = machine.work.reshape(-1, 8)
    assert (counts[:cores, 0] == rounds).all()
    assert not counts[cores:].any()


def test_without_the_barrier_it_is_a_race():
    machine, _ = neighbours(3, 2, synced=False)
    assert "race" in {h["kind"] for h in machine.hazards()}


def test_numerics_do_not_change_the_time():
    machine, arrays = neighbours(4, 2)
    timed = machine.clean(numerics=False)
    assert not machine.work.any()
    assert timed["cycles"] == machine.clean()["cycles"]
    assert arrays[2].any()


def test_everyone_leaves_after_the_last_came():
    machine = vectors(3)
    for core in range(3):
        if core:
            machine.block()
        for _ in range(core * 200):
            machine.issue("duplicate", "float32", ub(0), 1.0, 640)
        barrier(machine)
    alone = Machine()
    for _ in range(400):
        alone.issue("duplicate", "float32", ub(0), 1.0, 640)
    last = alone.clean(hazards=False)["cycles"]
    cycles = [core["cycles"] for core in machine.clean(hazards=False)["cores"]]
    assert min(cycles) > last
    assert max(cycles) - min(cycles) < 100


def producer_and_consumer(turns, without=()):
    """One core writes a slot again and again, another one reads it each time."""
    machine = vectors(2)
    slot, out = np.zeros(64, "float32"), np.zeros((turns, 64), "float32")
    machine.tensor("slot", slot)
    machine.tensor("out", out)
    for i in range(turns):
        if i and "back" not in without:
            ib(machine, "wait", 1, 1)
        machine.issue("duplicate", "float32", ub(0), float(i + 1), 64)
        machine.sync("V_MTE3")
        machine.store(Gm("slot"), ub(0), 64, "float32")
        machine.sync("MTE3_V")
        if "set" not in without:
            ib(machine, "set", 0, 0)
    machine.block()
    for i in range(turns):
        if "wait" not in without:
            ib(machine, "wait", 0, 0)
        machine.load(ub(0), Gm("slot"), 64, "float32")
        machine.sync("MTE2_MTE3")
        machine.store(Gm("out", i * 64), ub(0), 64, "float32")
        machine.sync("MTE3_MTE2")
        if i + 1 < turns and "back" not in without:
            ib(machine, "set", 1, 1)
    return machine, out


@pytest.mark.parametrize("late_dma", [False, True])
def test_words_pass_a_slot_back_and_forth(late_dma):
    machine, out = producer_and_consumer(4)
    machine.clean(late_dma=late_dma)
    assert np.array_equal(out, np.repeat(np.arange(1, 5), 64).reshape(4, 64))
    assert not machine.work.any()


def test_a_missing_word_back_is_a_race():
    machine, _ = producer_and_consumer(3, without=("back",))
    assert "race" in {h["kind"] for h in machine.hazards()}


def message_of(machine, kind, **options):
    (hazard, *_) = machine.hazards(**options)
    assert hazard["kind"] == kind, hazard["message"]
    return hazard["message"]


def test_a_wait_for_a_word_that_nobody_raises():
    machine, _ = producer_and_consumer(1, without=("set",))
    text = message_of(machine, "deadlock")
    assert "for a word of GM that IBSet raises" in text
    assert "insert IBSet of the same block and event" in text


def test_a_word_that_nobody_waits_for():
    machine, _ = producer_and_consumer(1, without=("wait",))
    kinds = {h["kind"]: h for h in machine.hazards()}
    assert kinds["unconsumed_flag"]["fix"] == "IBWait"


def test_raising_a_word_twice_waits_for_the_first_to_be_seen():
    machine = vectors(2)
    ib(machine, "set")
    ib(machine, "set")
    assert "insert IBWait of the same block and event" in message_of(machine, "deadlock")


def test_a_core_that_does_not_come():
    machine = vectors(2)
    barrier(machine)
    machine.block()
    machine.issue("duplicate", "float32", ub(0), 1.0, 64)
    text = message_of(machine, "deadlock")
    assert "for SyncAll through GM" in text
    assert "SyncAll on core 1 would raise it" in text


def test_a_workspace_that_is_not_zero():
    machine = vectors(1)
    machine.work[0] = 7
    barrier(machine)
    assert "in gm_workspace is 7, not 0" in message_of(machine, "cross_core")


def test_a_workspace_that_is_too_small():
    machine = vectors(2, words=1)
    barrier(machine)
    machine.block()
    barrier(machine)
    assert "out_of_bounds" in {h["kind"] for h in machine.hazards()}


def test_the_workspace_in_ub_is_lost():
    machine = vectors(1)
    machine.issue("duplicate", "int32", ub(WORK), 1, 8)
    barrier(machine)
    machine.issue("relu", "int32", ub(0), ub(WORK), 8)
    assert "left it as padding" in message_of(machine, "poison")


@pytest.mark.parametrize(
    ("grid", "issue", "words"),
    [
        (2, lambda m: barrier(m, 3), "waits for 3 cores of 2"),
        (60, barrier, "waits for all 60 blocks, of which only 48 run at once"),
        (2, lambda m: ib(m, "set", 2), "names block 2 of 2: its word is that of another event"),
    ],
)
def test_what_cannot_work_is_refused(grid, issue, words):
    machine = vectors(grid)
    issue(machine)
    assert words in message_of(machine, "cross_core", all_cores=False, cores=[0])


def test_a_core_that_takes_no_part():
    machine = vectors(2)
    barrier(machine, 1)
    machine.block()
    barrier(machine, 1)
    assert "is called by core 1, and only cores below 1 take part" in message_of(
        machine, "cross_core"
    )


def test_a_mixed_kernel_is_refused():
    machine = vectors(1, kernel_type="MIX_AIC_1_2")
    machine.core_type = "MIX"
    for _ in range(2):
        machine.block()
        barrier(machine)
    assert "call SyncAll() without workspaces" in message_of(machine, "cross_core")

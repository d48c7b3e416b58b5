# SPDX-License-Identifier: Apache-2.0
"""No false alarm and no miss on Cube cores and between cores: random programs against an oracle."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sim.core_ordering import (
    DATA_PIPES,
    FIRST,
    USELESS_IDS,
    All,
    CrossSet,
    CrossWait,
    Run,
    correct,
    flagged,
    in_order,
    numbers,
    reported_pairs,
    synchronised,
    unordered_pairs,
    without,
)
from sim.core_streams import (
    LAUNCHES,
    Launch,
    Program,
    draw_program,
    executed,
    machine_of,
    same_values,
)
from sim.cube_ops import SIZES
from sim.ordering import Barrier, Set, Wait
from sim.stream_op import BLOCK, UB_BYTES, Op, Pick

from sim import core_ordering

ALL = {"max_hazards": 100000}
SEEDS = st.integers(0, 2**32 - 1)
launches = pytest.mark.parametrize("name", LAUNCHES)


def drawn(name: str, seed: int, most: int = 12) -> tuple[Launch, Program, Pick]:
    """The instructions of a seed, and what further choices are drawn with."""
    pick = Random(seed).randint
    launch = LAUNCHES[name]
    return launch, draw_program(launch, pick, pick(2, most)), pick


def pairs_of(report: dict, kind: str) -> set[tuple[int, int]]:
    return {
        (h["first"]["site"], h["second"]["site"]) for h in report["hazards"] if h["kind"] == kind
    }


def agrees(report: dict, expected: dict[tuple[int, int], np.ndarray]) -> bool:
    """Whether the races are the expected ones, each with bytes that both statements touch."""
    touched = all(
        np.isin(
            FIRST[h["space"]] + np.arange(*h["bytes"]),
            expected.get(in_order(h["first"]["site"], h["second"]["site"]), []),
        ).all()
        for h in report["hazards"]
        if h["kind"] == "race"
    )
    return touched and {in_order(*pair) for pair in pairs_of(report, "race")} == set(expected)


def check_exact(launch: Launch, program: Program, **options: Any) -> None:
    """The report names the pairs that nothing orders, all of them, and nothing else."""
    machine, sites = machine_of(launch, program)
    run = Run(launch, program)
    report = machine.run(turns="number", **ALL | options)
    assert agrees(report, reported_pairs(run, sites))
    assert pairs_of(report, "set_twice") == {(sites[a], sites[b]) for a, b in run.reused}
    assert {h["kind"] for h in report["hazards"]} <= {"race", "set_twice"}
    # In the turns of a launch, other pairs of the same races may be found.
    in_time = machine.run(**ALL | options)["hazards"]
    assert bool(in_time) == bool(report["hazards"])


def check_values(launch: Launch, program: Program) -> None:
    for dma in ("eager", "late"):
        machine, _ = machine_of(launch, program)
        machine.clean(dma=dma)
        assert same_values(machine, executed(launch, program))


def check_deletions(launch: Launch, program: Program) -> None:
    for number in numbers(program):
        shorter = without(program, number)
        assert not correct(Run(launch, shorter))
        check_exact(launch, shorter, numerics=False)


def cut(program: Program, pick: Pick, first: int = 0) -> int:
    """A position that is not within a barrier of all cores: there, flags may never come."""
    within = {
        i
        for i in range(1, len(program))
        if isinstance(program[i][1], All) and program[i][1] == program[i - 1][1]
    }
    free = [i for i in range(first, len(program) + 1) if i not in within]
    return free[pick(0, len(free) - 1)]


def check_useless(launch: Launch, program: Program, pick: Pick) -> None:
    """Barriers, flags and barriers of all cores, anywhere."""
    more = list(program)
    for number in range(1000, 1003):
        core = pick(0, len(launch.kinds) - 1)
        pipes = (*DATA_PIPES[launch.kinds[core]], "ALL")
        barrier = Barrier(pipes[pick(0, len(pipes) - 1)], number)
        more.insert(cut(more, pick), (core, barrier))
    if launch.mixed:
        at = cut(more, pick)
        more[at:at] = [(core, All(True, 2000)) for core in range(len(launch.kinds))]
        for how, sender in (("down", 0), ("up", 1), ("pair", 2)):
            at = cut(more, pick)
            end = cut(more, pick, at)
            pipes = DATA_PIPES[launch.kinds[sender]]
            way = pipes[pick(0, len(pipes) - 1)], how, USELESS_IDS[how]
            more = [*flagged(launch, more[:end], sender, *way, at, 2001, pick), *more[end:]]
    machine, _ = machine_of(launch, more)
    machine.clean(numerics=False)


def check_single_statements(launch: Launch, program: Program) -> None:
    """Half a sync is always reported, and a wait that never ends never hangs."""
    protocol = {
        Set: {"wait_without_set"},
        Wait: {"unconsumed_flag", "set_twice"},
        CrossSet: {"deadlock"},
        CrossWait: {"unconsumed_flag"},
        All: {"deadlock", "unconsumed_flag"},
    }
    for i, (_, item) in enumerate(program):
        if type(item) in protocol:
            machine, _ = machine_of(launch, program[:i] + program[i + 1 :])
            report = machine.run(numerics=False, **ALL)
            assert {h["kind"] for h in report["hazards"]} & protocol[type(item)]


def check_late(launch: Launch, program: Program) -> None:
    """Without a sync, transfers that land late change the data only where a race is reported."""
    for number in numbers(program):
        machine, _ = machine_of(launch, without(program, number))
        reported = machine.run(dma="late", **ALL)["hazards"]
        assert reported or same_values(machine, executed(launch, program))


def check_all(launch: Launch, ops: Program, pick: Pick) -> None:
    program = synchronised(launch, ops, pick)
    assert correct(Run(launch, program))
    check_values(launch, program)
    check_exact(launch, ops)
    check_deletions(launch, program)
    check_useless(launch, program, pick)
    check_single_statements(launch, program)
    check_late(launch, program)


@launches
@given(SEEDS)
def test_programs_of_several_cores(name, seed):
    check_all(*drawn(name, seed))


@pytest.mark.slow
@launches
@settings(max_examples=150)
@given(SEEDS)
def test_many_long_programs_of_several_cores(name, seed):
    check_all(*drawn(name, seed, most=24))


def an_op(pipe: str, reads: tuple[int, int] | None, writes: tuple[int, int] | None, **more: Any):
    """An instruction by the bytes of GM that it touches."""
    touched = ({"gm": np.arange(*r)} if r else {} for r in (reads, writes))
    return Op(pipe, "", "", (("gm", 0),), (), *touched, lambda _: None, **more)


def test_the_oracle_knows_a_launch_written_by_hand():
    """The Cube core stores, both Vector cores load, one stores again."""
    launch = LAUNCHES["an AI Core"]
    store, load = an_op("FIX", None, (0, 64)), an_op("MTE2", (32, 96), None)
    again = an_op("MTE3", None, (60, 80))
    ops = [(0, store), (1, load), (2, load), (2, again)]
    pairs = unordered_pairs(Run(launch, ops))
    assert {pair: (at[0], at[-1]) for pair, at in pairs.items()} == {
        (0, 1): (32, 63),
        (0, 2): (32, 63),
        (0, 3): (60, 63),
        (1, 3): (60, 79),
        (2, 3): (60, 79),
    }
    told = flagged(launch, ops[:1], 0, "FIX", "down", 0, 1, 0, Random(0).randint) + ops[1:]
    assert set(unordered_pairs(Run(launch, told))) == {(4, 6), (5, 6)}
    wrong = flagged(launch, ops[:1], 0, "MTE1", "down", 0, 1, 0, Random(0).randint) + ops[1:]
    assert len(unordered_pairs(Run(launch, wrong))) == len(pairs)
    assert Run(launch, [item for item in told if not isinstance(item[1], CrossSet)]).stuck


def test_the_oracle_lets_atomic_stores_meet_and_nothing_else():
    launch = LAUNCHES["Vector cores"]
    adds, store = an_op("MTE3", None, (0, 32), atomic=True), an_op("MTE3", None, (0, 32))
    assert unordered_pairs(Run(launch, [(c, adds) for c in range(3)])) == {}
    assert set(unordered_pairs(Run(launch, [(0, adds), (1, adds), (2, store)]))) == {(0, 2), (1, 2)}
    assert set(unordered_pairs(Run(launch, [(0, store), (1, adds), (2, adds)]))) == {(0, 1), (0, 2)}


def disagreements(name: str, seen: Any) -> int:
    """In how many of the drawn programs the report is not that of what ``seen`` makes of them."""
    count = 0
    for seed in range(12):
        launch, program, _ = drawn(name, seed, most=24)
        machine, sites = machine_of(launch, program)
        report = machine.run(numerics=False, turns="number", **ALL)
        count += not agrees(report, reported_pairs(Run(launch, seen(program)), sites))
    return count


def further(touched: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {
        space: (at + BLOCK) % (UB_BYTES if space == "ub" else SIZES[space])
        for space, at in touched.items()
    }


@launches
@pytest.mark.parametrize("access", ["reads", "writes"])
def test_an_access_that_is_off_by_one_block_is_noticed(name, access):
    """The comparison itself can fail: an oracle that sees accesses one block further disagrees."""

    def seen(program: Program) -> Program:
        return [(c, replace(op, **{access: further(getattr(op, access))})) for c, op in program]

    assert disagreements(name, lambda program: program) == 0
    assert disagreements(name, seen) > 0


def test_an_oracle_that_wants_barriers_between_all_mmads_disagrees(monkeypatch):
    monkeypatch.setattr(core_ordering, "BACK_TO_BACK", 1000)
    assert disagreements("one Cube core", lambda program: program) > 0


def test_an_oracle_that_orders_atomic_stores_disagrees():
    def seen(program: Program) -> Program:
        return [(core, replace(op, atomic=False)) for core, op in program]

    assert disagreements("Vector cores", seen) > 0

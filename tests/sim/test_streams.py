# SPDX-License-Identifier: Apache-2.0
"""No false alarm and no miss: random streams against an oracle of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sim.ordering import (
    FIRST,
    Barrier,
    Set,
    Wait,
    correct,
    free_ids,
    numbers,
    order_of,
    reported_pairs,
    reported_reuse,
    synchronised,
    unordered_pairs,
    without,
)
from sim.stream_op import BLOCK, UB_BYTES, Op, Pick
from sim.streams import draw_stream, executed, machine_of

ALL = {"max_hazards": 100000}


SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed: int, exact: bool = True, most: int = 12) -> tuple[list[Op], Pick]:
    """The stream of a seed, and what further choices are drawn with."""
    pick = Random(seed).randint
    return draw_stream(pick, pick(2, most), exact), pick


def agrees(report: dict, expected: Mapping[tuple[int, int], np.ndarray]) -> bool:
    """Whether the races are the expected ones, each with bytes that both statements touch."""
    races = [h for h in report["hazards"] if h["kind"] == "race"]
    touched = all(
        np.isin(
            FIRST[h["space"]] + np.arange(*h["bytes"]),
            expected.get((h["first"]["site"], h["second"]["site"]), []),
        ).all()
        for h in races
    )
    return touched and pairs_of(report, "race") == set(expected)


def pairs_of(report: dict, kind: str) -> set[tuple[int, int]]:
    return {
        (h["first"]["site"], h["second"]["site"]) for h in report["hazards"] if h["kind"] == kind
    }


def kinds(report: dict) -> set[str]:
    return {h["kind"] for h in report["hazards"]}


def check_values(items: list[Any], dma: str) -> None:
    machine, _, gm = machine_of(items)
    machine.clean(dma=dma)
    expected = executed([item for item in items if isinstance(item, Op)])
    assert np.array_equal(machine.arrays["dump"].view("uint8"), expected["ub"])
    assert np.array_equal(gm.view("uint8"), expected["gm"])


def check_exact(items: list[Any], **options: Any) -> None:
    """The report names the pairs that nothing orders, all of them, and nothing else."""
    machine, sites, _ = machine_of(items)
    report = machine.run(**ALL | options)
    assert agrees(report, reported_pairs(items, sites))
    assert pairs_of(report, "set_twice") == reported_reuse(items, sites)
    assert kinds(report) <= {"race", "set_twice"}


def check_deletions(items: list[Any], **options: Any) -> None:
    for number in numbers(items):
        shorter = without(items, number)
        assert not correct(shorter)
        check_exact(shorter, **options)


def check_useless(items: list[Any], pick: Pick) -> None:
    """Barriers anywhere and flags with ids of their own."""
    more = list(items)
    for number in range(1000, 1003):
        pipe = ("V", "MTE2", "MTE3", "ALL")[pick(0, 3)]
        more.insert(pick(0, len(more)), Barrier(pipe, number))
    for source, target in (("MTE2", "V"), ("V", "MTE3"), ("V", "S"), ("MTE3", "MTE2")):
        for event_id in free_ids(more, source, target)[:1]:
            at = pick(0, len(more))
            more.insert(at, Set(source, target, event_id, 2000))
            more.insert(pick(at + 1, len(more)), Wait(source, target, event_id, 2000))
    machine, _, _ = machine_of(more)
    machine.clean(numerics=False)


def check_single_statements(items: list[Any]) -> None:
    """Half a flag is always reported."""
    for i, item in enumerate(items):
        if isinstance(item, Set | Wait):
            machine, _, _ = machine_of(items[:i] + items[i + 1 :])
            report = machine.run(numerics=False, **ALL)
            protocol = (
                {"wait_without_set"} if isinstance(item, Set) else {"unconsumed_flag", "set_twice"}
            )
            assert kinds(report) & protocol


def check_late(items: list[Any]) -> None:
    """Without a sync, transfers that land late change the data only where a race is reported."""
    expected = executed([item for item in items if isinstance(item, Op)])
    for number in numbers(items):
        machine, _, gm = machine_of(without(items, number))
        reported = machine.run(dma="late", **ALL)["hazards"]
        same = np.array_equal(machine.arrays["dump"].view("uint8"), expected["ub"]) and (
            np.array_equal(gm.view("uint8"), expected["gm"])
        )
        assert same or reported


def check_all(ops: list[Op], pick: Pick) -> None:
    items = synchronised(ops, pick)
    assert correct(items)
    for dma in ("eager", "late"):
        check_values(items, dma)
    check_exact(ops)
    check_deletions(items, numerics=False)
    check_useless(items, pick)
    check_single_statements(items)
    check_late(items)


@given(SEEDS)
def test_streams_of_exact_values(seed):
    check_all(*drawn(seed))


@given(SEEDS)
def test_streams_over_every_lane_wise_row(seed):
    ops, pick = drawn(seed, exact=False)
    check_exact(ops, numerics=False)
    items = synchronised(ops, pick)
    machine, _, _ = machine_of(items)
    machine.clean(numerics=False)
    check_deletions(items, numerics=False)


@pytest.mark.slow
@settings(max_examples=400)
@given(SEEDS)
def test_many_long_streams_of_exact_values(seed):
    check_all(*drawn(seed, most=24))


@pytest.mark.slow
@settings(max_examples=800)
@given(SEEDS)
def test_many_long_streams_over_every_lane_wise_row(seed):
    ops, pick = drawn(seed, exact=False, most=24)
    check_exact(ops, numerics=False)
    check_deletions(synchronised(ops, pick), numerics=False)


def test_the_oracle_knows_a_stream_written_by_hand():
    """Load, barrier of the wrong pipe, use: one pair; with the flag none."""

    def op(pipe, reads, writes):
        touched = ({"ub": np.arange(*r)} if r else {} for r in (reads, writes))
        return Op(pipe, "", "", (), (), *touched, lambda _: None)

    def shown(items):
        return {pair: shared.tolist() for pair, shared in unordered_pairs(items).items()}

    load, use = op("MTE2", None, (0, 64)), op("V", (32, 96), (128, 160))
    again = op("MTE2", None, (60, 61))
    assert shown([load, Barrier("V", 0), use]) == {(0, 2): list(range(32, 64))}
    flag = ("MTE2", "V", 0, 1)
    assert not unordered_pairs([load, Set(*flag), Wait(*flag), use])
    assert shown([load, Set(*flag), Wait(*flag), use, again]) == {
        (0, 4): [60],
        (3, 4): [60],
    }
    twice = [Set(*flag), Wait(*flag), Set(*flag), Wait(*flag)]
    assert order_of(twice).reused == [(1, 2)]


def disagrees(items: list[Any], seen: list[Any]) -> bool:
    """Whether a run of the items differs from what is expected of others."""
    machine, sites, _ = machine_of(items)
    return not agrees(machine.run(numerics=False, **ALL), reported_pairs(seen, sites))


@pytest.mark.parametrize("access", ["reads", "writes"])
def test_an_access_that_is_off_by_one_block_is_noticed(access):
    """The comparison itself can fail: an oracle that sees an access one block further disagrees."""
    noticed = 0
    for seed in range(20):
        ops, _ = drawn(seed, exact=False)
        for i, op in enumerate(ops):
            touched = getattr(op, access)
            if "ub" not in touched:
                continue
            further = (touched["ub"] + BLOCK) % UB_BYTES
            wrong = replace(op, **{access: {**touched, "ub": further}})
            noticed += disagrees(ops, [*ops[:i], wrong, *ops[i + 1 :]])
    assert noticed > 0

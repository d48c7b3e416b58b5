# SPDX-License-Identifier: Apache-2.0
"""Which pairs of instructions of a stream nothing orders, and the syncs that a stream needs.

Written against ASCEND 4.1 and 4.2 with plain sets: a pipe starts its instructions in order and may
finish them in any; the scalar unit issues them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sim.machine import Machine
from sim.stream_op import GM_BYTES, UB_BYTES, Op, Pick

PIPES = ("S", "V", "MTE2", "MTE3")
IDS = 6
EVENTS = {
    (a, b) for a in PIPES for b in PIPES if a != b
}  # every pair of pipes of a vector core has flags


@dataclass(frozen=True)
class Set:
    """Raises a flag; ``number`` pairs it with its wait."""

    source: str
    target: str
    id: int
    number: int

    def issue(self, machine: Machine) -> int:
        return machine.set(f"{self.source}_{self.target}", self.id)


@dataclass(frozen=True)
class Wait:
    """Lowers it."""

    source: str
    target: str
    id: int
    number: int

    def issue(self, machine: Machine) -> int:
        return machine.wait(f"{self.source}_{self.target}", self.id)


@dataclass(frozen=True)
class Barrier:
    """Of one pipe, or ``ALL``."""

    pipe: str
    number: int

    def issue(self, machine: Machine) -> int:
        return machine.barrier(self.pipe)


@dataclass
class Order:
    """What is finished before each item starts: sets of positions; ``reused``: flags raised while
    their last wait may be to come, as (wait, set) positions."""

    before: list[frozenset[int]]
    reused: list[tuple[int, int]]


def order_of(items: list[Any]) -> Order:
    """Follows the stream once."""
    known: dict[str, frozenset[int]] = dict.fromkeys(PIPES, frozenset())
    issued: dict[str, frozenset[int]] = dict.fromkeys(PIPES, frozenset())
    raised: dict[tuple, frozenset[int]] = {}
    waited: dict[tuple, int] = {}
    order = Order([], [])
    for i, item in enumerate(items):
        if isinstance(item, Barrier) and item.pipe == "ALL":
            everything = frozenset().union(*issued.values())
            known = dict.fromkeys(PIPES, everything)
            order.before.append(everything)
            continue
        pipe = item.source if isinstance(item, Set) else getattr(item, "target", None) or item.pipe
        known[pipe] |= known["S"]  # the scalar unit issues it, after what it waited for
        order.before.append(known[pipe])
        if isinstance(item, Op):
            issued[pipe] |= {i}
        elif isinstance(item, Barrier):
            known[pipe] |= issued[pipe]
        else:
            flag = (item.source, item.target, item.id)
            if isinstance(item, Set):
                raised[flag] = known[pipe] | issued[pipe]
                last = waited.get(flag)
                if last is not None and item.target != "S" and last not in raised[flag]:
                    order.reused.append((last, i))
            else:
                issued[pipe] |= {i}
                waited[flag] = i
                known[pipe] |= raised[flag]
    return order


FIRST = {"ub": 0, "gm": UB_BYTES}
"""Bytes of both memories are numbered in one row: those of UB, then those of GM."""


def add(pairs: dict[tuple[int, int], np.ndarray], pair: tuple[int, int], to: np.ndarray) -> None:
    """Counts bytes as shared by a pair."""
    pairs[pair] = np.concatenate([pairs.get(pair, np.array([], int)), to])


def unordered_pairs(items: list[Any]) -> dict[tuple[int, int], np.ndarray]:
    """(earlier, later) that touch a byte, at least one writing, with nothing between to order them.

    Each with the numbers of the bytes.

    Earlier is the last write of the byte, or a read since then that is the last of its pipe.
    """
    before = order_of(items).before
    sizes = {"ub": UB_BYTES, "gm": GM_BYTES}
    writer = {space: np.full(n, -1) for space, n in sizes.items()}
    reader = {space: {pipe: np.full(n, -1) for pipe in PIPES} for space, n in sizes.items()}
    pairs: dict[tuple[int, int], np.ndarray] = {}
    for i, item in enumerate(items):
        if not isinstance(item, Op):
            continue

        def compare(last: np.ndarray, space: str, at: np.ndarray, i: int = i) -> None:
            at = np.unique(at)
            for earlier in {int(e) for e in np.unique(last[at])} - {-1} - before[i]:
                if items[i].pipe == "S" == items[earlier].pipe:  # one thing after the other
                    continue
                add(pairs, (earlier, i), FIRST[space] + at[last[at] == earlier])

        for space, at in item.reads.items():
            compare(writer[space], space, at)
        for space, at in item.writes.items():
            compare(writer[space], space, at)
            for pipe in PIPES:
                if pipe != item.pipe:  # a pipe reads in order
                    compare(reader[space][pipe], space, at)
        for space, at in item.reads.items():
            reader[space][item.pipe][at] = i
        for space, at in item.writes.items():
            writer[space][at] = i
            for pipe in PIPES:
                reader[space][pipe][at] = -1
    return pairs


def correct(items: list[Any]) -> bool:
    """Whether every pair is ordered and no flag is raised too early."""
    return not unordered_pairs(items) and not order_of(items).reused


def numbers(items: list[Any]) -> list[int]:
    """The syncs of a stream: one number for a flag pair or a barrier."""
    return sorted({item.number for item in items if not isinstance(item, Op)})


def without(items: list[Any], number: int) -> list[Any]:
    """The stream without one sync."""
    return [item for item in items if isinstance(item, Op) or item.number != number]


def free_ids(items: list[Any], source: str, target: str) -> list[int]:
    """Flag ids of an event that the stream does not use."""
    used = {i.id for i in items if isinstance(i, Set) and (i.source, i.target) == (source, target)}
    return [i for i in range(IDS) if i not in used]


def synchronised(ops: list[Op], pick: Pick) -> list[Any]:
    """The stream with a correct set of syncs, none of which can go."""
    items: list[Any] = []
    count = 0
    for op in ops:
        while pairs := unordered_pairs([*items, op]):
            earlier = max(e for e, _ in pairs)
            items = _ordered(items, earlier, op, count, pick)
            count += 1
        items.append(op)
    for number in numbers(items):
        shorter = without(items, number)
        if correct(shorter):
            items = shorter
    return items


def _ordered(items: list[Any], earlier: int, later: Op, number: int, pick: Pick) -> list[Any]:
    """The items with a sync that orders one of them before an instruction to come."""
    source, target = items[earlier].pipe, later.pipe
    if source == target:
        return [*items, Barrier(source, number)]
    at = earlier + 1 if pick(0, 1) else len(items)  # raised at once, or when it is waited for
    ids = list(range(IDS)) if pick(0, 1) else free_ids(items, source, target)
    for event_id in ids:
        flag = (source, target, event_id, number)
        trial = [*items[:at], Set(*flag), *items[at:], Wait(*flag)]
        if _paired(trial) and not order_of(trial).reused:
            return trial
    return [*items, Barrier("ALL", number)]


def _paired(items: list[Any]) -> bool:
    """Whether sets and waits of each flag take turns."""
    up: dict[tuple, int] = {}
    for item in items:
        if isinstance(item, Set):
            if up.setdefault((item.source, item.target, item.id), item.number) != item.number:
                return False
        elif isinstance(item, Wait) and up.pop((item.source, item.target, item.id)) != item.number:
            return False
    return True


def reported_pairs(items: list[Any], sites: list[int]) -> dict[tuple[int, int], np.ndarray]:
    """Races that a run must report, and no others, as pairs of sites with the bytes."""
    pairs: dict[tuple[int, int], np.ndarray] = {}
    for (a, b), shared in unordered_pairs(items).items():
        add(pairs, (sites[a], sites[b]), shared)
    return pairs


def reported_reuse(items: list[Any], sites: list[int]) -> set[tuple[int, int]]:
    """The same for flags raised again too early."""
    return {(sites[a], sites[b]) for a, b in order_of(items).reused}

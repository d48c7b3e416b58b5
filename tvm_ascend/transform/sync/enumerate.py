# SPDX-License-Identifier: Apache-2.0
"""Overlap in GM by trying every iteration, where indices are not affine (tile grids)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvm_ascend.transform.sync.affine import Form

if TYPE_CHECKING:
    from tvm_ascend.transform.sync.places import Relation
    from tvm_ascend.transform.sync.program import Counter, Program, Rows

_MOST_POINTS = 100_000
_MOST_PAIRS = 4_000_000


def enumerated(program: Program, a: Rows, b: Rows, nests: tuple, relation: Relation) -> bool | None:
    """Whether the two meet at points of this relation on some core; None: too much to try."""
    sides = [_Side(program, nest) for nest in nests]
    if not all(side.run() for side in sides):
        return None
    tables = [side.table(rows) for side, rows in zip(sides, (a, b), strict=True)]
    if any(t is None for t in tables):
        return None
    shared = relation.common if relation.level is None else relation.level
    keys = [side.keys(shared) for side in sides]
    orders = None if relation.level is None else [side.order(relation.level) for side in sides]
    return _any_group(tables, keys, orders)


class _Side:
    """Every iteration point of one statement, on every core, as arrays."""

    def __init__(self, program: Program, nest: tuple[Counter, ...]) -> None:
        self.program, self.nest = program, nest
        self.values: dict[str, Any] = {}
        self.size = 1

    def run(self) -> bool:
        """Fill the arrays; False if some loop has no known trip count or there are too many."""
        numbers = [c.number for c in self.nest]
        if self.program.block is not None:
            numbers.insert(0, self.program.block)
        for number in numbers:
            trips = self.evaluate(self.program.extents[number])
            if trips is None:
                return False
            trips = np.maximum(np.broadcast_to(trips, (self.size,)), 0)
            self.size = int(trips.sum())
            if self.size > _MOST_POINTS:
                return False
            starts = np.repeat(np.cumsum(trips) - trips, trips)
            self.values = {k: np.repeat(v, trips) for k, v in self.values.items()}
            self.values[f"v{number}"] = np.arange(self.size) - starts
        return True

    def evaluate(self, form: Form) -> Any:
        """Values of a form at every point, or None when it has an unknown part."""
        known = {int(name[1:]) for name in self.values}
        if not form.text or not form.uses <= known:
            return None
        total = np.full(self.size, form.const, np.int64)
        for number, factor in form.counters:
            total = total + factor * self.values[f"v{number}"]
        for atom, factor in form.atoms:
            total = total + factor * np.asarray(atom.value(self.values))
        return total

    def table(self, rows: Rows) -> np.ndarray | None:
        """Start, count, pitch and length at every point, one column each."""
        columns = [self.evaluate(f) for f in (rows.start, rows.count, rows.pitch, rows.length)]
        return None if any(c is None for c in columns) else np.stack(columns, axis=1)

    def keys(self, shared: int) -> np.ndarray:
        """Core and iterations that both statements share, per point."""
        numbers = [c.number for c in self.nest[:shared]]
        if self.program.block is not None:
            numbers.insert(0, self.program.block)
        columns = [self.values[f"v{n}"] for n in numbers]
        return np.stack(columns, axis=1) if columns else np.zeros((self.size, 1), np.int64)

    def order(self, level: int) -> np.ndarray:
        """The iteration of the loop in which the points differ."""
        return self.values[f"v{self.nest[level].number}"]


def _any_group(tables: list, keys: list, orders: list | None) -> bool | None:
    groups: dict[tuple, list[list[int]]] = {}
    for side in (0, 1):
        for place, key in enumerate(map(tuple, keys[side].tolist())):
            groups.setdefault(key, [[], []])[side].append(place)
    if sum(len(x) * len(y) for x, y in groups.values()) > _MOST_PAIRS:
        return None
    for first, second in groups.values():
        a, b = tables[0][first], tables[1][second]
        hits = _meet(a[:, None, :], b[None, :, :])
        if orders is not None:
            hits &= orders[1][second][None, :] > orders[0][first][:, None]
        if hits.any():
            return True
    return False


def _meet(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The test of ``overlap.rows_meet`` on arrays of (start, count, pitch, length)."""
    (start_a, count_a, pitch_a, length_a) = np.moveaxis(a, -1, 0)
    (start_b, count_b, pitch_b, length_b) = np.moveaxis(b, -1, 0)
    gap = start_b - start_a
    reach_a = length_a + np.maximum(count_a - 1, 0) * pitch_a
    reach_b = length_b + np.maximum(count_b - 1, 0) * pitch_b
    hulls = (gap < reach_a) & (gap > -reach_b)
    pitch = np.where(count_a > 1, pitch_a, pitch_b)
    same = (pitch > 0) & ((count_b <= 1) | (pitch_b == pitch))
    safe = np.where(pitch > 0, pitch, 1)
    step = np.maximum((-length_b - gap) // safe + 1, -(count_a - 1))
    exact = (step <= count_b - 1) & (gap + step * safe < length_a)
    some = (count_a > 0) & (count_b > 0) & (length_a > 0) & (length_b > 0)
    return some & np.where(same, exact, hulls)

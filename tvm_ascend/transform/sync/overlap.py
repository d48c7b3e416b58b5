# SPDX-License-Identifier: Apache-2.0
"""Whether two accesses, each in one iteration of the cut program, can touch the same bytes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from tvm_ascend.isa.instr import Space
from tvm_ascend.transform.sync.affine import INF, Form, Interval
from tvm_ascend.transform.sync.enumerate import enumerated
from tvm_ascend.transform.sync.places import Places, Point, Relation, relate
from tvm_ascend.transform.sync.program import Program, Rows
from tvm_ascend.transform.sync.table import Table, tabulate


@dataclass
class Overlap:
    """Answers for pairs of accesses, remembered."""

    program: Program
    _known: dict[tuple, bool] = field(default_factory=dict)
    _uses: dict[tuple, tuple] = field(default_factory=dict)
    _extents: dict[int, Interval] = field(default_factory=dict)
    _tables: dict[int, Table | None] = field(default_factory=dict)
    _kinds: dict[tuple, set[tuple[int, int]]] = field(default_factory=dict)
    _enumerated: dict[tuple, bool] = field(default_factory=dict)

    def ever(self, a: Rows, b: Rows) -> bool:
        """Whether the two can touch the same memory in any pair of iterations."""
        if a.access.space is not b.access.space:
            return False
        if a.access.space is Space.GM:
            return a.access.buffer.same_as(b.access.buffer)
        return self._extent(a).low < self._extent(b).high and (
            self._extent(b).low < self._extent(a).high
        )

    def at(self, a: Rows, b: Rows, points: tuple[Point, Point]) -> bool:
        """Whether they can at these points."""
        relation = relate((a.nest, b.nest), points)
        if a.access.space is not Space.GM:
            tables = self._table(a), self._table(b)
            if tables[0] is not None and tables[1] is not None:
                if not self._in_tables(*tables, points, relation):
                    return False
                if not relation.apart & {*tables[0].columns, *tables[1].columns}:
                    return True
        key = (id(a), id(b), relation.level, *self._relevant(a, b, points))
        if key not in self._known:
            places = Places(self.program, (a.nest, b.nest), points, relation)
            self._known[key] = self._meet(a, b, places)
        return self._known[key]

    def least_length(self, rows: Rows) -> float:
        """The shortest row of an access."""
        table = self._table(rows)
        if table is None:
            return self.program.reader.interval(rows.length).low
        return min((v[3] for kind in table.kinds for v in kind if v[1] > 0), default=0)

    def _table(self, rows: Rows) -> Table | None:
        if id(rows) not in self._tables:
            self._tables[id(rows)] = tabulate(self.program, rows)
        return self._tables[id(rows)]

    def _in_tables(
        self, a: Table, b: Table, points: tuple[Point, Point], relation: Relation
    ) -> bool:
        key = (id(a), id(b), relation.level)
        if key not in self._kinds:
            self._kinds[key] = self._joined(a, b, relation)
        for i, j in self._kinds[key]:
            x, y = a.at(i, points[0]), b.at(j, points[1])
            if rows_meet(y[0] - x[0], x[1:], y[1:]):
                return True
        return False

    def _joined(self, a: Table, b: Table, relation: Relation) -> set[tuple[int, int]]:
        """The kinds that the two can be of on one core, in one iteration of what is common."""
        both = [n for n in a.columns if n in b.columns and n not in relation.apart]
        of_a, of_b = a.by_key(both), b.by_key(both)
        found: set[tuple[int, int]] = set()
        for key in of_a.keys() & of_b.keys():
            found.update(itertools.product(of_a[key], of_b[key]))
        return found

    def _meet(self, a: Rows, b: Rows, places: Places) -> bool:
        gap = places.difference(a.start, b.start)
        if gap.low == gap.high:
            sizes = [places.size(f, side) for side, r in enumerate((a, b)) for f in _sizes(r)]
            exact = all(s.low == s.high for s in sizes)
            meet = rows_meet(int(gap.low), *_most(sizes))
            if not meet or exact:
                return meet
        elif not _hulls_meet(gap, self._reach(a), self._reach(b)):
            return False
        if a.access.space is Space.GM:
            return self._boxes(a, b, places) and self._tried(a, b, places)
        return True

    def _extent(self, rows: Rows) -> Interval:
        """The bytes an access can touch over all iterations."""
        if id(rows) not in self._extents:
            start = self.program.reader.interval(rows.start)
            self._extents[id(rows)] = Interval(start.low, start.high + self._reach(rows))
        return self._extents[id(rows)]

    def _reach(self, rows: Rows) -> float:
        bounds = self.program.reader.interval
        count, pitch = bounds(rows.count).high, bounds(rows.pitch).high
        steps = (count - 1) * pitch if pitch else 0
        return steps + bounds(rows.length).high

    def _relevant(self, a: Rows, b: Rows, points: tuple) -> tuple:
        """The part of the points that the answer depends on."""
        key = (id(a), id(b))
        if key not in self._uses:
            used = [frozenset().union(*(f.uses for f in _forms(r))) for r in (a, b)]
            self._uses[key] = tuple(
                tuple(i for i, c in enumerate(r.nest) if c.number in use)
                for r, use in zip((a, b), used, strict=True)
            )
        return tuple(
            point[i] for point, places in zip(points, self._uses[key], strict=True) for i in places
        )

    def _boxes(self, a: Rows, b: Rows, places: Places) -> bool:
        """By the indices of a tensor in GM: disjoint in one dimension is disjoint."""
        bounds = self.program.reader.interval
        for (i, reach_a, _), (j, reach_b, _) in zip(a.dims, b.dims, strict=False):
            reaches = bounds(reach_a).high, bounds(reach_b).high
            if not _hulls_meet(places.difference(i, j), *reaches):
                return False
        return True

    def _tried(self, a: Rows, b: Rows, places: Places) -> bool:
        """By trying every iteration on every core, if that is not too many."""
        key = (id(a), id(b), places.relation.level)
        if key not in self._enumerated:
            answer = enumerated(self.program, a, b, places.nests, places.relation)
            self._enumerated[key] = answer is not False
        return self._enumerated[key]


def rows_meet(gap: int, a: Sequence, b: Sequence) -> bool:
    """Whether rows (count, pitch, length) meet, b starting ``gap`` after a; exact for one pitch."""
    (count_a, pitch_a, length_a), (count_b, pitch_b, length_b) = a, b
    if min(count_a, count_b, length_a, length_b) <= 0:
        return False
    pitch_a = pitch_b if count_a == 1 else pitch_a
    pitch_b = pitch_a if count_b == 1 else pitch_b
    if pitch_a != pitch_b or pitch_a in (0, INF) or INF in (*a, *b):
        reach_a = length_a + (count_a - 1) * pitch_a if count_a > 1 else length_a
        reach_b = length_b + (count_b - 1) * pitch_b if count_b > 1 else length_b
        return -reach_b < gap < reach_a
    # Row j of b lies at gap + (j - i) * pitch from row i of a; the least j - i that is not too low
    # decides.
    step = max(math.floor((-length_b - gap) / pitch_a) + 1, -(count_a - 1))
    return step <= count_b - 1 and gap + step * pitch_a < length_a


def _hulls_meet(gap: Interval, reach_a: float, reach_b: float) -> bool:
    return gap.low < reach_a and gap.high > -reach_b


def _most(sizes: list[Interval]) -> tuple[list, list]:
    """The greatest counts and lengths; pitches that can vary are as good as one long row."""
    sides = []
    for count, pitch, length in (sizes[:3], sizes[3:]):
        row = [count.high, pitch.high, length.high]
        if pitch.low != pitch.high:
            row = [1, 0, length.high + max(count.high - 1, 0) * pitch.high]
        sides.append(row)
    return sides[0], sides[1]


def _sizes(rows: Rows) -> tuple[Form, Form, Form]:
    return rows.count, rows.pitch, rows.length


def _forms(rows: Rows) -> tuple[Form, ...]:
    boxes = [form for index, extent, _ in rows.dims for form in (index, extent)]
    return rows.start, rows.count, rows.pitch, rows.length, *boxes

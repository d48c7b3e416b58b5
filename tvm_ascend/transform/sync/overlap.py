# SPDX-License-Identifier: Apache-2.0
"""Whether two accesses, each in one iteration of the cut program, can touch the same bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from tvm_ascend.isa.instr import Space
from tvm_ascend.transform.sync.affine import INF, Atom, Form, Interval
from tvm_ascend.transform.sync.enumerate_gm import enumerated
from tvm_ascend.transform.sync.program import Counter, Program, Rows

Point = tuple[int, ...]


@dataclass(frozen=True)
class Relation:
    """How two iteration points lie: ``level`` is the first common loop in which they differ.

    ``level`` is None when they are in the same iteration of every common loop.
    """

    common: int
    level: int | None


@dataclass
class Overlap:
    """Answers for pairs of accesses, remembered."""

    program: Program
    _known: dict[tuple, bool] = field(default_factory=dict)
    _uses: dict[tuple, tuple] = field(default_factory=dict)

    def ever(self, a: Rows, b: Rows) -> bool:
        """Whether the two can touch the same memory in any pair of iterations."""
        if a.access.space is not b.access.space:
            return False
        if a.access.space is Space.GM:
            return a.access.buffer.same_as(b.access.buffer)
        return self._extent(a).low < self._extent(b).high and (
            self._extent(b).low < self._extent(a).high
        )

    def at(self, a: Rows, b: Rows, nests: tuple, points: tuple[Point, Point]) -> bool:
        """Whether they can at these points; ``nests`` are the counters around a and b."""
        relation = relate(nests, points)
        gm = a.access.space is Space.GM
        key: tuple = (id(a), id(b), relation.level)
        if not gm:
            key = (*key, *self._relevant(a, b, nests, points))
        if key not in self._known:
            test = self._in_gm if gm else self._on_chip
            self._known[key] = test(a, b, _Places(self.program, nests, points, relation))
        return self._known[key]

    def _extent(self, rows: Rows) -> Interval:
        start = self.program.reader.interval(rows.start)
        return Interval(start.low, start.high + self._reach(rows))

    def _reach(self, rows: Rows) -> float:
        bounds = self.program.reader.interval
        count, pitch = bounds(rows.count).high, bounds(rows.pitch).high
        steps = (count - 1) * pitch if pitch else 0
        return steps + bounds(rows.length).high

    def _relevant(self, a: Rows, b: Rows, nests: tuple, points: tuple) -> tuple:
        """The part of the points that the answer depends on."""
        key = (id(a), id(b))
        if key not in self._uses:
            used = [frozenset().union(*(f.uses for f in _forms(r))) for r in (a, b)]
            self._uses[key] = tuple(
                tuple(i for i, c in enumerate(nest) if c.number in use)
                for nest, use in zip(nests, used, strict=True)
            )
        return tuple(
            point[i]
            for point, places in zip(points, self._uses[key], strict=True)
            for i in places
        )

    def _on_chip(self, a: Rows, b: Rows, places: _Places) -> bool:
        gap = places.difference(a.start, b.start)
        if gap.low != gap.high:
            return _hulls_meet(gap, self._reach(a), self._reach(b))
        sizes = [places.size(form, side) for side, r in enumerate((a, b)) for form in _sizes(r)]
        return rows_meet(int(gap.low), sizes[:3], sizes[3:])

    def _in_gm(self, a: Rows, b: Rows, places: _Places) -> bool:
        places = places.anywhere()
        gap = places.difference(a.start, b.start)
        if not _hulls_meet(gap, self._reach(a), self._reach(b)):
            return False
        bounds = self.program.reader.interval
        for (i, reach_a, _), (j, reach_b, _) in zip(a.dims, b.dims, strict=False):
            reaches = bounds(reach_a).high, bounds(reach_b).high
            if not _hulls_meet(places.difference(i, j), *reaches):
                return False
        answer = enumerated(self.program, a, b, places.nests, places.relation)
        return True if answer is None else answer


def relate(nests: tuple, points: tuple[Point, Point]) -> Relation:
    """Compare two iteration points."""
    common = 0
    for x, y in zip(*nests, strict=False):
        if x is not y:
            break
        common += 1
    for level in range(common):
        if points[0][level] != points[1][level]:
            return Relation(common, level)
    return Relation(common, None)


def rows_meet(gap: int, a: list, b: list) -> bool:
    """Whether rows (count, pitch, length) meet when b starts ``gap`` after a; exact for one pitch."""
    (count_a, pitch_a, length_a), (count_b, pitch_b, length_b) = a, b
    if min(count_a, count_b, length_a, length_b) <= 0:
        return False
    pitch_a = pitch_b if count_a == 1 else pitch_a
    pitch_b = pitch_a if count_b == 1 else pitch_b
    if pitch_a != pitch_b or pitch_a in (0, INF) or INF in (count_a, count_b):
        reach_a = length_a + (count_a - 1) * pitch_a if count_a > 1 else length_a
        reach_b = length_b + (count_b - 1) * pitch_b if count_b > 1 else length_b
        return -reach_b < gap < reach_a
    # Row j of b lies at gap + (j - i) * pitch from row i of a; the least j - i that is not too low
    # decides.
    step = max(math.floor((-length_b - gap) / pitch_a) + 1, -(count_a - 1))
    return step <= count_b - 1 and gap + step * pitch_a < length_a


def _hulls_meet(gap: Interval, reach_a: float, reach_b: float) -> bool:
    return gap.low < reach_a and gap.high > -reach_b


def _sizes(rows: Rows) -> tuple[Form, Form, Form]:
    return rows.count, rows.pitch, rows.length


def _forms(rows: Rows) -> tuple[Form, ...]:
    return rows.start, rows.count, rows.pitch, rows.length


@dataclass
class _Places:
    """Two points, and what is known about every counter at them."""

    program: Program
    nests: tuple[tuple[Counter, ...], tuple[Counter, ...]]
    points: tuple[Point, Point] | None
    relation: Relation

    def __post_init__(self) -> None:
        # Counters that have the same, possibly unknown, value at both points.
        level = self.relation.common if self.relation.level is None else self.relation.level
        apart = [c.number for nest in self.nests for c in nest[level:]]
        self.apart = frozenset(apart)
        self.values: list[dict[int, int]] = [{}, {}]
        self.remainders: list[dict[int, tuple[int, int]]] = [{}, {}]
        for side, point in enumerate(self.points or ()):
            for counter, at in zip(self.nests[side], point, strict=True):
                if counter.exact:
                    self.values[side][counter.number] = at
                else:
                    versions = counter.versions
                    self.remainders[side][counter.number] = (at % versions, versions)

    def anywhere(self) -> _Places:
        """The same relation, for all points that have it."""
        return _Places(self.program, self.nests, None, self.relation)

    def difference(self, a: Form, b: Form) -> Interval:
        """Bounds of b at the second point minus a at the first."""
        total = Interval(b.const - a.const, b.const - a.const)
        of_a, of_b = dict(a.counters), dict(b.counters)
        for number in {**of_a, **of_b}:
            total = total + self._counter(number, of_a.get(number, 0), of_b.get(number, 0))
        atoms_a, atoms_b = dict(a.atoms), dict(b.atoms)
        for atom in {**atoms_a, **atoms_b}:
            total = total + self._atom(atom, atoms_a.get(atom, 0), atoms_b.get(atom, 0))
        return total

    def size(self, form: Form, side: int) -> float:
        """The greatest value of a count, pitch or length at one point."""
        return self._at(form, side).high

    def _at(self, form: Form, side: int) -> Interval:
        total = Interval(form.const, form.const)
        for number, factor in form.counters:
            total = total + self._range(number, side).scaled(factor)
        for atom, factor in form.atoms:
            total = total + self._value(atom, side).scaled(factor)
        return total

    def _range(self, number: int, side: int) -> Interval:
        if number in self.values[side]:
            value = self.values[side][number]
            return Interval(value, value)
        return self.program.reader.bounds[number]

    def _counter(self, number: int, factor_a: int, factor_b: int) -> Interval:
        if number in self.values[0] or number in self.values[1] or number in self.apart:
            level = self.relation.level
            differs = self.nests[0][level].number if level is not None else -1
            if number == differs and factor_a == factor_b and number not in self.values[0]:
                return self._distance(self.nests[0][level]).scaled(factor_b)
            low = self._range(number, 0).scaled(-factor_a)
            return low + self._range(number, 1).scaled(factor_b)
        return self.program.reader.bounds[number].scaled(factor_b - factor_a)

    def _distance(self, counter: Counter) -> Interval:
        """How many iterations of the differing loop lie between the points."""
        level = self.relation.level
        if self.points is None:
            return Interval(1, counter.most - 1)
        step = self.points[1][level] - self.points[0][level]
        far = step >= counter.cut - counter.versions
        return Interval(step, counter.most - 1 if far else step)

    def _atom(self, atom: Atom, factor_a: int, factor_b: int) -> Interval:
        if factor_a == factor_b and not atom.uses & self.apart:
            return Interval(0, 0)
        return self._value(atom, 0).scaled(-factor_a) + self._value(atom, 1).scaled(factor_b)

    def _value(self, atom: Atom, side: int) -> Interval:
        if not atom.text:
            return atom.bounds
        names: dict[str, Any] = {}
        for number in atom.uses:
            value = self.values[side].get(number)
            rest, versions = self.remainders[side].get(number, (0, 0))
            if value is None and atom.modulus and versions and versions % atom.modulus == 0:
                value = rest
            if value is None:
                return atom.bounds
            names[f"v{number}"] = value
        value = int(atom.value(names))
        return Interval(value, value)

# SPDX-License-Identifier: Apache-2.0
"""Two iterations of the cut program, and what is known about every counter in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvm_ascend.transform.sync.affine import Atom, Form, Interval
from tvm_ascend.transform.sync.program import Counter, Program

Point = tuple[int, ...]


@dataclass(frozen=True)
class Relation:
    """How two iteration points lie: ``level`` is the first common loop in which they differ.

    ``level`` is None when they are in the same iteration of every common loop. ``apart`` numbers
    the counters that may have two values.
    """

    common: int
    level: int | None
    apart: frozenset[int]


def relate(nests: tuple, points: tuple[Point, Point]) -> Relation:
    """Compare two iteration points."""
    common = 0
    for x, y in zip(*nests, strict=False):
        if x is not y:
            break
        common += 1
    differing = (i for i in range(common) if points[0][i] != points[1][i])
    level = next(differing, None)
    first = common if level is None else level
    apart = frozenset(c.number for nest in nests for c in nest[first:])
    return Relation(common, level, apart)


@dataclass
class Places:
    """Two points, and what is known about every counter at them."""

    program: Program
    nests: tuple[tuple[Counter, ...], tuple[Counter, ...]]
    points: tuple[Point, Point]
    relation: Relation

    def __post_init__(self) -> None:
        self.apart = self.relation.apart
        self.values: list[dict[int, int]] = [{}, {}]
        self.remainders: list[dict[int, tuple[int, int]]] = [{}, {}]
        for side, point in enumerate(self.points):
            for counter, at in zip(self.nests[side], point, strict=True):
                if counter.exact:
                    self.values[side][counter.number] = at
                else:
                    versions = counter.versions
                    self.remainders[side][counter.number] = (at % versions, versions)

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

    def size(self, form: Form, side: int) -> Interval:
        """What a count, pitch or length can be at one point."""
        return self._at(form, side)

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
                return self.distance().scaled(factor_b)
            low = self._range(number, 0).scaled(-factor_a)
            return low + self._range(number, 1).scaled(factor_b)
        return self.program.reader.bounds[number].scaled(factor_b - factor_a)

    def distance(self) -> Interval:
        """How many iterations of the differing loop lie between the points."""
        level = self.relation.level
        if level is None:
            return Interval(0, 0)
        counter = self.nests[0][level]
        step = self.points[1][level] - self.points[0][level]
        far = not counter.exact and step >= counter.cut - counter.versions
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

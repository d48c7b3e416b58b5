# SPDX-License-Identifier: Apache-2.0
"""Addresses and sizes of one access as plain numbers, per core and iteration."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from tvm_ascend.transform.sync.affine import SCALAR_CALLS
from tvm_ascend.transform.sync.program import Counter, Program, Rows

Values = tuple[int, int, int, int]

_MOST_ENTRIES = 20_000


@dataclass(frozen=True)
class Table:
    """Start, count, pitch and length by the iterations of the counters in ``places`` of the nest.

    Cores with the same numbers share one of ``kinds``; ``kind_of`` maps a core to its kind.
    """

    places: tuple[int, ...]
    kinds: tuple[dict[tuple[int, ...], Values], ...]
    kind_of: tuple[int, ...]

    def at(self, kind: int, point: tuple[int, ...]) -> Values:
        """The numbers in an iteration."""
        return self.kinds[kind][tuple(point[i] for i in self.places)]


def tabulate(program: Program, rows: Rows, nest: tuple[Counter, ...]) -> Table | None:
    """Every number of an access, or None where an iteration that was cut away could differ."""
    forms = (rows.start, rows.count, rows.pitch, rows.length)
    uses = frozenset().union(*(f.uses for f in forms))
    if not all(f.text for f in forms) or not all(_repeats(f, nest) for f in forms):
        return None
    used = [(i, c) for i, c in enumerate(nest) if c.number in uses]
    known = {c.number for _, c in used} | {program.block}
    cores = _cores(program) if program.block in uses else 1
    points = list(itertools.product(*(range(c.cut) for _, c in used)))
    if not uses <= known or cores * len(points) > _MOST_ENTRIES:
        return None
    code = compile(f"({', '.join(f.text for f in forms)})", "<access>", "eval")
    names = [f"v{c.number}" for _, c in used]
    kinds: dict[tuple, int] = {}
    kind_of = []
    for core in range(cores):
        values = {f"v{program.block}": core}
        found = []
        for point in points:
            values.update(zip(names, point, strict=True))
            found.append(tuple(eval(code, SCALAR_CALLS, values)))
        kind_of.append(kinds.setdefault(tuple(found), len(kinds)))
    tables = tuple(dict(zip(points, found, strict=True)) for found in kinds)
    return Table(tuple(i for i, _ in used), tables, tuple(kind_of))


def _cores(program: Program) -> int:
    assert program.block is not None
    return int(program.reader.bounds[program.block].high) + 1


def _repeats(form, nest: tuple[Counter, ...]) -> bool:
    """Whether the iterations that were looked at give every value the form has."""
    cut = {c.number: c.versions for c in nest if not c.exact}
    if any(number in cut for number, _ in form.counters):
        return False
    for atom, _ in form.atoms:
        for number in atom.uses & cut.keys():
            if not atom.modulus or cut[number] % atom.modulus:
                return False
    return True

# SPDX-License-Identifier: Apache-2.0
"""Addresses and sizes of one access as plain numbers, per core and iteration."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_ascend.transform.sync.affine import Form
from tvm_ascend.transform.sync.program import Counter, Program, Rows

Values = tuple[int, int, int, int]

_MOST_ENTRIES = 200_000


@dataclass(frozen=True, eq=False)
class Table:
    """Start, count, pitch and length of an access.

    Counters that the cut program runs through pick the entry: those at ``places`` of the nest. The
    core, and counters of loops that were cut and change more than a version, make up the
    environment: ``columns`` names them, and row by row ``environments`` has their values, of which
    those with the same numbers are one kind.
    """

    places: tuple[int, ...]
    points: dict[tuple[int, ...], int]
    kinds: list[list[Values]]
    columns: tuple[int, ...]
    environments: list[tuple[int, ...]]
    kind_of: list[int]

    def at(self, kind: int, point: tuple[int, ...]) -> Values:
        """The numbers in an iteration."""
        return self.kinds[kind][self.points[tuple(point[i] for i in self.places)]]

    def by_key(self, shared: list[int]) -> dict[tuple[int, ...], set[int]]:
        """The kinds that occur for each value of some counters."""
        places = [self.columns.index(number) for number in shared]
        found: dict[tuple[int, ...], set[int]] = {}
        for environment, kind in zip(self.environments, self.kind_of, strict=True):
            found.setdefault(tuple(environment[i] for i in places), set()).add(kind)
        return found


def tabulate(program: Program, rows: Rows) -> Table | None:
    """Every number of an access, or None where they are unknown or too many."""
    forms = (rows.start, rows.count, rows.pitch, rows.length)
    nest = rows.nest
    uses = frozenset().union(*(f.uses for f in forms))
    if not all(f.text for f in forms):
        return None
    hidden = [c for c in nest if c.number in uses and not all(_cycles(f, c) for f in forms)]
    chosen = [(i, c) for i, c in enumerate(nest) if c.number in uses and c not in hidden]
    columns = [c.number for c in hidden]
    if program.block in uses:
        columns.insert(0, program.block)
    if not uses <= {*columns, *(c.number for _, c in chosen)}:
        return None
    points = list(itertools.product(*(range(c.cut) for _, c in chosen)))
    environments = _environments(program, columns)
    if environments is None or len(environments) * len(points) > _MOST_ENTRIES:
        return None
    values: dict[str, Any] = {f"v{n}": environments[:, i, None] for i, n in enumerate(columns)}
    grid = np.array(points, np.int64).reshape(len(points), len(chosen))
    values |= {f"v{c.number}": grid[None, :, i] for i, (_, c) in enumerate(chosen)}
    shape = (len(environments), len(points))
    columns_of = [np.broadcast_to(evaluate(f, values), shape) for f in forms]
    columns_of[1] = np.where(_runs(program, chosen, values, shape), columns_of[1], 0)
    numbers = np.stack(columns_of, axis=-1)
    flat, kind_of = np.unique(numbers.reshape(shape[0], -1), axis=0, return_inverse=True)
    kinds = flat.reshape(-1, len(points), len(forms)).tolist()
    return Table(
        tuple(i for i, _ in chosen),
        {point: i for i, point in enumerate(points)},
        [[tuple(entry) for entry in kind] for kind in kinds],
        tuple(columns),
        [tuple(e) for e in environments.tolist()],
        kind_of.reshape(-1).tolist(),
    )


def _runs(program: Program, chosen: list, values: dict[str, Any], shape: tuple) -> Any:
    """Whether an iteration exists: on some cores a loop may be shorter."""
    runs = np.ones(shape, bool)
    for _, counter in chosen:
        extent = program.extents[counter.number]
        if counter.exact and extent.text and extent.uses <= {int(n[1:]) for n in values}:
            runs = runs & (values[f"v{counter.number}"] < evaluate(extent, values))
    return runs


def evaluate(form: Form, values: dict[str, Any]) -> Any:
    """A form on numbers or arrays named ``v<counter>``."""
    total: Any = form.const
    for number, factor in form.counters:
        total = total + factor * values[f"v{number}"]
    for atom, factor in form.atoms:
        total = total + factor * np.asarray(atom.value(values))
    return total


def _environments(program: Program, columns: list[int]) -> np.ndarray | None:
    """Every combination of cores and iterations that occurs, one row each."""
    values: dict[str, Any] = {}
    size = 1
    for number in columns:
        extent = program.extents[number]
        known = {int(name[1:]) for name in values}
        if not extent.text or not extent.uses <= known:
            return None
        trips = np.maximum(np.broadcast_to(evaluate(extent, values), (size,)), 0)
        size = int(trips.sum())
        if size > _MOST_ENTRIES:
            return None
        starts = np.repeat(np.cumsum(trips) - trips, trips)
        values = {k: np.repeat(v, trips) for k, v in values.items()}
        values[f"v{number}"] = np.arange(size) - starts
    return np.stack(list(values.values()), axis=1) if values else np.zeros((1, 0), np.int64)


def _cycles(form: Form, counter: Counter) -> bool:
    """Whether the iterations that are looked at give every value of the form."""
    if counter.exact:
        return True
    if any(number == counter.number for number, _ in form.counters):
        return False
    used = [atom for atom, _ in form.atoms if counter.number in atom.uses]
    return all(atom.modulus and counter.versions % atom.modulus == 0 for atom in used)

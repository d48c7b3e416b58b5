# SPDX-License-Identifier: Apache-2.0
"""What stores of elements leave in tiles, and which of them must not run past a tensor."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Range, TensorRegion

from tvm_ascend import sym
from tvm_ascend.errors import PaddingCounts
from tvm_ascend.isa.instr import Space
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.match import loads, variables
from tvm_ascend.transform.held import WHOLE, Held
from tvm_ascend.transform.padding_reads import OpenRead, Reads, choice, same_element
from tvm_ascend.transform.padding_traps import without_traps
from tvm_ascend.transform.tile_args import is_const


class Stores(Reads):
    """Follows stores of elements in loops of elements and under conditions."""

    def __init__(self) -> None:
        super().__init__()
        # Conditions around a statement, each with the number of loops around it.
        self.guards: list[tuple[int, tvm.ir.Expr]] = []
        # The loops of elements right around a statement.
        self.nests: list[tirx.For] = []

    @contextmanager
    def assuming(self, condition: tvm.ir.Expr) -> Iterator[None]:
        """Prove things where a condition holds."""
        self.guards.append((len(self.loops), condition))
        with self.analyzer.constraint_scope(condition):
            yield
        self.guards.pop()

    def inner(self) -> set:
        """The loop variables in scope."""
        return {x.loop_var for x in self.loops}

    def in_elements(self) -> bool:
        """Whether the innermost loop is part of a nest of elements."""
        return bool(self.nests) and self.nests[-1].same_as(self.loops[-1])

    def store(self, stmt: tirx.BufferStore) -> tirx.Stmt:
        buffer, indices = stmt.buffer, list(stmt.indices)
        value, chosen = _updated(stmt.value, buffer, indices)
        start = self.first_element_loop()
        guards = [*(guard for depth, guard in self.guards if depth > start), *chosen]
        safe = without_traps(self, stmt.value, stmt.span)
        with self.where(chosen):
            exist, left = self.judged(stmt, value, guards)
            if self.depth.get(buffer, 0) > start:  # a variable of one iteration
                self.bound[buffer] = [*(self.bound.get(buffer, ()) if guards else ()), *left]
            elif space_of(buffer) is not Space.GM and (left or not exist):
                updates = any(same_element(x, buffer, indices) for x in loads(value))
                self.stored(buffer, indices, left, updates, guards)
        return where_exist(exist, tirx.BufferStore(buffer, safe, indices, stmt.span))

    def judged(
        self, stmt: tirx.BufferStore, value: tvm.ir.Expr, guards: list
    ) -> tuple[list[OpenRead], list[OpenRead]]:
        """The reads that must exist for a store to run, and the others that may meet padding.

        An element that its old value, or a guard, may leave as it is changes only where all exists
        that the new value is made of.
        """
        buffer, indices = stmt.buffer, list(stmt.indices)
        limits = self.held[buffer].limits if buffer in self.held else {}
        own = [indices[axis] < limit for axis, limit in limits.items() if limit is not None]
        keeps = bool(guards) and buffer in self.held
        keeps = keeps and not any(self.shows(tirx.Not(exists)) for exists in own)
        updates = keeps or any(same_element(x, buffer, indices) for x in loads(value))
        local = self.depth.get(buffer, 0) > self.first_element_loop()
        with self.where(own if updates else []):
            made_of = [value, *guards]
            needs = [
                read
                for part in made_of
                for read in self.needs(part, lambda x: same_element(x, buffer, indices))
            ]
        places = [read for index in indices for read in self.needs(index)]
        counted = self.counted(buffer, indices, needs)
        self.check_known([*places, *counted], stmt)
        exist = [
            r for r in needs if r in counted or (updates and not local and r.limit is not None)
        ]
        return [*places, *exist], [r for r in needs if r not in exist]

    def check_known(self, reads: list[OpenRead], stmt: tirx.Stmt) -> None:
        """Refuse to count elements of tiles that end nobody knows where."""
        for read in reads:
            if read.limit is None:
                raise PaddingCounts(read.tile.name, read.span, stmt.span)

    def stored(
        self, buffer: tvm.ir.Var, indices: list, left: list[OpenRead], updates: bool, guards: list
    ) -> None:
        """Note what a store leaves in its tile over all iterations of the loops of elements."""
        new = Held(self.combined(indices, left), left[0].span) if left else WHOLE
        old = self.held.get(buffer)
        region = self.region_of(buffer, indices, self.loops[self.first_element_loop() :])
        if old is None:
            self.held[buffer] = new
        elif updates:
            self.held[buffer] = old.joined(new) if left else old
        elif region is None or (guards and left):
            self.held[buffer] = old.joined(new)
        elif guards:
            self.held[buffer] = self.masked(region, indices, old, _all(guards))
        else:
            self.write(region, new)

    def combined(self, indices: list, reads: list[OpenRead]) -> dict:
        """The limits of a tile whose elements are made of several reads."""
        limits: dict = {}
        for read in reads:
            for axis, limit in self.limits_of(indices, read.index, read.limit).items():
                known = limits.get(axis, limit)
                both = known is not None and limit is not None
                limits[axis] = self.smaller(known, limit) if both else None
        return limits

    def limits_of(self, indices: list, index: tvm.ir.Expr, limit: tvm.ir.Expr | None) -> dict:
        """The limit of a tile that is computed from another which ends where ``index`` does."""
        shared = {a: variables(i) & variables(index) & self.inner() for a, i in enumerate(indices)}
        for axis, vars_ in shared.items():
            if limit is None or not vars_:
                continue
            own = self.analyzer.simplify(indices[axis] - index + limit)
            if not variables(own) & vars_ and not loads(own):
                return {axis: own}
        return {a: None for a, vars_ in shared.items() if vars_} or dict.fromkeys(shared)

    def region_of(
        self, buffer: tvm.ir.Var, indices: list, loops: list[tirx.For]
    ) -> TensorRegion | None:
        """The box that a store covers over its element loops, if it is one."""
        ranges, left = [], {x.loop_var: x for x in loops}
        for index in indices:
            moving = variables(index) & {x.loop_var for x in loops}
            if not moving:
                ranges.append(Range.from_min_extent(index, 1))
                continue
            var = moving.pop()
            loop, form = left.pop(var, None), sym.detect_linear_equation(index, [var])
            if moving or loop is None or len(form) != 2:
                return None
            first = loop.min
            if is_const(form[0], -1):
                first = 1 - loop.extent - loop.min
            elif not is_const(form[0], 1):
                return None
            low = self.analyzer.simplify(form[1] + first)
            ranges.append(Range.from_min_extent(low, loop.extent))
        return tirx.BufferRegion(buffer, ranges)

    def first_element_loop(self) -> int:
        """Position of the outermost of the element loops right around a statement."""
        return len(self.loops) - len(self.nests)

    def smaller(self, extent: tvm.ir.Expr, limit: tvm.ir.Expr) -> tvm.ir.Expr:
        shorter = self.shows(limit <= extent)
        return self.analyzer.simplify(limit if shorter else tirx.min(extent, limit))


def _updated(
    value: tvm.ir.Expr, buffer: tvm.ir.Var, indices: list
) -> tuple[tvm.ir.Expr, list[tvm.ir.Expr]]:
    """Read a choice between a new value and the old one as the new value under a condition."""
    conditions = []
    while (parts := choice(value)) is not None:
        condition, yes, no = parts
        if same_element(no, buffer, indices):
            conditions.append(condition)
            value = yes
        elif same_element(yes, buffer, indices):
            conditions.append(tirx.Not(condition))
            value = no
        else:
            break
    return value, conditions


def where_exist(reads: list[OpenRead], stmt: tirx.Stmt) -> tirx.Stmt:
    """The statement for elements that exist."""
    conditions: list = []
    for read in reads:
        if not any(tvm_ffi.structural_equal(read.exists, known) for known in conditions):
            conditions.append(read.exists)
    for condition in conditions:
        stmt = tirx.IfThenElse(condition, stmt, None, stmt.span)
    return stmt


def same_place(one: tirx.BufferStore, other: tirx.BufferStore) -> bool:
    """Whether two stores write the same element."""
    return one.buffer.same_as(other.buffer) and all(
        tvm_ffi.structural_equal(a, b) for a, b in zip(one.indices, other.indices, strict=True)
    )


def _all(conditions: list[tvm.ir.Expr]) -> tvm.ir.Expr:
    return functools.reduce(tirx.And, conditions)

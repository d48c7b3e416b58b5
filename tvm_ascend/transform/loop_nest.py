# SPDX-License-Identifier: Apache-2.0
"""Perfect loop nests around one store: which regions they touch and what their guards mean."""

from __future__ import annotations

from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Range
from tvm.s_tir import SBlockRealize

from tvm_ascend import sym
from tvm_ascend.schedule.match import is_zero, strip_casts, variables
from tvm_ascend.transform.tile_args import is_const


@dataclass(frozen=True)
class Nest:
    """Serial loops, then guards, then one store."""

    extents: dict
    ranges: dict
    guard: tvm.ir.Expr | None
    store: tirx.BufferStore

    @staticmethod
    def of(stmt) -> Nest | None:
        """Read a statement as a nest, or return None."""
        extents, ranges, guard = {}, {}, None
        while True:
            if isinstance(stmt, tirx.For):
                if stmt.kind != tirx.ForKind.SERIAL or len(stmt.annotations) > 0:
                    return None
                extents[stmt.loop_var] = stmt.extent
                ranges[stmt.loop_var] = Range.from_min_extent(stmt.min, stmt.extent)
                stmt = stmt.body
            elif isinstance(stmt, SBlockRealize):
                if len(stmt.block.alloc_buffers) > 0 or len(stmt.block.iter_vars) > 0:
                    return None
                if not is_const(stmt.predicate, 1):
                    guard = stmt.predicate if guard is None else tirx.And(guard, stmt.predicate)
                stmt = stmt.block.body
            elif isinstance(stmt, tirx.IfThenElse) and stmt.else_case is None:
                guard = stmt.condition if guard is None else tirx.And(guard, stmt.condition)
                stmt = stmt.then_case
            elif isinstance(stmt, tirx.BufferStore) and all(
                is_const(r.min, 0) for r in ranges.values()
            ):
                return Nest(extents, ranges, guard, stmt)
            else:
                return None

    def covers(self, indices) -> bool:
        """Whether every loop longer than 1 moves exactly one index."""
        used = [v for index in indices for v in variables(index) & set(self.extents)]
        return len(used) == len(set(used)) and set(self.extents) - set(used) <= self.unit

    @property
    def unit(self) -> set:
        """Loops of one iteration."""
        return {v for v, extent in self.extents.items() if is_const(extent, 1)}

    def same_order(self, indices) -> bool:
        """Whether ``indices`` walk the loops in the same order as the store's."""

        def order(of):
            return [v for index in of for v in variables(index) & set(self.extents) - self.unit]

        return self.covers(indices) and order(indices) == order(self.store.indices)

    def padded_value(self, bounds: dict):
        """The stored value, without an ``if_then_else`` that only pads a tensor with zeros."""
        value = self.store.value
        if not (isinstance(value, tvm.ir.Call) and value.op.name == "prim.if_then_else"):
            return value
        condition, inside, outside = value.args
        load = strip_casts(inside)
        if isinstance(load, tvm.ir.TensorLoad) and is_zero(outside):
            access = (load.source, load.indices)
            if implied_by_bounds(condition, *access, {**bounds, **self.ranges}):
                return inside
        return value


class Writers:
    """How many stores each buffer has, and the first source line a function still knows."""

    def __init__(self, func: tirx.PrimFunc):
        self._count: dict = {}
        self.first_span = None

        def seen(store: tirx.BufferStore) -> None:
            self._count[store.buffer] = self._count.get(store.buffer, 0) + 1
            if self.first_span is None and store.span is not None:
                self.first_span = store.span

        tvm_ffi.structural_walk(func.body, [(tirx.BufferStore, seen)])

    def count(self, buffer) -> int:
        """Number of stores to a buffer."""
        return self._count.get(buffer, 0)


def region(buffer, indices, extents: dict) -> tvm.ir.TensorRegion | None:
    """The box that ``indices`` sweep over the loops, or None when it is no box of unit steps."""
    ranges = []
    for index in indices:
        moving = list(variables(index) & set(extents))
        if len(moving) > 1:
            return None
        if not moving:
            ranges.append(Range.from_min_extent(index, 1))
            continue
        linear = sym.detect_linear_equation(index, moving)
        if len(linear) != 2 or not is_const(linear[0], 1):
            return None
        ranges.append(Range.from_min_extent(sym.Analyzer().simplify(linear[1]), extents[moving[0]]))
    return tirx.BufferRegion(buffer, ranges)


def implied_by_bounds(guard, buffer, indices, ranges: dict) -> bool:
    """Whether the guard holds wherever loops are in range and the access not past its tensor's end.

    A tile may run past the end of a tensor, where copies clip, but must not start before it.
    """
    analyzer = sym.Analyzer()
    for var, r in ranges.items():
        analyzer.bind(var, r)
    inside = tirx.IntImm("bool", 1)
    for index, extent in zip(indices, buffer.shape, strict=True):
        inside = tirx.And(inside, index < extent)
    with analyzer.constraint_scope(inside):
        return all(analyzer.can_prove(part) for part in conjuncts(guard))


def conjuncts(condition) -> list:
    """The parts of a conjunction."""
    if isinstance(condition, tirx.And):
        return [*conjuncts(condition.a), *conjuncts(condition.b)]
    return [condition]

# SPDX-License-Identifier: Apache-2.0
"""One store of an element loop, element-wise or accumulating, as vector instructions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import tvm
from tvm import tirx

from tvm_ascend.isa.dtypes import is_float
from tvm_ascend.isa.instr import Space
from tvm_ascend.schedule.match import loads
from tvm_ascend.transform.access import Access, constant, dtype_of, substitute
from tvm_ascend.transform.cast_path import cast_path
from tvm_ascend.transform.element_store import KIND_OF_NODE, ElementStore, affine
from tvm_ascend.transform.evaluate import Evaluator, compute_dtype
from tvm_ascend.transform.lane_ops import binary, in_chunks, with_scalar
from tvm_ascend.transform.nest import (
    LANE,
    LANES,
    ROW,
    ROWS,
    TILE,
    UNIT,
    Loop,
    Nest,
    gm_view,
    split_nest,
)
from tvm_ascend.transform.reduce_tree import KINDS, fold_columns, fold_pays, identity, reduce_run
from tvm_ascend.transform.select_move import load as load_tile
from tvm_ascend.transform.select_move import store as store_tile
from tvm_ascend.transform.selection import NotVectorizable, Selection, limit, supports
from tvm_ascend.transform.tile_args import sequence
from tvm_ascend.transform.tile_columns import by_columns, columns_pay
from tvm_ascend.transform.values import Value


def select_store(ctx: Selection, loops: list[Loop], store: ElementStore) -> list[tirx.Stmt]:
    """Select the instructions of one store inside ``loops``, outermost first.

    Whole tiles at a time where the temporaries fit, else row by row.
    """
    made = len(ctx.allocations)
    before = ctx.temporary_bytes()
    try:
        stmts = _select(ctx, loops, store, whole=True)
        if ctx.temporary_bytes() - before <= ctx.room:
            return stmts
    except NotVectorizable:
        pass
    del ctx.allocations[made:]
    return _select(ctx, loops, store, whole=False)


def _select(ctx: Selection, loops: list[Loop], store: ElementStore, whole: bool) -> list[tirx.Stmt]:
    variables = [v for v, _ in loops]
    dst = affine(store.buffer, store.indices, variables)
    accesses = [affine(x.source, x.indices, variables) for x in loads(store.value)]
    fixed = {v for v in variables if v not in dst.strides}
    nest = split_nest(ctx, loops, [dst, *accesses], fixed)
    reduces_lanes = bool(store.kind) and bool(nest.lanes) and nest.lanes[0][0] in fixed
    first: list[tirx.Stmt] = []
    if store.clear and (not reduces_lanes or any(v in fixed for v, _ in nest.outer)):
        kept = [x for x in loops if x[0] not in fixed]
        start = identity(store.kind, dtype_of(store.buffer))
        first = _select(ctx, kept, ElementStore(store.buffer, store.indices, start), whole)
        store = replace(store, clear=False)
    one = _Store(ctx, nest, store, fixed, whole and nest.row is not None)
    stmts = one.reduce_lanes() if reduces_lanes else one.element_wise()
    return first + around(ctx, nest.outer, stmts)


def around(ctx: Selection, loops: tuple, stmts: list[tirx.Stmt]) -> list[tirx.Stmt]:
    """Put serial loops around statements."""
    for var, extent in reversed(loops):
        body = sequence(stmts)
        stmts = [tirx.For(var, 0, extent, tirx.ForKind.SERIAL, body, span=ctx.span)]
    return stmts


@dataclass
class _Place:
    """Where a store writes in UB, and what moves it from and to global memory."""

    access: Access
    before: list[tirx.Stmt]
    after: list[tirx.Stmt]


class _Store:
    """Selection of one store, its loops being split."""

    def __init__(
        self, ctx: Selection, nest: Nest, store: ElementStore, fixed: set, whole: bool
    ) -> None:
        self.ctx = ctx
        self.nest = nest
        self.store = store
        self.fixed = fixed
        self.whole = whole
        self.values = Evaluator(ctx, nest, whole)
        variables = [v for v, _ in nest.tile_loops]
        self.dst = affine(store.buffer, store.indices, variables)

    def place(self, load_old: bool) -> _Place:
        """Return the destination; a tensor in global memory is staged."""
        if self.dst.space is Space.UB:
            return _Place(self.dst, [], [])
        if self.dst.space is not Space.GM:
            raise NotVectorizable(f"`{self.dst.buffer.name}` is in {self.dst.space}, not in UB")
        view, extents = gm_view(self.dst, self.nest.tile_loops)
        staged, along = self.values.staging(self.dst, extents, f"{self.dst.buffer.name}_out")
        before = load_tile(self.ctx, staged, view, extents, True) if load_old else []
        return _Place(along, before, store_tile(self.ctx, view, staged, extents, True))

    def element_wise(self) -> list[tirx.Stmt]:
        """Store, or accumulate in place, run by run."""
        place = self.place(bool(self.store.kind))
        values, into = self.values, place.access
        self.check_reachable(into)
        if self.store.kind:
            self._accumulate(into)
        else:
            value = values.evaluate(self.store.value, into)
            value = values.cast(value, into.dtype, into)
            values.finish(value, into)
        return [*place.before, *values.statements(), *place.after]

    def check_reachable(self, access: Access) -> None:
        """Refuse a destination that vector instructions cannot address."""
        if not self.values.reachable(access, self.nest.domain(access)):
            raise NotVectorizable(f"`{access.buffer.name}` is not at a 32-byte boundary")

    def _accumulate(self, into: Access) -> None:
        ctx, values, key = self.ctx, self.values, KINDS[self.store.kind]
        if compute_dtype(key, into.dtype) != into.dtype:
            raise NotVectorizable(f"there is no {into.dtype} {key}")
        value = values.cast(values.evaluate(self.store.value), into.dtype)
        domain = TILE if self.nest.row else LANES if self.nest.lanes else UNIT
        dst = Value(into.dtype, self.nest.domain(into), access=into)
        if value.expr is not None:
            values.apply(
                domain,
                [dst],
                lambda at, n: with_scalar(ctx, key, at[0].address, at[0], value.expr, n, False),
            )
        elif domain == TILE and columns_pay(values, key, [dst, value]):
            values.before += by_columns(values, key, dst, value, dst)
        else:
            values.apply(
                domain,
                [dst, value],
                lambda at, n: binary(ctx, key, at[0].address, at[1], at[0], n),
            )

    def reduce_lanes(self) -> list[tirx.Stmt]:
        """Reduce every run to one element, then combine with the destination."""
        kind, values = self.store.kind, self.values
        wide = _reduce_dtype(kind, self.dst.dtype)
        value = values.cast(values.evaluate(self.store.value), wide)
        by_row = self.nest.row is not None
        value = self._along_lanes(value)
        direct = self._direct(wide)
        if direct:
            partial = Value(wide, ROWS if by_row else UNIT, access=self.dst)
        else:
            partial = values.temporary(ROWS if by_row else UNIT, wide)
        self._reduce_runs(kind, partial, value)
        stmts = values.statements()
        if direct:
            return stmts
        if by_row and self.nest.row[0] in self.fixed:
            partial, more = self._reduce_rows(kind, partial)
            stmts += more
        return stmts + self._combine(partial)

    def _along_lanes(self, value: Value) -> Value:
        """Spread a value that is the same in every lane."""
        if LANE in value.domain:
            return value
        target = self.values.temporary(TILE if ROW in value.domain else LANES, value.dtype)
        self.values.spread(value, target)
        return target

    def _direct(self, wide: str) -> bool:
        """Whether results can be written to the destination at once."""
        row_fixed = self.nest.row is not None and self.nest.row[0] in self.fixed
        in_ub = self.dst.space is Space.UB and self.dst.dtype == wide
        return self.store.clear and in_ub and not row_fixed

    def _reduce_runs(self, kind: str, partial: Value, value: Value) -> None:
        ctx, nest, values = self.ctx, self.nest, self.values
        if nest.row is None:
            dst = values.address(partial.access, UNIT)
            src = values.address(value.access, LANES)
            values.before += reduce_run(ctx, kind, dst, src, nest.count)
            return
        count, lanes = constant(nest.count), ctx.lanes(value.dtype)
        step = partial.access.stride(nest.row[0])
        if not values.per_row and count is not None and isinstance(step, int):
            if count > lanes and fold_pays(values, kind, value):
                value, count = fold_columns(values, kind, value), lanes
            if count <= lanes and value.domain == TILE and values.pitch(value):
                values.before += self._narrow_rows(kind, partial, value, count, step)
                return
        if value.domain == TILE and not self.whole:
            dst = partial.access.at(nest.lanes_at_zero, ctx.analyzer)
            src = values.address(value.access, TILE)
            values.per_row += reduce_run(ctx, kind, dst, src, nest.count)
            return
        row = tirx.Var(nest.row[0].name, str(nest.row[0].ty.dtype))
        ctx.analyzer.bind(row, tvm.ir.Range(0, nest.rows))
        dst = partial.access.at({**nest.lanes_at_zero, **values.at_row(row)}, ctx.analyzer)
        src = values.address(value.access, TILE, row)
        body = reduce_run(ctx, kind, dst, src, nest.count)
        values.before += around(ctx, ((row, nest.rows),), body)

    def _narrow_rows(
        self, kind: str, partial: Value, value: Value, count: int, step: int
    ) -> list[tirx.Stmt]:
        """Reduce rows that fit one repeat, a row per repeat."""
        ctx, key = self.ctx, f"whole_reduce_{kind}"
        blocks = self.values.pitch(value) // ctx.block(value.dtype)

        def piece(first: object, repeat: object) -> tirx.Stmt:
            at = {**self.nest.lanes_at_zero, **self.values.at_row(first)}
            addresses = [v.access.at(at, ctx.analyzer) for v in (partial, value)]
            return ctx.emit(key, *addresses, count, repeat, step, 1, blocks)

        return in_chunks(ctx, self.nest.rows, limit(key, "repeat"), piece)

    def _reduce_rows(self, kind: str, partial: Value) -> tuple[Value, list[tirx.Stmt]]:
        """Reduce the results of all rows to one."""
        after = Evaluator(self.ctx, self.nest, self.whole)
        total = after.temporary(UNIT, partial.dtype)
        dst = after.address(total.access, UNIT)
        src = after.address(partial.access, ROWS)
        after.before += reduce_run(self.ctx, kind, dst, src, self.nest.rows)
        return total, after.statements()

    def _combine(self, partial: Value) -> list[tirx.Stmt]:
        """Write results to the destination, with the old elements unless cleared."""
        domain = partial.domain
        place = self.place(not self.store.clear)
        values = Evaluator(self.ctx, self.nest, self.whole)
        into = place.access
        if not values.reachable(into, domain):
            return self._combine_scalar(partial)
        if self.store.clear:
            values.finish(values.cast(partial, into.dtype, into), into)
        else:
            old = Value(into.dtype, domain, access=into)
            key = KINDS[self.store.kind]
            value = values.combine(key, old, values.cast(partial, into.dtype), into.dtype, into)
            values.finish(values.cast(value, into.dtype, into), into)
        return [*place.before, *values.statements(), *place.after]

    def _combine_scalar(self, partial: Value) -> list[tirx.Stmt]:
        """Combine element by element on the scalar unit, for elements off block boundaries."""
        store, loops, fresh = self.store, (), {}
        if ROW in partial.domain:
            var, rows = self.nest.row
            fresh = {var: tirx.Var(var.name, str(var.ty.dtype))}
            loops = ((fresh[var], rows),)
        node = next(n for n, k in KIND_OF_NODE.items() if k == store.kind)
        indices = [substitute(i, fresh) for i in store.indices]
        new = partial.access.at(fresh, self.ctx.analyzer)
        new = new if partial.dtype == self.dst.dtype else tirx.Cast(self.dst.dtype, new)
        value = new if store.clear else node(tirx.BufferLoad(store.buffer, indices), new)
        stmt = tirx.BufferStore(store.buffer, value, indices, self.ctx.span)
        return around(self.ctx, loops, [stmt])


def _reduce_dtype(kind: str, dtype: str) -> str:
    """Return the dtype a reduction runs in; sums of 16-bit floats run in float32."""
    key = f"whole_reduce_{kind}"
    if supports(key, dtype) and not (kind == "sum" and dtype == "float16"):
        return dtype
    if is_float(dtype) and cast_path(dtype, "float32") is not None:
        return "float32"
    raise NotVectorizable(f"no instruction reduces {dtype}")

# SPDX-License-Identifier: Apache-2.0
"""Nests of parallel element loops, and single element statements, as vector instructions."""

from __future__ import annotations

from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import tirx

from tvm_ascend.isa.instr import Space
from tvm_ascend.language.loops import is_parallel
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.match import is_zero, loads
from tvm_ascend.transform.access import constant, dtype_of, substitute
from tvm_ascend.transform.element_store import ElementStore, element_store
from tvm_ascend.transform.guards import cut_loops, guarded
from tvm_ascend.transform.nest import Loop
from tvm_ascend.transform.reduce_tree import identity
from tvm_ascend.transform.select_elements import select_store
from tvm_ascend.transform.selection import NotVectorizable, Selection
from tvm_ascend.transform.tile_args import as_region


@dataclass(frozen=True)
class _Item:
    """One store of a nest, with its own loops and what must hold for it to run."""

    loops: list[Loop]
    guards: list
    store: tirx.BufferStore


def select_loops(ctx: Selection, stmt: tirx.For, clear: bool = False) -> list[tirx.Stmt]:
    """Select a nest of parallel loops around stores; the stores are selected one by one.

    With ``clear`` an accumulating store starts from nothing.
    """
    items = _open(ctx, stmt)
    elements = [element_store(i.store, [v for v, _ in i.loops]) for i in items]
    _check_independent([i.store for i in items], elements)
    stmts: list[tirx.Stmt] = []
    for item, element in zip(items, elements, strict=True):
        ctx.span = item.store.span or stmt.span
        fresh = {v: tirx.Var(v.name, str(v.ty.dtype)) for v, _ in item.loops}
        loops = [(fresh[v], e) for v, e in item.loops]
        for var, extent in loops:
            ctx.analyzer.bind(var, tvm.ir.Range(0, extent))
        indices = tuple(substitute(i, fresh) for i in element.indices)
        value = substitute(element.value, fresh)
        renamed = ElementStore(element.buffer, indices, value, element.kind, clear)
        stmts += guarded(ctx, item.guards, select_store(ctx, loops, renamed))
    return stmts


def select_statement(ctx: Selection, stmt: tirx.BufferStore) -> list[tirx.Stmt]:
    """Select a store outside any element loop as instructions on one element."""
    reads_ub = any(space_of(x.source) is Space.UB for x in loads(stmt.value))
    if space_of(stmt.buffer) is not Space.UB and not reads_ub:
        raise NotVectorizable("it is in no parallel loop")
    return select_store(ctx, [], ElementStore(stmt.buffer, tuple(stmt.indices), stmt.value))


def clears_for(fill: tirx.Stmt, loop: tirx.Stmt) -> bool:
    """Whether a statement clears exactly the elements that a loop then accumulates into."""
    if key_of(fill) != "tile_fill" or not isinstance(loop, tirx.For):
        return False
    loops: dict = {}
    while is_parallel(loop) and is_zero(loop.min):
        loops[loop.loop_var] = loop.extent
        loop = loop.body
    region, value = fill.value.args
    if not isinstance(loop, tirx.BufferStore) or not loop.buffer.same_as(region.source):
        return False
    try:
        element = element_store(loop, list(loops))
    except NotVectorizable:
        return False
    start = identity(element.kind, dtype_of(loop.buffer)) if element.kind else None
    if start is None or not tvm_ffi.structural_equal(start, value):
        return False
    return all(
        tvm_ffi.structural_equal(index, r.min)
        if constant(r.extent) == 1
        else constant(r.min) == 0 and tvm_ffi.structural_equal(loops.get(index), r.extent)
        for index, r in zip(loop.indices, as_region(region).region, strict=True)
    )


def _open(ctx: Selection, stmt: tirx.Stmt) -> list[_Item]:
    """Split a perfect nest into its stores and their loops from 0; loops of one step vanish."""
    loops: list[Loop] = []
    values: dict = {}
    while isinstance(stmt, tirx.For):
        if not is_parallel(stmt):
            raise NotVectorizable("it contains a loop that is not parallel")
        ctx.analyzer.bind(stmt.loop_var, tvm.ir.Range.from_min_extent(stmt.min, stmt.extent))
        extent = substitute(stmt.extent, values)
        if constant(extent) == 1:
            values[stmt.loop_var] = stmt.min
        else:
            loops.append((stmt.loop_var, extent))
            if constant(stmt.min) != 0:
                values[stmt.loop_var] = stmt.loop_var + stmt.min
        stmt = stmt.body
    items: list[_Item] = []
    _collect(ctx, stmt, loops, [], values, items)
    return items


def _collect(
    ctx: Selection, stmt: tirx.Stmt, loops: list[Loop], guards: list, values: dict, items: list
) -> None:
    if isinstance(stmt, tirx.SeqStmt):
        for part in stmt.seq:
            _collect(ctx, part, loops, guards, values, items)
    elif isinstance(stmt, tirx.Bind):
        values[stmt.var] = substitute(stmt.value, values)
    elif isinstance(stmt, tirx.BufferStore):
        items.append(_Item(loops, guards, _replaced(stmt, values)))
    elif isinstance(stmt, tirx.IfThenElse) and stmt.else_case is None:
        loops, more = cut_loops(ctx, loops, substitute(stmt.condition, values))
        _collect(ctx, stmt.then_case, loops, [*guards, *more], values, items)
    else:
        raise NotVectorizable(f"it contains a statement of kind {type(stmt).__name__}")


def _replaced(store: tirx.BufferStore, values: dict) -> tirx.BufferStore:
    if not values:
        return store
    indices = [substitute(i, values) for i in store.indices]
    return tirx.BufferStore(store.buffer, substitute(store.value, values), indices, store.span)


def _check_independent(stores: list[tirx.BufferStore], elements: list[ElementStore]) -> None:
    """Refuse stores whose split into one loop each could change what an iteration reads."""
    written = {s.buffer: s for s in stores}
    for store in stores:
        if not _same_element(written[store.buffer], store.buffer, store.indices):
            raise NotVectorizable(f"`{store.buffer.name}` is stored at several places")
    for store, element in zip(stores, elements, strict=True):
        reads = loads(element.value)
        for load in [*reads, *(x for i in store.indices for x in loads(i))]:
            writer = written.get(load.source)
            if writer is None:
                continue
            if not _same_element(writer, load.source, load.indices):
                raise NotVectorizable(f"`{load.source.name}` is read at another place than stored")
            if any(e.kind and e.buffer.same_as(load.source) for e in elements):
                raise NotVectorizable(f"`{load.source.name}` is read while it accumulates")


def _same_element(store: tirx.BufferStore, buffer: tvm.ir.Var, indices: list) -> bool:
    same = store.buffer.same_as(buffer)
    return same and all(
        tvm_ffi.structural_equal(a, b) for a, b in zip(store.indices, indices, strict=True)
    )

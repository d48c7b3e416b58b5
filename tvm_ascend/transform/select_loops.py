# SPDX-License-Identifier: Apache-2.0
"""Nests of parallel element loops, and single element statements, as vector instructions."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx

from tvm_ascend.isa.instr import Space
from tvm_ascend.language.loops import PARALLEL
from tvm_ascend.layout.scope import space_of
from tvm_ascend.transform.access import constant, substitute
from tvm_ascend.transform.nest import Loop
from tvm_ascend.transform.select_elements import (
    ElementStore,
    element_store,
    loads_of,
    select_store,
)
from tvm_ascend.transform.selection import NotVectorizable, Selection


def select_loops(ctx: Selection, stmt: tirx.For) -> list[tirx.Stmt]:
    """Select a nest of parallel loops around stores; the stores are selected one by one."""
    loops, stores = _open(ctx, stmt)
    variables = [v for v, _ in loops]
    elements = [element_store(s, variables) for s in stores]
    _check_independent(stores, elements)
    stmts: list[tirx.Stmt] = []
    for original, element in zip(stores, elements, strict=True):
        ctx.span = original.span or stmt.span
        fresh = {v: tirx.Var(v.name, str(v.ty.dtype)) for v in variables}
        renamed = [(fresh[v], e) for v, e in loops]
        for var, extent in renamed:
            ctx.analyzer.bind(var, tvm.ir.Range(0, extent))
        indices = tuple(substitute(i, fresh) for i in element.indices)
        value = substitute(element.value, fresh)
        stmts += select_store(
            ctx, renamed, ElementStore(element.buffer, indices, value, element.kind)
        )
    return stmts


def select_statement(ctx: Selection, stmt: tirx.BufferStore) -> list[tirx.Stmt]:
    """Select a store outside any element loop as instructions on one element."""
    if not any(space_of(x.source) is Space.UB for x in loads_of(stmt.value)):
        raise NotVectorizable("the value is a scalar")
    return select_store(ctx, [], ElementStore(stmt.buffer, tuple(stmt.indices), stmt.value))


def _open(ctx: Selection, stmt: tirx.Stmt) -> tuple[list[Loop], list[tirx.BufferStore]]:
    """Split a perfect nest into its loops from 0 and its stores; loops of one step vanish."""
    loops: list[Loop] = []
    values: dict = {}
    while isinstance(stmt, tirx.For):
        if PARALLEL not in stmt.annotations:
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
    body = list(stmt.seq) if isinstance(stmt, tirx.SeqStmt) else [stmt]
    stores = []
    for item in body:
        if isinstance(item, tirx.Bind):
            values[item.var] = substitute(item.value, values)
        elif isinstance(item, tirx.BufferStore):
            stores.append(_replaced(item, values))
        else:
            raise NotVectorizable(f"it contains a statement of kind {type(item).__name__}")
    return loops, stores


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
        reads = loads_of(element.value)
        for load in [*reads, *(x for i in store.indices for x in loads_of(i))]:
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

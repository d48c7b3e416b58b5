# SPDX-License-Identifier: Apache-2.0
"""Allocate a tile in the pipelined loop that fills it, so that it can have several versions."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.errors import where
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.loops import NUM_STAGES, is_parallel
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.match import loads
from tvm_ascend.transform.access import constant
from tvm_ascend.transform.notes import note
from tvm_ascend.transform.tile_args import as_region, is_const, resized, sequence

_TARGET = {"tile_copy": 1, "tile_fill": 0, "tile_gemm": 0, "tile_reduce": 0}


@prim_func_pass(opt_level=0, name="ascend.SinkTiles")
class SinkTiles:
    """Move allocations into pipelined loops.

    Before::

        a = T.alloc_buffer((64,), scope="local.fragment")
        for k in T.serial(8, annotations={"ascend.num_stages": 2}):
            T.ascend.tile_copy(A[k, 0:64], a[0:64])
            use(a)

    After::

        for k in T.serial(8, annotations={"ascend.num_stages": 2}):
            a = T.alloc_buffer((64,), scope="local.fragment")
            T.ascend.tile_copy(A[k, 0:64], a[0:64])
            use(a)

    A tile moves if whatever uses it starts by overwriting all of it. One that a pipelined loop
    loads and that cannot move is noted. Runs before MapCores.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        def sink(stmt: tirx.SeqStmt, mutator: object) -> tirx.Stmt:
            return mutator.default_mutate(sequence(_sunk(list(stmt.seq)), stmt.span))

        body = tvm_ffi.structural_mutate(func.body, [(tirx.SeqStmt, sink)])
        return note(func.with_body(body, func.span), *_left_outside(body))


def _sunk(parts: list[tirx.Stmt]) -> list[tirx.Stmt]:
    """Statements with those of their allocations moved into loops that can move."""
    for alloc in [p for p in parts if isinstance(p, tirx.AllocBuffer)]:
        if alloc.buffer.scope() == "local":  # a variable
            continue
        moved = _into(parts, alloc)
        if moved is not None and any(_is_pipelined(p, alloc.buffer) for p in parts):
            parts = [p for p in moved if not p.same_as(alloc)]
    return parts


def _into(parts: list[tirx.Stmt], alloc: tirx.AllocBuffer) -> list[tirx.Stmt] | None:
    """Statements that each hold an allocation of their own, or None where one reads before."""
    result, first = [], True
    for part in parts:
        if part.same_as(alloc) or not _names(part, alloc.buffer):
            result.append(part)
            continue
        if not isinstance(part, tirx.For) or is_parallel(part) or not _overwrites(part, alloc):
            return None
        own = alloc if first else tirx.AllocBuffer(
            resized(alloc.buffer), alloc.annotations, alloc.span
        )  # fmt: skip
        result.append(_with_allocation(part, alloc, own))
        first = False
    return result


def _with_allocation(loop: tirx.For, alloc: tirx.AllocBuffer, own: tirx.AllocBuffer) -> tirx.For:
    body = tvm_ffi.structural_map(
        loop.body, [(tirx.Var, lambda v: own.buffer if v.same_as(alloc.buffer) else v)]
    )
    parts = list(body.seq) if isinstance(body, tirx.SeqStmt) else [body]
    return tirx.For(
        loop.loop_var, loop.min, loop.extent, loop.kind, tirx.SeqStmt([own, *parts], body.span),
        loop.thread_binding, loop.annotations, loop.step, loop.span,
    )  # fmt: skip


def _is_pipelined(stmt: tirx.Stmt, buffer: tvm.ir.Var) -> bool:
    """Whether a pipelined loop of a statement uses a buffer."""
    found: list = []

    def loop(node: tirx.For) -> None:
        if int(node.annotations.get(NUM_STAGES, 1)) > 1 and _names(node, buffer):
            found.append(node)

    tvm_ffi.structural_walk(stmt, [(tirx.For, loop)])
    return bool(found)


def _names(node: object, buffer: tvm.ir.Var) -> bool:
    found: list = []
    tvm_ffi.structural_walk(node, [(tirx.Var, lambda v: found.append(v.same_as(buffer)))])
    return any(found)


def _overwrites(stmt: tirx.Stmt, alloc: tirx.AllocBuffer) -> bool:
    """Whether a statement that uses a buffer writes all of it before it reads any."""
    buffer = alloc.buffer
    if isinstance(stmt, tirx.SeqStmt):
        users = [p for p in stmt.seq if _names(p, buffer)]
        runs = not isinstance(users[0], tirx.For) or (constant(users[0].extent) or 0) > 0
        return (runs or len(users) == 1) and _overwrites(users[0], alloc)
    if isinstance(stmt, tirx.For) and not is_parallel(stmt):
        outside = any(_names(x, buffer) for x in (stmt.min, stmt.extent))
        return not outside and _overwrites(stmt.body, alloc)
    if isinstance(stmt, tirx.Evaluate):
        return _operation_overwrites(stmt, buffer)
    return _elements_overwrite(stmt, buffer)


def _operation_overwrites(stmt: tirx.Evaluate, buffer: tvm.ir.Var) -> bool:
    key = key_of(stmt)
    if key not in _TARGET:
        return False
    args = list(stmt.value.args)
    target = as_region(args.pop(_TARGET[key]))
    if key in ("tile_reduce", "tile_gemm") and not is_const(args[-1], 1):
        return False
    whole = all(
        is_const(r.min, 0) and constant(r.extent) == constant(n) is not None
        for r, n in zip(target.region, target.source.ty.shape, strict=True)
    )
    return whole and target.source.same_as(buffer) and not any(_names(a, buffer) for a in args)


def _elements_overwrite(stmt: tirx.Stmt, buffer: tvm.ir.Var) -> bool:
    extents: dict = {}
    while is_parallel(stmt) and is_const(stmt.min, 0):
        extents[stmt.loop_var] = constant(stmt.extent)
        stmt = stmt.body
    if not isinstance(stmt, tirx.BufferStore) or not stmt.buffer.same_as(buffer):
        return False
    whole = all(
        extents.pop(i, 1 if is_const(i, 0) else None) == constant(n) is not None
        for i, n in zip(stmt.indices, buffer.ty.shape, strict=True)
    )
    return whole and not any(x.source.same_as(buffer) for x in loads(stmt.value))


def _left_outside(body: tirx.Stmt) -> list[str]:
    """Notes about tiles that a pipelined loop loads and that live outside of it."""
    notes: list[str] = []

    def loop(node: tirx.For) -> None:
        if int(node.annotations.get(NUM_STAGES, 1)) < 2:
            return
        own: list = []
        tvm_ffi.structural_walk(node, [(tirx.AllocBuffer, lambda a: own.append(a.buffer))])

        def copy(stmt: tirx.Evaluate) -> None:
            if key_of(stmt) != "tile_copy":
                return
            src, dst = (as_region(a).source for a in stmt.value.args)
            loaded = space_of(src) is Space.GM and space_of(dst) is not Space.GM
            if loaded and not any(dst.same_as(b) for b in own):
                notes.append(
                    f"Pipeline: `{dst.name}` has one version in the loop ({where(node.span)}), "
                    "because it is used outside or before it is overwritten; allocate it in the "
                    "loop"
                )

        tvm_ffi.structural_walk(node.body, [(tirx.Evaluate, copy)])

    tvm_ffi.structural_walk(body, [(tirx.For, loop)])
    return notes

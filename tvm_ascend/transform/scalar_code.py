# SPDX-License-Identifier: Apache-2.0
"""Statements as element-by-element code of the scalar unit."""

from __future__ import annotations

import functools

import tvm
from tvm import tirx

from tvm_ascend.isa.instr import Space
from tvm_ascend.language.loops import PARALLEL
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.transform.access import constant
from tvm_ascend.transform.guards import guarded
from tvm_ascend.transform.reduce_tree import identity
from tvm_ascend.transform.selection import Selection
from tvm_ascend.transform.tile_args import as_region, sequence
from tvm_ascend.transform.tile_view import loop_over

_NODE_OF_KIND = {"sum": tirx.Add, "max": tirx.Max, "min": tirx.Min}


def scalar_loop(loop: tirx.For) -> tirx.For:
    """Return a loop of any kind as a plain serial one."""
    if PARALLEL not in loop.annotations and loop.kind == tirx.ForKind.SERIAL:
        return loop
    return tirx.For(
        loop.loop_var,
        loop.min,
        loop.extent,
        tirx.ForKind.SERIAL,
        loop.body,
        loop.thread_binding,
        {k: v for k, v in loop.annotations.items() if k != PARALLEL},
        loop.step,
        loop.span,
    )


def scalar_tile_op(ctx: Selection, call: tvm.ir.Call) -> tirx.Stmt:
    """Return a tile operation as loops over single elements."""
    stmts = _SCALAR[key_of(call)](ctx, call)
    return sequence(stmts)


def _cast(value: tvm.ir.Expr, dtype: object) -> tvm.ir.Expr:
    return value if value.ty.dtype == dtype else tirx.Cast(str(dtype), value)


def _element(region: object, values: list) -> list:
    """Return the indices of an element; unit dimensions take no loop variable."""
    left = iter(values)
    ranges = as_region(region).region
    return [r.min if constant(r.extent) == 1 else r.min + next(left) for r in ranges]


def _extents(region: object) -> list:
    return [r.extent for r in as_region(region).region if constant(r.extent) != 1]


def _inside(region: object, indices: list) -> list[tvm.ir.Expr]:
    """Where a tile that starts inside its tensor in global memory has not run past the end."""
    if space_of(region.source) is not Space.GM:
        return []
    ranges, shape = as_region(region).region, region.source.ty.shape
    return [
        tirx.Or(i < size, r.min >= size)
        for i, r, size in zip(indices, ranges, shape, strict=True)
        if constant(r.extent) != 1
    ]


def _copy(ctx: Selection, call: tvm.ir.Call) -> list[tirx.Stmt]:
    src, dst = call.args

    def body(at: list) -> list[tirx.Stmt]:
        source, target = _element(src, at), _element(dst, at)
        dtype = dst.source.ty.dtype
        value = _cast(tirx.BufferLoad(src.source, source), dtype)
        copy = tirx.BufferStore(dst.source, value, target, ctx.span)
        if inside := _inside(src, source):
            zero = tirx.BufferStore(dst.source, tirx.const(0, str(dtype)), target, ctx.span)
            copy = tirx.IfThenElse(functools.reduce(tirx.And, inside), copy, zero, ctx.span)
        return guarded(ctx, _inside(dst, target), [copy])

    return loop_over(ctx, _extents(dst), body)


def _fill(ctx: Selection, call: tvm.ir.Call) -> list[tirx.Stmt]:
    dst, value = call.args
    return loop_over(
        ctx,
        _extents(dst),
        lambda at: [tirx.BufferStore(dst.source, value, _element(dst, at), ctx.span)],
    )


def _reduce(ctx: Selection, call: tvm.ir.Call) -> list[tirx.Stmt]:
    dst, src, kind, axis, clear = call.args
    kind, dtype = str(kind.value), dst.source.ty.dtype
    dims = [k for k, r in enumerate(as_region(src).region) if constant(r.extent) != 1]

    def body(at: list) -> list[tirx.Stmt]:
        kept = [v for k, v in zip(dims, at, strict=True) if k != constant(axis)]
        target = _element(dst, kept)
        new = _cast(tirx.BufferLoad(src.source, _element(src, at)), dtype)
        value = _NODE_OF_KIND[kind](tirx.BufferLoad(dst.source, target), new)
        return [tirx.BufferStore(dst.source, value, target, ctx.span)]

    stmts = loop_over(ctx, _extents(src), body)
    if not clear.value:
        return stmts
    start = identity(kind, str(dtype))
    first = loop_over(
        ctx,
        _extents(dst),
        lambda at: [tirx.BufferStore(dst.source, start, _element(dst, at), ctx.span)],
    )
    return first + stmts


_SCALAR = {"tile_copy": _copy, "tile_fill": _fill, "tile_reduce": _reduce}

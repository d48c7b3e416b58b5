# SPDX-License-Identifier: Apache-2.0
"""Reduce a run of elements to one, by repeats that reduce to partial results."""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend.transform.access import constant, dtype_of
from tvm_ascend.transform.lane_ops import Run, advance, in_chunks
from tvm_ascend.transform.selection import NotVectorizable, Selection, limit

KINDS = {"sum": "add", "max": "max", "min": "min"}


def reduce_run(
    ctx: Selection, kind: str, dst: TensorLoad, src: TensorLoad, count: object
) -> list[tirx.Stmt]:
    """Reduce ``count`` contiguous elements at ``src`` to the element at ``dst``."""
    dtype = dtype_of(src.source)
    lanes = ctx.lanes(dtype)
    upper = ctx.upper(count)
    if upper is None:
        raise NotVectorizable("the length of the reduction has no upper bound")
    stmts: list[tirx.Stmt] = []
    while upper > lanes:
        partials = ctx.simplify((count + (lanes - 1)) // lanes)
        upper = -(-upper // lanes)
        block = ctx.block(dtype)
        buffer = ctx.alloc((-(-upper // block) * block,), dtype)
        to = tirx.BufferLoad(buffer, [0])
        stmts += one_level(ctx, kind, to, src, count)
        src, count = to, partials
    return stmts + one_level(ctx, kind, dst, src, count)


def one_level(
    ctx: Selection, kind: str, dst: TensorLoad, src: TensorLoad, count: object
) -> list[tirx.Stmt]:
    """Reduce every repeat of a run to one element; the last repeat may be partial."""
    key = f"whole_reduce_{kind}"
    lanes = ctx.lanes(dtype_of(src.source))
    full, tail = ctx.simplify(count // lanes), ctx.simplify(count % lanes)

    def piece(first: object, mask: object, repeat: object) -> tirx.Stmt:
        at = advance(ctx, Run(dst), first), advance(ctx, Run(src), first * lanes)
        return ctx.emit(key, *at, mask, repeat, 1, 1, 8)

    stmts = []
    if constant(full) != 0:
        stmts += in_chunks(ctx, full, limit(key, "repeat"), lambda k, n: piece(k, lanes, n))
    if constant(tail) is None:
        stmts.append(tirx.IfThenElse(tail > 0, piece(full, tail, 1), None, ctx.span))
    elif constant(tail) != 0:
        stmts.append(piece(full, tail, 1))
    return stmts


def identity(kind: str, dtype: str) -> tvm.ir.Expr:
    """Return what a reduction starts from."""
    if kind == "sum":
        return tirx.const(0, dtype)
    if "float" in dtype:
        return tirx.const(float("-inf") if kind == "max" else float("inf"), dtype)
    return tvm.tirx.min_value(dtype) if kind == "max" else tvm.tirx.max_value(dtype)

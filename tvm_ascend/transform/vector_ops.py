# SPDX-License-Identifier: Apache-2.0
"""Vector instructions over whole tiles: fills, casts and copies inside UB."""

from __future__ import annotations

import tvm
from tvm import tirx

from tvm_ascend.transform.cast_path import cast_path
from tvm_ascend.transform.selection import NotVectorizable, Selection, supports
from tvm_ascend.transform.tile_view import View, for_each_run, whole_view

_WIDE = ("float32", "float16", "int32", "int16")


def fill(ctx: Selection, dst: View, extents: list, value: tvm.ir.Expr) -> list[tirx.Stmt]:
    """Set every element of a UB tile to a scalar."""
    if supports("duplicate", dst.dtype):
        return for_each_run(
            ctx, extents, [dst], lambda at, n: [ctx.emit("duplicate", at[0], value, n)]
        )
    for wide in _WIDE:
        if cast_path(dst.dtype, wide) is not None and cast_path(wide, dst.dtype) is not None:
            tmp = temporary(ctx, extents, wide)
            cast = tirx.Cast(wide, value)
            return [*fill(ctx, tmp, extents, cast), *convert(ctx, dst, tmp, extents)]
    raise NotVectorizable(f"no instruction fills {dst.dtype}")


def temporary(ctx: Selection, extents: list, dtype: str, name: str = "") -> View:
    """Allocate a UB tile with whole-block rows."""
    sizes = [ctx.upper(e) for e in extents]
    if any(s is None for s in sizes):
        raise NotVectorizable("the length of the tile has no upper bound")
    block = ctx.block(dtype)
    shape = [*sizes[:-1], -(-(sizes[-1] if sizes else 1) // block) * block]
    return whole_view(ctx.alloc(tuple(shape), dtype, name=name), len(extents))


def convert(ctx: Selection, dst: View, src: View, extents: list) -> list[tirx.Stmt]:
    """Copy a UB tile to another, through the casts its dtypes need."""
    if dst.dtype == src.dtype:
        return copy_tile(ctx, dst, src, extents)
    path = cast_path(src.dtype, dst.dtype)
    if path is None:
        raise NotVectorizable(f"no instructions cast {src.dtype} to {dst.dtype}")
    stmts = []
    for k, (dtype, mode) in enumerate(path):
        to = dst if k == len(path) - 1 else temporary(ctx, extents, dtype)
        stmts += _cast(ctx, to, src, extents, mode)
        src = to
    return stmts


def _cast(ctx: Selection, dst: View, src: View, extents: list, mode: str) -> list[tirx.Stmt]:
    return for_each_run(
        ctx, extents, [dst, src], lambda at, n: [ctx.emit("cast", at[0], at[1], mode, n)]
    )


def copy_tile(ctx: Selection, dst: View, src: View, extents: list) -> list[tirx.Stmt]:
    """Copy a UB tile to another of the same dtype; multiplying by 1 keeps every value."""
    dtype = dst.dtype
    if supports("muls", dtype):
        one = tirx.const(1, dtype)
        return for_each_run(
            ctx, extents, [dst, src], lambda at, n: [ctx.emit("muls", at[0], at[1], one, n)]
        )
    for wide in _WIDE:
        if cast_path(dtype, wide) is not None and cast_path(wide, dtype) is not None:
            tmp = temporary(ctx, extents, wide)
            return [*convert(ctx, tmp, src, extents), *convert(ctx, dst, tmp, extents)]
    raise NotVectorizable(f"no instruction copies {dtype} inside UB")

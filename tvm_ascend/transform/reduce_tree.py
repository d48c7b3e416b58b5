# SPDX-License-Identifier: Apache-2.0
"""Reduce a run of elements to one, by repeats that reduce to partial results."""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend.isa.dtypes import is_float
from tvm_ascend.transform.access import ZERO, access_of, constant, dtype_of
from tvm_ascend.transform.lane_ops import Run, advance, in_chunks
from tvm_ascend.transform.nest import TILE
from tvm_ascend.transform.selection import Selection, limit
from tvm_ascend.transform.values import Value, Values

KINDS = {"sum": "add", "max": "max", "min": "min"}
_INSTRUCTIONS_PER_ROW = 3


def reduce_run(
    ctx: Selection, kind: str, dst: TensorLoad, src: TensorLoad, count: object
) -> list[tirx.Stmt]:
    """Reduce ``count`` contiguous elements at ``src`` to the element at ``dst``."""
    dtype = dtype_of(src.source)
    lanes = ctx.lanes(dtype)
    length = constant(count)
    if length is not None and length <= lanes:
        return one_level(ctx, kind, dst, src, count)
    if length is not None and length < 2 * lanes:
        partials = ctx.alloc((ctx.block(dtype),), dtype)
        to = tirx.BufferLoad(partials, [0])
        return [*one_level(ctx, kind, to, src, count), *one_level(ctx, kind, dst, to, 2)]
    sums = tirx.BufferLoad(ctx.alloc((lanes,), dtype), [0])
    stmts = _fold_repeats(ctx, kind, sums, src, count)
    return stmts + one_level(ctx, kind, dst, sums, lanes)


def _fold_repeats(
    ctx: Selection, kind: str, sums: TensorLoad, src: TensorLoad, count: object
) -> list[tirx.Stmt]:
    """Combine all repeats of a run lane by lane, each repeat with the result so far."""
    key, lanes = KINDS[kind], ctx.lanes(dtype_of(src.source))
    full, tail = ctx.simplify(count // lanes), ctx.simplify(count % lanes)
    if constant(count) is not None:
        first = 2
        stmts = [ctx.emit(key, sums, src, advance(ctx, Run(src), lanes), lanes)]
    else:
        first = 0
        stmts = [ctx.emit("duplicate", sums, identity(kind, dtype_of(src.source)), lanes)]

    def piece(at: object, mask: object, repeat: object) -> tirx.Stmt:
        more = advance(ctx, Run(src), ctx.simplify(at * lanes))
        stay, step = (1, 1, 1), (0, ctx.repeat_blocks, 0)
        return ctx.emit(f"{key}_repeat", sums, more, sums, mask, repeat, *stay, *step)

    if constant(full) is None or constant(full) > first:
        most = limit(f"{key}_repeat", "repeat")
        rest = ctx.simplify(full - first)
        stmts += in_chunks(ctx, rest, most, lambda k, n: piece(first + k, lanes, n))
    if constant(tail) != 0:
        stmts.append(piece(full, tail, 1))
    return stmts


def fold_pays(values: Values, kind: str, value: Value) -> bool:
    """Whether adding up columns of a tile takes fewer instructions than reducing row by row."""
    ctx, nest = values.ctx, values.nest
    rows, count = constant(nest.rows), constant(nest.count)
    if not values.whole or rows is None or value.domain != TILE:
        return False
    key, pitch = f"{KINDS[kind]}_repeat", values.pitch(value)
    if pitch is None or pitch // ctx.block(value.dtype) > limit(key, "src0_rep"):
        return False
    columns = -(-count // ctx.lanes(value.dtype)) * -(-rows // limit(key, "repeat"))
    return columns < _INSTRUCTIONS_PER_ROW * rows


def fold_columns(values: Values, kind: str, value: Value) -> Value:
    """Combine the columns of a tile, a repeat wide, so that one repeat per row is left."""
    ctx, nest, lanes = values.ctx, values.nest, values.ctx.lanes(value.dtype)
    key, count, row = KINDS[kind], constant(nest.count), nest.row[0]
    buffer = ctx.alloc((constant(nest.rows), lanes), value.dtype)
    sums = Value(value.dtype, TILE, access=access_of(buffer, [row, ZERO], [row]))

    def combine(key: str, a: tuple[Value, int], b: tuple[Value, int], mask: int) -> None:
        operands = ((sums, 0), a, b)
        steps = [values.pitch(v) // ctx.block(v.dtype) for v, _ in operands]

        def piece(first: object, repeat: object) -> tirx.Stmt:
            at = [
                advance(ctx, Run(values.address(v.access, TILE, first)), column)
                for v, column in operands
            ]
            return ctx.emit(f"{key}_repeat", *at, mask, repeat, 1, 1, 1, *steps)

        values.before += in_chunks(ctx, nest.rows, limit(f"{key}_repeat", "repeat"), piece)

    if count < 2 * lanes:
        combine("max", (value, 0), (value, 0), lanes)  # a copy: there is no other repeat form
        first = lanes
    else:
        combine(key, (value, 0), (value, lanes), lanes)
        first = 2 * lanes
    for at in range(first, count, lanes):
        combine(key, (sums, 0), (value, at), min(lanes, count - at))
    return sums


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
    if is_float(dtype):
        return tirx.const(float("-inf") if kind == "max" else float("inf"), dtype)
    return tvm.tirx.min_value(dtype) if kind == "max" else tvm.tirx.max_value(dtype)

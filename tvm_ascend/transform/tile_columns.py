# SPDX-License-Identifier: Apache-2.0
"""Binary operations on whole tiles, a repeat of columns at a time: each repeat takes a row."""

from __future__ import annotations

from tvm import tirx

from tvm_ascend.transform.access import constant
from tvm_ascend.transform.lane_ops import advance, in_chunks
from tvm_ascend.transform.nest import ROW, TILE
from tvm_ascend.transform.selection import limit
from tvm_ascend.transform.values import Value, Values


def columns_pay(values: Values, key: str, operands: list[Value]) -> bool:
    """Whether taking columns at a time is possible and needs fewer instructions than rows."""
    ctx, nest = values.ctx, values.nest
    if nest.row is None or not values.whole or all(values.dense(v) for v in operands):
        return False
    count, rows = constant(nest.count), constant(nest.rows)
    if count is None or rows is None:
        return False
    lanes = ctx.lanes(operands[0].dtype)
    most = limit(f"{key}_repeat", "dst_rep")
    for value in operands:
        if value.expr is not None:
            return False
        if value.domain == TILE:
            pitch = values.pitch(value)
            if pitch is None or pitch // ctx.block(value.dtype) > most:
                return False
    return -(-count // lanes) * -(-rows // limit(f"{key}_repeat", "repeat")) < rows


def by_columns(values: Values, key: str, dst: Value, a: Value, b: Value) -> list[tirx.Stmt]:
    """Combine two values along a tile; a destination without rows accumulates over them."""
    ctx, nest = values.ctx, values.nest
    count, lanes = constant(nest.count), ctx.lanes(dst.dtype)
    stmts: list[tirx.Stmt] = []
    for first in range(0, count, lanes):
        mask = min(lanes, count - first)

        def piece(row: int, repeat: int, first: int = first, mask: int = mask) -> tirx.Stmt:
            operands = [_operand(values, v, row, first) for v in (dst, a, b)]
            addresses, blocks, steps = zip(*operands, strict=True)
            return ctx.emit(f"{key}_repeat", *addresses, mask, repeat, *blocks, *steps)

        stmts += in_chunks(ctx, nest.rows, limit(f"{key}_repeat", "repeat"), piece)
    return stmts


def _operand(values: Values, value: Value, row: int, first: int) -> tuple:
    """Return address, block stride and repeat stride of one operand of a column."""
    ctx = values.ctx
    run = values.run(value, TILE, row)
    if run.broadcast:
        return run.address, 0, 1 if ROW in value.domain else 0
    step = values.pitch(value) // ctx.block(value.dtype) if ROW in value.domain else 0
    return advance(ctx, run, first), 1, step

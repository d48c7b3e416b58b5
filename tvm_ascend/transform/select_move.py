# SPDX-License-Identifier: Apache-2.0
"""Tile copies between global memory and UB, and inside UB."""

from __future__ import annotations

import functools

import tvm
from tvm import tirx

from tvm_ascend.isa.instr import Space
from tvm_ascend.transform.access import constant, dtype_of, itemsize
from tvm_ascend.transform.guards import guarded, proves
from tvm_ascend.transform.lane_ops import in_chunks
from tvm_ascend.transform.selection import NotVectorizable, Selection, limit
from tvm_ascend.transform.tile_tail import is_tile
from tvm_ascend.transform.tile_view import (
    View,
    check_aligned,
    lane_dims,
    loop_over,
    product,
    view_of,
)
from tvm_ascend.transform.vector_ops import convert, fill, temporary


def clip(ctx: Selection, view: View, extents: list, elements: bool) -> list:
    """Cut a tile that starts inside its tensor in global memory to the tensor's shape.

    Accesses of element loops (``elements``) are cut where they are the tiles of a tensor; any other
    stays, for the simulator to find.
    """
    kept = list(extents)
    for axis, (low, size) in enumerate(zip(view.mins, view.buffer.ty.shape, strict=True)):
        dims = [d for d, a in enumerate(view.axes) if a == axis]
        last = low
        for d in dims:
            last = last + (extents[d] - 1) * view.step(d)
        if not dims or proves(ctx, last < size):
            continue
        if len(dims) > 1 or any(constant(view.step(d)) != 1 for d in dims):
            raise NotVectorizable(f"`{view.buffer.name}` may be accessed outside its shape")
        d = dims[0]
        if elements and not is_tile(ctx.analyzer, low, extents[d]):
            continue
        kept[d] = ctx.simplify(tirx.min(size - low, extents[d]))
        if not proves(ctx, low < size):
            kept[d] = tirx.Select(low < size, kept[d], extents[d])
    return kept


def load(
    ctx: Selection, dst: View, src: View, extents: list, elements: bool = False
) -> list[tirx.Stmt]:
    """Load a tile from global memory to UB; what lies past the end of the tensor becomes 0."""
    if dst.dtype != src.dtype:
        staged = temporary(ctx, extents, src.dtype, f"{src.buffer.name}_in")
        stmts = load(ctx, staged, src, extents, elements)
        return [*stmts, *convert(ctx, dst, staged, extents)]
    kept = clip(ctx, src, extents, elements)
    cut = [
        inside < extent
        for inside, extent in zip(kept, extents, strict=True)
        if not ctx.analyzer.can_prove_equal(inside, extent)
    ]
    moves = _dma(ctx, "data_copy_pad_in", dst, src, kept, pad=bool(cut))
    if not cut:
        return moves
    zero = fill(ctx, dst, extents, tirx.const(0, dst.dtype))
    return [*guarded(ctx, [functools.reduce(tirx.Or, cut)], zero), *moves]


def store(
    ctx: Selection, dst: View, src: View, extents: list, elements: bool = False
) -> list[tirx.Stmt]:
    """Store a UB tile to global memory; what lies past the end of the tensor is dropped."""
    if dst.dtype != src.dtype:
        staged = temporary(ctx, extents, dst.dtype, f"{dst.buffer.name}_out")
        stmts = convert(ctx, staged, src, extents)
        return [*stmts, *store(ctx, dst, staged, extents, elements)]
    return _dma(ctx, "data_copy_pad_out", dst, src, clip(ctx, dst, extents, elements))


def _dma(
    ctx: Selection, key: str, dst: View, src: View, extents: list, pad: bool = False
) -> list[tirx.Stmt]:
    """Move a tile row by row with as few instructions as its shape allows."""
    ub, gm = (dst, src) if key == "data_copy_pad_in" else (src, dst)
    merged = lane_dims(ctx, extents, [ub, gm])
    outer = extents[: len(extents) - merged]
    check_aligned(ctx, ub, len(outer))
    lanes = product(extents[len(extents) - merged :])
    row = len(outer) - 1

    def one(at: list, count: object, first: object) -> tirx.Stmt:
        addresses = [v.at([*at, first] if outer else at) for v in (dst, src)]
        gaps = _gaps(ctx, ub, gm, row, lanes) if outer else (0, 0)
        return _transfer(ctx, key, addresses, count, lanes, gaps, pad)

    if not outer:
        return [one([], 1, 0)]
    most = limit(key, "block_count")

    def rows(at: list) -> list[tirx.Stmt]:
        return in_chunks(ctx, outer[-1], most, lambda first, count: one(at, count, first))

    return loop_over(ctx, outer[:-1], rows)


def _gaps(ctx: Selection, ub: View, gm: View, row: int, lanes: object) -> tuple:
    """Return the distances from the end of a row to the next: bytes in GM, blocks in UB."""
    size, block = itemsize(gm.dtype), ctx.chip.block_bytes
    length = lanes * size
    blocks = (length + (block - 1)) // block
    pitch = constant(ub.stride(row))
    if pitch is None or (pitch * size) % block:
        raise NotVectorizable(f"rows of `{ub.buffer.name}` do not start at 32-byte boundaries")
    gap = ctx.simplify(gm.stride(row) * size - length)
    if not proves(ctx, gap >= 0):
        raise NotVectorizable(f"rows of `{gm.buffer.name}` may overlap")
    return gap, pitch * size // block - blocks


def _transfer(
    ctx: Selection,
    key: str,
    addresses: list,
    count: object,
    lanes: object,
    gaps: tuple,
    pad: bool,
) -> tirx.Stmt:
    dtype = dtype_of(addresses[0].source)
    simplify = ctx.simplify
    length = simplify(lanes * itemsize(dtype))
    if key == "data_copy_pad_out":
        return ctx.emit(
            key, *addresses, simplify(count), length, simplify(gaps[1]), simplify(gaps[0])
        )
    block = ctx.block(dtype)
    right = simplify((block - lanes % block) % block) if pad else 0
    return ctx.emit(
        key,
        *addresses,
        simplify(count),
        length,
        simplify(gaps[0]),
        simplify(gaps[1]),
        pad,
        0,
        right,
        tirx.const(0, dtype),
    )


def select_copy(call: tvm.ir.Call, ctx: Selection) -> list[tirx.Stmt]:
    """Select the instructions of one ``tile_copy`` between GM and UB."""
    (src, extents), (dst, _) = view_of(call.args[0]), view_of(call.args[1])
    assert len(src.axes) == len(dst.axes), f"tile_copy of different shapes: {call}"
    spaces = (src.space, dst.space)
    if spaces == (Space.GM, Space.UB):
        return load(ctx, dst, src, extents)
    if spaces == (Space.UB, Space.GM):
        return store(ctx, dst, src, extents)
    if spaces == (Space.UB, Space.UB):
        return convert(ctx, dst, src, extents)
    if spaces == (Space.GM, Space.GM):
        staged = temporary(ctx, extents, src.dtype, f"{src.buffer.name}_tile")
        return [*load(ctx, staged, src, extents), *store(ctx, dst, staged, extents)]
    raise NotVectorizable(f"no path from {spaces[0]} to {spaces[1]}")

# SPDX-License-Identifier: Apache-2.0
"""Operands of tile operations: buffers, slices and first elements, completed to regions."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import tirx
from tvm.ir import Range, TensorLoad, TensorRegion

from tvm_ascend.errors import (
    EmptyShape,
    EmptySlice,
    IndexOutside,
    OperandExpected,
    RowLongerThanTile,
    RowShorterThanTile,
    ShapeMismatch,
)
from tvm_ascend.language.numbers import integer
from tvm_ascend.sym import Analyzer


def is_buffer(value: object) -> bool:
    """Return whether a value is a whole buffer."""
    return isinstance(value, tvm.ir.Var) and tirx.is_buffer_var(value)


def is_global(buffer: tvm.ir.Var) -> bool:
    """Return whether a buffer lives in global memory."""
    return buffer.scope() in ("", "global")


def region_of(op: str, name: str, value: Any) -> TensorRegion:
    """Return an operand as a region; a single element is a region of one element."""
    if is_buffer(value):
        if any(isinstance(n, tirx.IntImm) and int(n) < 1 for n in value.ty.shape):
            raise EmptyShape(f"`{value.name}`", tuple(value.ty.shape), None)
        return tirx.BufferRegion(value, [Range(0, n) for n in value.ty.shape])
    if isinstance(value, TensorRegion):
        for part in value.region:
            integer(f"T.{op}", f"a bound of `{value.source.name}`", part.min)
            integer(f"T.{op}", f"an extent of `{value.source.name}`", part.extent)
        simplify = Analyzer().simplify  # of a slice `i * 16 : (i + 1) * 16`
        ranges = [Range.from_min_extent(r.min, simplify(r.extent)) for r in value.region]
        for axis, part in enumerate(ranges):
            if isinstance(part.extent, tirx.IntImm) and int(part.extent) < 1:
                raise EmptySlice(op, value.source.name, axis, part.min, int(part.extent))
        for axis, (part, size) in enumerate(zip(ranges, value.source.ty.shape, strict=True)):
            ends = (part.min, part.extent, size)
            if all(isinstance(x, tirx.IntImm) for x in ends):
                low, length, most = (int(x) for x in ends)
                if low < 0 or low + length > most:
                    raise IndexOutside(value.source.name, axis, low, low + length - 1, most)
        return tirx.BufferRegion(value.source, ranges)
    if isinstance(value, TensorLoad):
        for index in value.indices:
            integer(f"T.{op}", f"an index of `{value.source.name}`", index)
        return tirx.BufferRegion(value.source, [Range.from_min_extent(i, 1) for i in value.indices])
    raise OperandExpected(op, name, value)


def extents(region: TensorRegion) -> list[tvm.ir.Expr]:
    """Return the extent of every dimension."""
    return [r.extent for r in region.region]


def long_extents(region: TensorRegion) -> list[tvm.ir.Expr]:
    """Return the extents other than the literal 1, which is what has to agree between operands."""
    return [e for e in extents(region) if not (isinstance(e, tirx.IntImm) and e.value == 1)]


def _complete(load: TensorLoad, shape: list[tvm.ir.Expr]) -> TensorRegion:
    """Extend the first element of a tile to the tile's shape, aligned at the last dimension."""
    missing = len(load.indices) - len(shape)
    shape = [1] * missing + list(shape) if missing >= 0 else list(shape[-missing:])
    ranges = [Range.from_min_extent(i, n) for i, n in zip(load.indices, shape, strict=True)]
    return tirx.BufferRegion(load.source, ranges)


def complete_pair(
    op: str, names: tuple[str, str], pair: tuple[object, object]
) -> tuple[TensorRegion, TensorRegion]:
    """Return two operands as regions of one shape; an element takes the extents of the other."""
    first, second = (region_of(op, n, v) for n, v in zip(names, pair, strict=True))
    if isinstance(pair[0], TensorLoad) and not isinstance(pair[1], TensorLoad):
        first = _complete(pair[0], extents(second))
    elif isinstance(pair[1], TensorLoad) and not isinstance(pair[0], TensorLoad):
        second = _complete(pair[1], extents(first))
    _check_same_shape(op, first, second)
    return first, second


def _facing(
    tensor: TensorRegion, tile: TensorRegion, analyzer: Analyzer
) -> list[tuple[tvm.ir.Expr, tvm.ir.Expr]]:
    """Extents of a tensor's slice and of a tile that a copy would pair; none where ranks differ.

    A row or tile of one element has no long extent: it faces the other's last one.
    """
    rows, blocks = long_extents(tensor), long_extents(tile)
    if len(rows) == len(blocks):
        return list(zip(rows, blocks, strict=True))
    rows, blocks = extents(tensor), extents(tile)
    rank = max(len(rows), len(blocks))
    one = tirx.IntImm("int32", 1)
    rows, blocks = ([one] * (rank - len(sizes)) + sizes for sizes in (rows, blocks))
    *others, last = zip(rows, blocks, strict=True)
    return [last] if all(analyzer.can_prove_equal(a, b) for a, b in others) else []


def _check_same_shape(op: str, first: TensorRegion, second: TensorRegion) -> None:
    left, right = long_extents(first), long_extents(second)
    analyzer = Analyzer()
    same = len(left) == len(right) and all(
        analyzer.can_prove_equal(a, b) for a, b in zip(left, right, strict=True)
    )
    if same:
        return
    tensor, tile = (first, second) if is_global(first.source) else (second, first)
    if is_global(tensor.source) and not is_global(tile.source):
        for row, block in _facing(tensor, tile, analyzer):
            if analyzer.can_prove_equal(row, block):
                continue
            shorter = analyzer.can_prove(row < block)
            error = RowShorterThanTile if shorter else RowLongerThanTile
            raise error(op, tensor.source.name, row, tile.source.name, block)
    raise ShapeMismatch(
        op,
        first.source.name,
        tuple(extents(first)),
        second.source.name,
        tuple(extents(second)),
        "both need the same extents (dimensions of extent 1 do not count)",
    )

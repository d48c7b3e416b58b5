# SPDX-License-Identifier: Apache-2.0
"""Default tiles of Vector kernels: how many cores, and how much of the work at a time."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tvm import tirx

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.formula import ITEMSIZE
from tvm_ascend.layout.fractal import align, ceildiv
from tvm_ascend.ops.op import Shape

# A core is worth starting for this much, as computed with.
_LEAST_BYTES = 4096
# Tiles of one core: only the first load and the last store overlap with nothing.
_STEPS = 4
# Transfers below this do not reach full bandwidth [doc: ASCEND 1.4].
_BURST_BYTES = 16 * 1024
_VERSIONS = 2


def piece(extent: int, tile: int, block: Any) -> Any:
    """Elements of one dimension that a block has: the tile, or what is left of the dimension.

    Copies and loops that long need no masks and no zeros behind the end.
    """
    return tile if extent % tile == 0 else tirx.min(tile, extent - block * tile)


def tiled(func: Any, *tile: int) -> tirx.PrimFunc:
    """The kernel with its tile noted."""
    return func.with_attr("ascend.tile", "x".join(map(str, tile)))


def box_tile(shape: Shape, lane_bytes: int, itemsize: int, chip: ChipSpec) -> Shape:
    """Tile of an element-wise result: a piece of one dimension, all of the ones after it.

    ``lane_bytes`` is what one element of a tile takes of UB, every buffer and version counted, and
    ``itemsize`` that of the widest dtype, computed with or moved.
    """
    lanes = chip.repeat_bytes // 4
    cores = min(chip.aiv_cores, ceildiv(prod(shape) * itemsize, _LEAST_BYTES))
    share = ceildiv(prod(shape), cores)
    steps = min(_STEPS, ceildiv(share * itemsize, _BURST_BYTES))
    wanted, fitting = ceildiv(share, steps), chip.capacity("ub") // lane_bytes // lanes * lanes
    tile: list[int] = []
    for axis in reversed(range(len(shape))):
        room = max(1, min(ceildiv(wanted, prod(tile)), fitting // _padded(tile, chip)))
        if not tile:
            tile.insert(0, min(shape[axis], align(room, lanes)))
        elif tile[0] < shape[axis + 1]:
            tile.insert(0, 1)
        else:
            tile.insert(0, even(shape[axis], room, prod(shape[:axis]), cores))
    return tuple(tile)


def _padded(tile: list[int], chip: ChipSpec) -> int:
    """Elements that a tile takes: rows start at block boundaries."""
    return prod(tile[:-1]) * align(tile[-1], chip.block_bytes) if tile else 1


def even(extent: int, room: int, outer: int, cores: int) -> int:
    """Piece of a dimension, at most ``room``, that gives every core about the same to do.

    A divisor of the dimension where one is close, so that no piece is shorter.
    """
    room = min(room, extent)
    waves = ceildiv(outer * ceildiv(extent, room), cores)
    pieces = max(ceildiv(extent, room), waves * cores // outer)
    best = min(room, ceildiv(extent, pieces))
    near = (d for d in range(best, max(0, best // 2), -1) if extent % d == 0)
    return next(near, best)


def row_tile(
    rows: int,
    cols: int,
    moved: Sequence[str],
    chip: ChipSpec,
    *,
    kept: int,
    weights: Sequence[str] = (),
) -> int:
    """Rows of a tile when whole rows are shared out to all cores; 0 when not one fits.

    ``moved`` are the dtypes of the tensors that have such rows, ``kept`` how many values of a row
    are held in float32, ``weights`` the dtypes of single rows that stay.
    """
    lanes = align(cols, chip.block_bytes)
    room = chip.capacity("ub") - lanes * sum(4 + ITEMSIZE[d] for d in weights)
    tensors = sum(ITEMSIZE[d] for d in moved)
    cores = min(chip.aiv_cores, rows)
    share = ceildiv(rows, cores)
    most = room // (lanes * (_VERSIONS * tensors + 4 * kept))
    if most < 1:  # not double buffered then
        return 1 if room >= lanes * (tensors + 4 * kept) else 0
    wanted = min(_STEPS, ceildiv(share * cols * max(ITEMSIZE[d] for d in moved), _BURST_BYTES))
    return even(rows, min(most, ceildiv(share, wanted)), 1, cores)

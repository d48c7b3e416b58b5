# SPDX-License-Identifier: Apache-2.0
"""Element-wise functions on the Vector cores: tiles of rows and columns through UB."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from tvm import s_tir, tirx

from tvm_ascend.errors import BadTile
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.layout.fractal import align, ceildiv
from tvm_ascend.schedule.form import (
    UB,
    Form,
    annotate_lanes,
    blocks_of,
    form_of,
    inline,
    read_into_ub,
)

OVERRIDES = ("tile_rows", "tile_cols")


def elementwise_rule(
    func: tirx.PrimFunc, chip: ChipSpec, overrides: Mapping[str, int]
) -> tuple[s_tir.Schedule, dict] | None:
    """Schedule a function whose blocks are all element-wise, or return None."""
    form = form_of(func)
    if form is None or form.reductions:
        return None
    sch = s_tir.Schedule(func)
    inline(sch, form, everything=True)
    (block,) = blocks_of(sch)
    rows, cols = _tile_shape(form, chip, overrides)
    *outer, last = sch.get_loops(block)
    col0, col1 = _split(sch, last, cols)
    grid, inner = [*outer, col0], [col1]
    if outer:
        row0, row1 = _split(sch, outer[-1], rows)
        grid, inner = [*outer[:-1], row0, col0], [row1, col1]
    sch.reorder(*grid, *inner)
    core = sch.fuse(*grid, preserve_unit_iters=True)
    sch.bind(core, "blockIdx.x")
    result = sch.cache_write(block, 0, UB)
    sch.reverse_compute_at(result, core, preserve_unit_loops=True)
    read_into_ub(sch, [block], core)
    annotate_lanes(sch, inner)
    return sch, {"tile_rows": rows, "tile_cols": cols}


def _split(sch: s_tir.Schedule, loop, factor: int):
    # A tile that runs past the tensor computes on zeros, and its store is clipped.
    return sch.split(loop, [None, factor], preserve_unit_iters=True, disable_predication=True)


def _tile_shape(form: Form, chip: ChipSpec, overrides: Mapping[str, int]) -> tuple[int, int]:
    """Rows and columns of a tile: all cores busy, then bursts as long as fit."""
    width, lines = form.shape[-1], prod(form.shape[:-1])
    cols = width
    while not form.fits(chip, 1, cols):
        cols = align(ceildiv(cols, 2), chip.repeat_bytes)
    if lines * ceildiv(width, cols) < chip.cores("AIV"):
        # Too few rows for all cores: share out columns, a repeat each at least.
        parts = ceildiv(chip.cores("AIV"), lines)
        cols = min(cols, align(ceildiv(width, parts), chip.repeat_bytes))
    most_rows = form.shape[-2] if len(form.shape) > 1 else 1
    rows = min(most_rows, max(1, lines * ceildiv(width, cols) // chip.cores("AIV")))
    while rows > 1 and not form.fits(chip, rows, cols):
        rows = ceildiv(rows, 2)
    return _overridden((rows, cols), (most_rows, width), overrides)


def _overridden(tile, most, overrides: Mapping[str, int]) -> tuple[int, int]:
    chosen = []
    for name, value, limit in zip(OVERRIDES, tile, most, strict=True):
        given = overrides.get(name, value)
        if not 1 <= given <= max(limit, value):
            raise BadTile(name, given, 1, limit)
        chosen.append(given)
    return chosen[0], chosen[1]

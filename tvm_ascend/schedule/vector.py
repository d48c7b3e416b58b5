# SPDX-License-Identifier: Apache-2.0
"""Element-wise functions and row reductions on the Vector cores, one tile of UB at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import tvm
from tvm import s_tir, tirx
from tvm.s_tir import SBlock

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.layout.fractal import align, ceildiv
from tvm_ascend.schedule.match import REDUCTION, loads, realizes, strip_casts

PARALLEL = "ascend.parallel"
UB = "shared.ub"
# Selection keeps up to this many float32 lanes beside every lane of a tile.
_TEMPORARIES = 3
_DTYPES = ("float16", "bfloat16", "float32", "int32", "int16")


def elementwise_rule(
    func: tirx.PrimFunc, chip: ChipSpec, _overrides: Mapping[str, int]
) -> tuple[s_tir.Schedule, dict] | None:
    """Schedule a function whose blocks are all element-wise, or return None."""
    form = _form(func)
    if form is None or form.reductions:
        return None
    sch = s_tir.Schedule(func)
    _inline(sch, form, everything=True)
    blocks = _blocks(sch)
    if len(blocks) != 1:
        return None
    block = blocks[0]
    loops = sch.get_loops(block)
    rows, cols = _tile_shape(form, chip)
    *outer, last = loops
    col0, col1 = sch.split(last, [None, cols], preserve_unit_iters=True, disable_predication=True)
    inner = [col1]
    grid = [*outer, col0]
    if outer:
        row0, row1 = sch.split(
            outer[-1], [None, rows], preserve_unit_iters=True, disable_predication=True
        )
        inner, grid = [row1, col1], [*outer[:-1], row0, col0]
    sch.reorder(*grid, *inner)
    core = sch.fuse(*grid, preserve_unit_iters=True)
    sch.bind(core, "blockIdx.x")
    _stage_in_ub(sch, [block], block, core)
    _annotate(sch, [block])
    return sch, {"tile_rows": rows, "tile_cols": cols}


def row_reduction_rule(
    func: tirx.PrimFunc, chip: ChipSpec, _overrides: Mapping[str, int]
) -> tuple[s_tir.Schedule, dict] | None:
    """Schedule reductions of the last axis with element-wise work around them, or return None."""
    form = _form(func)
    if form is None or not form.reductions or not form.fits(chip, 1, form.width):
        return None
    sch = s_tir.Schedule(func)
    _inline(sch, form, everything=False)
    blocks = _blocks(sch)
    *producers, final = blocks
    if sch.get(final).iter_vars[-1].iter_type == REDUCTION:
        producers, final = blocks, sch.cache_write(final, 0, UB)
        result = final
    else:
        result = sch.cache_write(final, 0, UB)
    rows = sch.get_loops(final)[: form.row_axes]
    core = sch.fuse(*rows, preserve_unit_iters=True)
    sch.bind(core, "blockIdx.x")
    if result is not final:
        sch.reverse_compute_at(result, core, preserve_unit_loops=True)
    for block in reversed(producers):
        sch.compute_at(block, core, preserve_unit_loops=True)
        sch.set_scope(block, 0, UB)
    compute = producers if result is final else [*producers, final]
    _read_into_ub(sch, compute, core)
    for block in compute:
        if sch.get(block).init is not None:
            sch.decompose_reduction(block, sch.get_loops(block)[-1])
    _annotate(sch, compute)
    return sch, {"tile_rows": 1, "tile_cols": form.width}


@dataclass(frozen=True)
class _Form:
    """What the blocks of a function have in common."""

    blocks: tuple[SBlock, ...]
    reductions: tuple[SBlock, ...]
    row_axes: int
    width: int
    shape: tuple[int, ...]
    lane_bytes: int

    def fits(self, chip: ChipSpec, rows: int, cols: int) -> bool:
        """Whether a tile of rows x cols, double buffered, leaves room in UB."""
        lanes = rows * align(cols, chip.block_bytes)
        return lanes * self.lane_bytes <= chip.capacity("ub")


def _form(func: tirx.PrimFunc) -> _Form | None:
    """Read a function as element-wise blocks and reductions of the last axis, or return None."""
    found = realizes(func)
    blocks = [r.block for r in found]
    if not blocks or not all(_is_simple(r) for r in found):
        return None
    reductions = tuple(b for b in blocks if b.iter_vars[-1].iter_type == REDUCTION)
    row_axes = {len(b.iter_vars) - 1 for b in reductions}
    outputs = [b for b in blocks if any(b.writes[0].source.same_as(p) for p in func.params)]
    if len(outputs) != 1 or not outputs[0].same_as(blocks[-1]) or len(row_axes) > 1:
        return None
    shape = tuple(int(v.dom.extent) for v in blocks[-1].iter_vars)
    rows = row_axes.pop() if reductions else len(shape) - 1
    if reductions and (rows == 0 or not _rows_agree((*reductions, blocks[-1]), rows)):
        return None
    width = max(int(b.iter_vars[-1].dom.extent) for b in (reductions or blocks[-1:]))
    item = sum(_itemsize(b) for b in func.params if tirx.is_buffer_var(b))
    lane_bytes = 2 * item + 4 * (_TEMPORARIES + (len(blocks) - 1 if reductions else 0))
    return _Form(tuple(blocks), reductions, rows, width, shape, lane_bytes)


def _itemsize(buffer) -> int:
    return tvm.DataType(str(buffer.dtype)).itemsize


def _is_simple(realize) -> bool:
    """A store indexed by plain axes, the last possibly reduced, of dtypes that UB computes."""
    block = realize.block
    if not isinstance(block.body, tirx.BufferStore) or len(block.iter_vars) == 0:
        return False
    axes = [v.var for v in block.iter_vars]
    if any(v.iter_type == REDUCTION for v in block.iter_vars[:-1]):
        return False
    if not all(isinstance(v.dom.extent, tirx.IntImm) for v in block.iter_vars):
        return False
    spatial = axes[:-1] if block.iter_vars[-1].iter_type == REDUCTION else axes
    store = block.body
    plain = len(store.indices) == len(spatial) and all(
        i.same_as(a) for i, a in zip(store.indices, spatial, strict=True)
    )
    accesses = loads(store.value)
    buffers = [store.buffer, *(load.source for load in accesses)]
    return (
        plain
        and all(_in_order(load, axes) for load in accesses)
        and all(str(b.dtype) in _DTYPES for b in buffers)
        and (block.init is None or _is_known_reduction(block))
    )


def _in_order(load, axes) -> bool:
    """Whether a load walks distinct axes in order, constants between: no transpose, no gather."""
    position = -1
    for index in load.indices:
        if isinstance(index, tirx.IntImm):
            continue
        at = next((i for i, axis in enumerate(axes) if axis.same_as(index)), None)
        if at is None or at <= position:
            return False
        position = at
    return True


def _is_known_reduction(block: SBlock) -> bool:
    return isinstance(strip_casts(block.body.value), (tirx.Add, tirx.Max, tirx.Min))


def _rows_agree(blocks, rows: int) -> bool:
    """Whether the blocks have the same leading axes."""
    return len({tuple(int(v.dom.extent) for v in b.iter_vars[:rows]) for b in blocks}) == 1


def _tile_shape(form: _Form, chip: ChipSpec) -> tuple[int, int]:
    """Rows and columns of an element-wise tile: all cores busy, then bursts as long as fit."""
    cols = form.shape[-1]
    while not form.fits(chip, 1, cols):
        cols = align(ceildiv(cols, 2), chip.repeat_bytes)
    if cols < form.shape[-1] or len(form.shape) == 1:
        per_core = align(ceildiv(form.shape[-1], chip.cores("AIV")), chip.repeat_bytes)
        return 1, min(cols, max(per_core, chip.repeat_bytes)) if len(form.shape) == 1 else cols
    total = form.shape[-2]
    for extent in form.shape[:-2]:
        total *= extent
    rows = min(form.shape[-2], max(1, ceildiv(total, chip.cores("AIV"))))
    while rows > 1 and not form.fits(chip, rows, cols):
        rows = ceildiv(rows, 2)
    return rows, cols


def _blocks(sch: s_tir.Schedule) -> list:
    return [sch.get_sblock(r.block.name_hint) for r in realizes(sch.mod["main"])]


def _inline(sch: s_tir.Schedule, form: _Form, *, everything: bool) -> None:
    """Inline element-wise producers: all of them, or those used once or that only cast."""
    kept = {b.name_hint for b in form.reductions} | {form.blocks[-1].name_hint}
    for block in form.blocks[:-1]:
        if block.name_hint in kept:
            continue
        only_casts = isinstance(strip_casts(block.body.value), tvm.ir.TensorLoad)
        uses = sum(_uses(other, block.writes[0].source) for other in form.blocks)
        # A value of one element a row is cheaper kept than computed again in every lane.
        once = uses == 1 and len(block.iter_vars) > form.row_axes
        if everything or only_casts or once:
            sch.compute_inline(sch.get_sblock(block.name_hint))


def _uses(block: SBlock, buffer) -> int:
    return sum(load.source.same_as(buffer) for load in loads(block.body.value))


def _stage_in_ub(sch: s_tir.Schedule, blocks, final, core) -> None:
    result = sch.cache_write(final, 0, UB)
    sch.reverse_compute_at(result, core, preserve_unit_loops=True)
    _read_into_ub(sch, blocks, core)


def _read_into_ub(sch: s_tir.Schedule, blocks, core) -> None:
    """Copy every tensor that the blocks read into UB, once per tile."""
    params = list(sch.mod["main"].params)
    for param in params:
        readers = [b for b in blocks if _read_index(sch, b, param) is not None]
        if readers:
            index = _read_index(sch, readers[0], param)
            copy = sch.cache_read(readers[0], index, UB, consumer_blocks=readers)
            sch.compute_at(copy, core, preserve_unit_loops=True)


def _read_index(sch: s_tir.Schedule, block, buffer) -> int | None:
    reads = [region.source for region in sch.get(block).reads]
    return next((i for i, b in enumerate(reads) if b.same_as(buffer)), None)


def _annotate(sch: s_tir.Schedule, blocks) -> None:
    """Mark every loop inside the tile as a loop over elements; the grid is one loop around it."""
    for block in blocks:
        for loop in sch.get_loops(block)[1:]:
            if int(sch.get(loop).extent) > 1:
                sch.annotate(loop, PARALLEL, 1)

# SPDX-License-Identifier: Apache-2.0
"""What the blocks of an element-wise or row-reducing function have in common."""

from __future__ import annotations

from dataclasses import dataclass

import tvm
from tvm import s_tir, tirx
from tvm.s_tir import SBlock

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.layout.fractal import align
from tvm_ascend.schedule.match import REDUCTION, covers_domains, loads, realizes, strip_casts

PARALLEL = "ascend.parallel"
UB = "shared.ub"
# Selection keeps up to this many float32 lanes beside every lane of a tile.
_TEMPORARIES = 4
_DTYPES = ("float16", "bfloat16", "float32", "int32", "int16")


@dataclass(frozen=True)
class Form:
    """Blocks that walk rows, and the last axis, in order.

    ``rows`` leading axes are rows: those of a reduction's result, all but the last of an
    element-wise function. ``width`` is the longest last axis.
    """

    blocks: tuple[SBlock, ...]
    reductions: tuple[SBlock, ...]
    rows: int
    width: int
    shape: tuple[int, ...]
    param_bytes: int
    lanes_kept: int

    @property
    def lane_bytes(self) -> int:
        """Bytes of UB that one lane of a tile takes, tensors, values kept and temporaries."""
        return self.param_bytes + 4 * (_TEMPORARIES + self.lanes_kept)

    def fits(self, chip: ChipSpec, rows: int, cols: int) -> bool:
        """Whether a tile of rows x cols leaves room in UB."""
        lanes = rows * align(cols, chip.block_bytes)
        return lanes * self.lane_bytes <= chip.capacity("ub")


def form_of(func: tirx.PrimFunc) -> Form | None:
    """Read a function as element-wise blocks and reductions of the last axis, or return None."""
    found = realizes(func)
    blocks = [r.block for r in found]
    if not blocks or not covers_domains(func) or not all(_is_simple(b) for b in blocks):
        return None
    params = [p for p in func.params if tirx.is_buffer_var(p)]
    outputs = [b for b in blocks if any(b.writes[0].source.same_as(p) for p in params)]
    if len(outputs) != 1 or not outputs[0].same_as(blocks[-1]):
        return None
    if not all(str(p.dtype) in _DTYPES for p in params):
        return None
    reductions = tuple(b for b in blocks if b.init is not None)
    shape = extents_of(blocks[-1])
    rows = min((len(b.iter_vars) - 1 for b in reductions), default=len(shape) - 1)
    if reductions and not _rows_agree(reductions, blocks[-1], rows):
        return None
    width = max(extents_of(b)[-1] for b in (reductions or blocks[-1:]))
    kept = sum(is_full_width(b, rows) for b in blocks[:-1] if b.init is None) if reductions else 0
    item = sum(tvm.DataType(str(p.dtype)).itemsize for p in params)
    return Form(tuple(blocks), reductions, rows, width, shape, item, kept)


def extents_of(block: SBlock) -> tuple[int, ...]:
    """Extents of a block's axes."""
    return tuple(int(axis.dom.extent) for axis in block.iter_vars)


def is_full_width(block: SBlock, rows: int) -> bool:
    """Whether a block computes a row of elements, not one value a row."""
    return any(extent > 1 for extent in extents_of(block)[rows:])


def _is_simple(block: SBlock) -> bool:
    """A store indexed by plain axes, the last possibly reduced, that reads elements in order."""
    if not isinstance(block.body, tirx.BufferStore) or len(block.iter_vars) == 0:
        return False
    if not all(isinstance(axis.dom.extent, tirx.IntImm) for axis in block.iter_vars):
        return False
    *leading, last = block.iter_vars
    if any(axis.iter_type == REDUCTION for axis in leading):
        return False
    axes = [axis.var for axis in block.iter_vars]
    reduced = last.iter_type == REDUCTION
    store, spatial = block.body, axes[:-1] if reduced else axes
    if len(store.indices) != len(spatial) or reduced != (block.init is not None):
        return False
    plain = all(i.same_as(a) for i, a in zip(store.indices, spatial, strict=True))
    known = not reduced or isinstance(strip_casts(store.value), (tirx.Add, tirx.Max, tirx.Min))
    return plain and known and all(_in_order(load, axes) for load in loads(store.value))


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


def _rows_agree(reductions, final: SBlock, rows: int) -> bool:
    """Whether all have the same leading axes, and reductions one value for each of those."""
    if rows == 0 or len({extents_of(b)[:rows] for b in (*reductions, final)}) != 1:
        return False
    return all(extent == 1 for b in reductions for extent in extents_of(b)[rows:-1])


def inline(sch: s_tir.Schedule, form: Form, *, everything: bool) -> None:
    """Inline element-wise producers: all of them, or those used once or that only cast.

    A value of one element a row is kept: computing it in every lane would cost more.
    """
    for block in form.blocks[:-1]:
        if block.init is not None:
            continue
        uses = sum(_uses(other, block.writes[0].source) for other in form.blocks)
        only_casts = isinstance(strip_casts(block.body.value), tvm.ir.TensorLoad)
        row_value = bool(form.reductions) and not is_full_width(block, form.rows)
        if only_casts or (not row_value and (everything or uses == 1)):
            sch.compute_inline(sch.get_sblock(block.name_hint))


def _uses(block: SBlock, buffer) -> int:
    return sum(load.source.same_as(buffer) for load in loads(block.body.value))


def blocks_of(sch: s_tir.Schedule) -> list:
    """Every block of the schedule, in program order."""
    return [sch.get_sblock(r.block.name_hint) for r in realizes(sch.mod["main"])]


def read_into_ub(sch: s_tir.Schedule, blocks, loop) -> None:
    """Copy every tensor that the blocks read into UB, once per iteration of ``loop``."""
    for param in sch.mod["main"].params:
        readers = [b for b in blocks if _read_index(sch, b, param) is not None]
        if readers:
            index = _read_index(sch, readers[0], param)
            copy = sch.cache_read(readers[0], index, UB, consumer_blocks=readers)
            sch.compute_at(copy, loop, preserve_unit_loops=True)


def _read_index(sch: s_tir.Schedule, block, buffer) -> int | None:
    reads = [region.source for region in sch.get(block).reads]
    return next((i for i, b in enumerate(reads) if b.same_as(buffer)), None)


def annotate_lanes(sch: s_tir.Schedule, loops) -> None:
    """Mark loops inside a tile as loops over elements."""
    for loop in loops:
        if int(sch.get(loop).extent) > 1:
            sch.annotate(loop, PARALLEL, 1)

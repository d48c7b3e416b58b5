# SPDX-License-Identifier: Apache-2.0
"""Reductions of the last axis, with element-wise work around them: one row at a time through UB."""

from __future__ import annotations

from collections.abc import Mapping

from tvm import s_tir, tirx

from tvm_ascend.errors import TileDoesNotDivide
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.schedule.form import (
    UB,
    Form,
    annotate_lanes,
    blocks_of,
    form_of,
    inline,
    is_full_width,
    read_into_ub,
)
from tvm_ascend.schedule.match import REDUCTION

STAGES = "ascend.num_stages"


def row_reduction_rule(
    func: tirx.PrimFunc, chip: ChipSpec, overrides: Mapping[str, int]
) -> tuple[s_tir.Schedule, dict] | None:
    """Schedule softmax, layer_norm, sums of rows and their like, or return None."""
    form = form_of(func)
    if form is None or not form.reductions:
        return None
    cols = _columns(form, chip, overrides)
    if cols is None:
        return None
    sch = s_tir.Schedule(func)
    whole = cols == form.width
    inline(sch, form, everything=not whole)
    compute, core = _join_rows(sch, form)
    if whole:
        _through_ub(sch, compute, core)
    else:
        for block in compute:
            _in_chunks(sch, block, form, cols)
    return sch, {"tile_cols": cols}


def _columns(form: Form, chip: ChipSpec, overrides: Mapping[str, int]) -> int | None:
    """Elements of a row in UB at once: all, or a divisor of them; None when there is none."""
    divisors = [c for c in range(1, form.width + 1) if form.width % c == 0]
    if "tile_cols" in overrides:
        given = overrides["tile_cols"]
        if given not in divisors or not form.fits(chip, 1, given):
            allowed = [c for c in divisors if form.fits(chip, 1, c)]
            raise TileDoesNotDivide("tile_cols", given, form.width, allowed)
        return given
    # Two buffers for each tensor, so that the next chunk arrives meanwhile.
    fitting = [c for c in divisors if form.fits(chip, 1, c if c == form.width else 2 * c)]
    best = max(fitting, default=1)
    return best if best == form.width or best >= chip.repeat_bytes // 4 else None


def _join_rows(sch: s_tir.Schedule, form: Form):
    """Put every block below one loop over rows, bound to cores; return those that compute."""
    *producers, final = blocks_of(sch)
    if sch.get(final).iter_vars[-1].iter_type == REDUCTION:
        producers, final = [*producers, final], sch.cache_write(final, 0, UB)
        compute = producers
    else:
        compute = [*producers, final]
    core = sch.fuse(*sch.get_loops(final)[: form.rows], preserve_unit_iters=True)
    sch.bind(core, "blockIdx.x")
    for block in reversed(producers):
        sch.compute_at(block, core, preserve_unit_loops=True)
        sch.set_scope(block, 0, UB)
    return compute, core


def _through_ub(sch: s_tir.Schedule, compute, core) -> None:
    """Keep whole rows in UB: each tensor is copied once."""
    _stage_result(sch, compute[-1], core)
    read_into_ub(sch, compute, core)
    for block in compute:
        if sch.get(block).init is not None:
            sch.decompose_reduction(block, sch.get_loops(block)[-1])
        annotate_lanes(sch, sch.get_loops(block)[1:])


def _in_chunks(sch: s_tir.Schedule, block, form: Form, cols: int) -> None:
    """Run one block over a row piece by piece, its tensors copied for each piece."""
    *outer, last = sch.get_loops(block)
    if not is_full_width(sch.get(block), form.rows):
        _stage_result(sch, block, outer[0] if outer else last)
        return
    if sch.get(block).init is not None:
        sch.decompose_reduction(block, last)
        last = sch.get_loops(block)[-1]
    chunk, lanes = sch.split(last, [None, cols], preserve_unit_iters=True)
    _stage_result(sch, block, chunk)
    read_into_ub(sch, [block], chunk)
    sch.annotate(chunk, STAGES, 2)
    annotate_lanes(sch, [lanes])


def _stage_result(sch: s_tir.Schedule, block, loop) -> None:
    """Let a block that writes a tensor write UB, copied out by each iteration of ``loop``."""
    if sch.get(block).writes[0].source.scope() in ("", "global"):
        result = sch.cache_write(block, 0, UB)
        sch.reverse_compute_at(result, loop, preserve_unit_loops=True)

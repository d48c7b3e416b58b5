# SPDX-License-Identifier: Apache-2.0
"""Scheduled functions to tile TIR: TVM's block lowering with our conversion in the middle."""

from __future__ import annotations

import re
from typing import Any

import tvm
import tvm_ffi
from tvm import s_tir, tirx

from tvm_ascend.errors import CubeTileRule
from tvm_ascend.transform.clip_tiles import clip_tiles
from tvm_ascend.transform.convert_blocks import ConvertBlocks
from tvm_ascend.transform.simplify import Simplify
from tvm_ascend.transform.tile_args import is_const, resized

# The cache of a tile that runs past its tensor must hold the whole tile, hence not strict.
_BEFORE = (
    s_tir.transform.CanonicalizeLoop(),
    s_tir.transform.LowerInitBlock(),
    s_tir.transform.PlanAndUpdateBufferAllocationLocation(),
    s_tir.transform.ConvertBlocksToOpaque(),
    s_tir.transform.LiftThreadBinding(),
    s_tir.transform.CompactBufferAllocation(is_strict=False),
    s_tir.transform.UnifyThreadBinding(),
    s_tir.transform.LowerMatchBuffer(),
    Simplify(),
)
# What cache_read and set_scope append, once for each memory a tensor went through.
_SCHEDULED_NAME = re.compile(r"(?:_(?:shared|local)\.\w+?)*_(?:shared|local)\.(\w+)$")
_AFTER = (s_tir.transform.LowerOpaqueBlock(), Simplify())


def has_blocks(func: tirx.PrimFunc) -> bool:
    """Whether a function is schedulable TIR."""
    found: list = []
    tvm_ffi.structural_walk(func.body, [(s_tir.SBlock, found.append)])
    return bool(found)


def lower_schedule(func: tirx.PrimFunc) -> tirx.PrimFunc:
    """Lower a scheduled function to tile TIR: grid, on-chip buffers, tile operations and loops."""
    mod = tvm.IRModule({"main": func.with_attr("global_symbol", "main")})
    # The pass refuses int64 elements, whose arithmetic it could not tell from that of indices, and
    # integers that int32 cannot hold.
    wide = _has_int64(func) or _has_wide_integer(func)
    narrow = () if wide else (tirx.transform.ForceNarrowIndexToInt32(),)
    steps: tuple[Any, ...] = (*narrow, *_BEFORE, ConvertBlocks(), *_AFTER)
    for step in steps:
        mod = step(mod)
    lowered = mod["main"].with_body(_tidy(mod["main"].body), func.span)
    clipped = clip_tiles(lowered)
    if clipped is None:
        raise CubeTileRule(
            "a tile is used only as far as one copy, from its start, filled it", func.span
        )
    return _with_attributes_of(clipped, func)


def _has_int64(func: tirx.PrimFunc) -> bool:
    """Whether a buffer of a function holds int64."""
    found = [p for p in func.params if tirx.is_buffer_var(p)]
    tvm_ffi.structural_walk(func.body, [(s_tir.SBlock, lambda b: found.extend(b.alloc_buffers))])
    return any(str(b.ty.dtype) == "int64" for b in found)


def _has_wide_integer(func: tirx.PrimFunc) -> bool:
    """Whether a literal of a function is too large for int32."""
    found = []
    tvm_ffi.structural_walk(func.body, [(tirx.IntImm, found.append)])
    return any(i.ty.dtype == "int64" and not -(2**31) <= i.value < 2**31 for i in found)


def _tidy(body):
    """Short names and no annotations for allocations; no loops of one iteration."""
    renamed: dict = {}

    def allocate(alloc: tirx.AllocBuffer):
        old = alloc.buffer
        name = _SCHEDULED_NAME.sub(r"_\1", str(old.name))
        if name != old.name:
            renamed[old] = resized(old, name=name)
        return tirx.AllocBuffer(renamed.get(old, old), {}, alloc.span)

    def unwrap(loop: tirx.For):
        if loop.kind != tirx.ForKind.SERIAL or not is_const(loop.extent, 1):
            return loop
        once = [(tirx.Var, lambda v: loop.min if v.same_as(loop.loop_var) else v)]
        return tvm_ffi.structural_map(loop.body, once)

    body = tvm_ffi.structural_map(body, [(tirx.For, unwrap)])
    return tvm_ffi.structural_map(
        body,
        [(tirx.AllocBuffer, allocate), (tirx.Var, lambda v: renamed.get(v, v))],
        order="pre",  # an allocation dominates its uses, so `renamed` is filled in time
    )


def _with_attributes_of(func: tirx.PrimFunc, original: tirx.PrimFunc) -> tirx.PrimFunc:
    if original.attrs and "global_symbol" in original.attrs:
        return func.with_attr("global_symbol", original.attrs["global_symbol"])
    return func.without_attr("global_symbol")

# SPDX-License-Identifier: Apache-2.0
"""The fall-back: one core's scalar unit runs the loops as they are."""

from __future__ import annotations

import tvm_ffi
from tvm import tirx
from tvm.s_tir import SBlock

UB = "shared.ub"


def scalar_schedule(func: tirx.PrimFunc) -> tirx.PrimFunc:
    """Keep every loop; buffers that are no parameters move to UB, the memory of one core."""
    moved: dict = {}

    def allocate(block: SBlock) -> SBlock:
        for old in block.alloc_buffers:
            if old.scope() in ("", "global"):
                moved[old] = tirx.decl_buffer(
                    old.shape, old.dtype, old.name, scope=UB, layout=old.ty.layout
                )
        return block

    body = tvm_ffi.structural_map(
        func.body,
        [(SBlock, allocate), (tirx.Var, lambda v: moved.get(v, v))],
        order="pre",  # an allocation dominates its uses, so `moved` is filled in time
    )
    return func.with_body(body, func.span).with_attr("tirx.is_scheduled", True)

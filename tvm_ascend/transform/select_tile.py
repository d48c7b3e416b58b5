# SPDX-License-Identifier: Apache-2.0
"""Tile operations on UB: copies, fills and reductions."""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm.ir import TensorLoad, TensorRegion

from tvm_ascend.isa.instr import Space
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.transform.access import constant
from tvm_ascend.transform.element_store import ElementStore
from tvm_ascend.transform.nest import Loop
from tvm_ascend.transform.select_elements import select_store
from tvm_ascend.transform.select_move import select_copy, store
from tvm_ascend.transform.selection import Selection
from tvm_ascend.transform.tile_args import as_region
from tvm_ascend.transform.tile_view import view_of
from tvm_ascend.transform.vector_ops import fill, temporary


def select_tile(ctx: Selection, call: tvm.ir.Call) -> list[tirx.Stmt]:
    """Select the instructions of one tile operation whose operands are in UB or global memory."""
    return _SELECT[key_of(call)](ctx, call)


def _copy(ctx: Selection, call: tvm.ir.Call) -> list[tirx.Stmt]:
    return select_copy(call, ctx)


def _fill(ctx: Selection, call: tvm.ir.Call) -> list[tirx.Stmt]:
    view, extents = view_of(call.args[0])
    if space_of(view.buffer) is Space.GM:
        tile = temporary(ctx, extents, view.dtype, f"{view.buffer.name}_out")
        return [*fill(ctx, tile, extents, call.args[1]), *store(ctx, view, tile, extents)]
    return fill(ctx, view, extents, call.args[1])


def _reduce(ctx: Selection, call: tvm.ir.Call) -> list[tirx.Stmt]:
    dst, src, kind, axis, clear = call.args
    loops, indices = _source_loops(ctx, src)
    moving = [i for k, i in enumerate(indices) if k != constant(axis)]
    target = _target_indices(dst, [i for i in moving if i is not None])
    mins = [r.min for r in as_region(src).region]
    at = [m if i is None else m + i for m, i in zip(mins, indices, strict=True)]
    value = tirx.BufferLoad(src.source, at)
    store_ = ElementStore(dst.source, tuple(target), value, str(kind.value), bool(clear.value))
    return select_store(ctx, loops, store_)


def _source_loops(ctx: Selection, src: TensorRegion | TensorLoad) -> tuple[list[Loop], list]:
    loops: list[Loop] = []
    indices: list = []
    for k, range_ in enumerate(as_region(src).region):
        if constant(range_.extent) == 1:
            indices.append(None)
            continue
        var = tirx.Var(f"i{k}", "int32")
        ctx.analyzer.bind(var, tvm.ir.Range(0, range_.extent))
        loops.append((var, range_.extent))
        indices.append(var)
    return loops, indices


def _target_indices(dst: TensorRegion | TensorLoad, moving: list) -> list:
    left = iter(moving)
    ranges = as_region(dst).region
    indices = [r.min if constant(r.extent) == 1 else r.min + next(left) for r in ranges]
    assert next(left, None) is None, f"tile_reduce of different shapes: {dst}"
    return indices


_SELECT = {"tile_copy": _copy, "tile_fill": _fill, "tile_reduce": _reduce}

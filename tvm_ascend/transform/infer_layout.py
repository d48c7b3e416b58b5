# SPDX-License-Identifier: Apache-2.0
"""Choose the fractal layout of every tile in the Cube's memories."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.errors import LayoutContradiction, NotAMatrix
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.ops import TILE_OPS, key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.transform.notes import note
from tvm_ascend.transform.tile_args import as_region, is_const

LAYOUT = "ascend.layout"
TRANSPOSED = "ascend.transposed"
LAYOUT_OF_SPACE = {Space.L1: "NZ", Space.L0A: "ZZ", Space.L0B: "ZN", Space.L0C: "NZ"}


@prim_func_pass(opt_level=0, name="ascend.InferLayout")
class InferLayout:
    """Annotate allocations with the layout that the Cube reads and writes there.

    Before::

        a = T.alloc_buffer((64, 48), "float16", scope="local.l0a")

    After::

        a = T.alloc_buffer((64, 48), "float16", scope="local.l0a",
                           annotations={"ascend.layout": "ZZ", "ascend.transposed": 0})

    L1 and L0C are NZ, L0A is ZZ of A[m, k] and L0B is ZN of B[k, n]; ``ascend.transposed`` marks an
    operand whose tile is written [k, m] or [n, k]. Each change of layout on the way in is noted
    with its bytes. A buffer that has a layout keeps it, and one that only instructions written by
    hand use has the layout that those give it. Runs after InferScope.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        transposed, notes = _read(func)
        by_hand = _by_hand(func)

        def annotate(alloc: tirx.AllocBuffer):
            space = space_of(alloc.buffer)
            if space not in LAYOUT_OF_SPACE or LAYOUT in alloc.annotations:
                return alloc
            if alloc.buffer in by_hand:
                return alloc
            if not _is_matrix(alloc.buffer):
                raise NotAMatrix(alloc.buffer.name, list(alloc.buffer.shape), alloc.span)
            turned = tirx.IntImm("int32", transposed.get(alloc.buffer, False))
            found = {LAYOUT: LAYOUT_OF_SPACE[space], TRANSPOSED: turned}
            return tirx.AllocBuffer(alloc.buffer, {**alloc.annotations, **found}, alloc.span)

        body = tvm_ffi.structural_map(func.body, [(tirx.AllocBuffer, annotate)])
        return note(func.with_body(body, func.span), *notes)


def _by_hand(func: tirx.PrimFunc) -> set:
    """The buffers that instructions use and no tile operation."""
    users: dict[bool, set] = {True: set(), False: set()}

    def seen(stmt: tirx.Evaluate) -> None:
        key = key_of(stmt)
        if key is None:
            return
        for arg in stmt.value.args:
            if hasattr(arg, "source"):
                users[key in TILE_OPS].add(arg.source)

    tvm_ffi.structural_walk(func.body, [(tirx.Evaluate, seen)])
    return users[False] - users[True]


def _is_matrix(buffer) -> bool:
    shape = list(buffer.shape)
    return len(shape) >= 2 and all(is_const(extent, 1) for extent in shape[:-2])


def _read(func: tirx.PrimFunc) -> tuple[dict, list[str]]:
    """Which operand tiles are transposed, and one note for each change of layout."""
    transposed: dict = {}
    notes: list[str] = []

    def seen(stmt: tirx.Evaluate) -> None:
        key = key_of(stmt)
        if key == "tile_copy":
            notes.extend(_layout_change(stmt))
        if key != "tile_gemm":
            return
        for operand, flag in zip(stmt.value.args[1:3], stmt.value.args[3:5], strict=True):
            buffer, turned = as_region(operand).source, bool(int(flag))
            if transposed.setdefault(buffer, turned) != turned:
                raise LayoutContradiction(buffer.name, stmt.span)

    tvm_ffi.structural_walk(func.body, [(tirx.Evaluate, seen)])
    return transposed, notes


def _layout_change(stmt: tirx.Evaluate) -> list[str]:
    src, dst = (as_region(arg).source for arg in stmt.value.args)
    if space_of(src) is not Space.GM or space_of(dst) is not Space.L1:
        return []
    elements = 1
    for extent in dst.shape:
        if not isinstance(extent, tirx.IntImm):
            return []
        elements *= int(extent)
    size = elements * tvm.DataType(str(dst.dtype)).itemsize
    return [
        (
            f"`{src.name}` -> `{dst.name}`: layout ND -> NZ, {size:,} bytes a tile, done by "
            "the copy itself (ND2NZ)"
        )
    ]

# SPDX-License-Identifier: Apache-2.0
"""Spread the grid of a kernel over the cores of the chip."""

from __future__ import annotations

from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.errors import EmptyGrid, NestedGrid, NoThreads, NoUnitForDtype
from tvm_ascend.isa.instr import CoreType, Space
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.kernel import SUB_BLOCK
from tvm_ascend.language.loops import NUM_STAGES, STAGES_CHOICE
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.depth import GRID_STAGES, depth_of
from tvm_ascend.sym import Analyzer
from tvm_ascend.target import chip_of
from tvm_ascend.transform.choices import overrides_of

GRID = "ascend.grid"
_GRID_TAGS = ("blockIdx.", SUB_BLOCK)
_CUBE_SPACES = (Space.L1, Space.L0A, Space.L0B, Space.L0C)


def core_type_of(body: tirx.Stmt) -> CoreType:
    """Return the core kind that owns a kernel: Cube where anything needs it, else Vector."""
    found = []

    def allocation(node: tirx.AllocBuffer) -> None:
        if space_of(node.buffer) in _CUBE_SPACES:
            found.append(node)

    def call(node: tvm.ir.Call) -> None:
        if key_of(node) == "tile_gemm":
            found.append(node)

    tvm_ffi.structural_walk(body, [(tirx.AllocBuffer, allocation), (tvm.ir.Call, call)])
    return CoreType.AIC if found else CoreType.AIV


@dataclass(frozen=True)
class _Axis:
    """One dimension of the grid."""

    var: tvm.ir.Var
    low: tvm.ir.Expr | int
    extent: tvm.ir.Expr
    tag: str
    span: tvm.ir.Span | None


def _thread_axis(stmt: object) -> _Axis | None:
    """Read a statement that is bound to a thread axis, in either of TIR's two forms."""
    if isinstance(stmt, tirx.AttrStmt) and stmt.attr_key == "thread_extent":
        return _Axis(stmt.node.var, 0, _counted(stmt.value), stmt.node.thread_tag, stmt.span)
    if isinstance(stmt, tirx.For) and stmt.thread_binding is not None:
        tag = stmt.thread_binding.thread_tag
        return _Axis(stmt.loop_var, stmt.min, _counted(stmt.extent), tag, stmt.span)
    return None


def _counted(extent: tvm.ir.Expr) -> tvm.ir.Expr:
    """Blocks are counted in int32, whatever the dtype of a constant."""
    return tirx.IntImm("int32", int(extent)) if isinstance(extent, tirx.IntImm) else extent


def _peel(body: tirx.Stmt) -> tuple[list[_Axis], tirx.Stmt]:
    """Split a kernel into its grid dimensions, outermost first, and what runs for each point."""
    grid = []
    while (axis := _thread_axis(body)) is not None and axis.tag.startswith(_GRID_TAGS):
        grid.append(axis)
        body = body.body

    def nested(stmt: tirx.Stmt) -> None:
        axis = _thread_axis(stmt)
        if axis is not None:
            error = NestedGrid if axis.tag.startswith("blockIdx.") else NoThreads
            raise error(axis.tag, axis.span)

    tvm_ffi.structural_walk(body, [((tirx.AttrStmt, tirx.For), nested)])
    return grid, body


def _check_dtypes(func: tirx.PrimFunc) -> None:
    """Refuse a buffer of a dtype that no unit has."""
    buffers = [(p, func.span) for p in func.params if tirx.is_buffer_var(p)]
    tvm_ffi.structural_walk(
        func.body, [(tirx.AllocBuffer, lambda n: buffers.append((n.buffer, n.span)))]
    )
    allowed = [dtype for (dtype,) in TABLE["get_value"].dtypes]
    for buffer, span in buffers:
        if str(buffer.ty.dtype) not in allowed:
            raise NoUnitForDtype(f"`{buffer.name}`", str(buffer.ty.dtype), allowed, span)


def _points(grid: list[_Axis], flat: tvm.ir.Expr) -> dict[tvm.ir.Var, tvm.ir.Expr]:
    """Recover every grid variable from the flat block number; the first varies fastest."""
    points: dict[tvm.ir.Var, tvm.ir.Expr] = {}
    for axis in grid[:-1]:
        points[axis.var] = tirx.floormod(flat, axis.extent)
        flat = tirx.floordiv(flat, axis.extent)
    points[grid[-1].var] = flat
    lows = {axis.var: axis.low for axis in grid}
    return {
        v: lows[v] + (e if v.ty == e.ty else tirx.Cast(str(v.ty.dtype), e))
        for v, e in points.items()
    }


def _bound(var, extent, tag: str, body: tirx.Stmt, span: tvm.ir.Span | None) -> tirx.AttrStmt:
    """Bind a variable to a thread axis."""
    axis = tirx.IterVar(tvm.ir.Range(0, extent), var, tirx.IterVar.ThreadIndex, tag)
    return tirx.AttrStmt(axis, "thread_extent", extent, body, span)


@prim_func_pass(opt_level=0, name="ascend.MapCores")
class MapCores:
    """Launch at most one block per core and loop over the rest of the grid.

    Before, on a chip of 48 cores::

        bx = T.launch_thread("blockIdx.x", 128)
        body(bx)

    After::

        block = T.launch_thread("blockIdx.x", 48)
        for step in T.serial(
            (175 - block) // 48,
            annotations={"ascend.num_stages": 2, "ascend.stages_choice": "grid_stages"},
        ):
            body(block + step * 48)

    Runs first. A grid of several dimensions is flattened; a function without a grid runs on one
    core. Blocks of AI Cores (``is_npu``) are spread over those; the number of the Vector core stays
    bound below the block. The override ``grid_stages`` is the depth of the loop.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        _check_dtypes(func)
        grid, body = _peel(func.body)
        sub = [axis for axis in grid if axis.tag == SUB_BLOCK]
        grid = [axis for axis in grid if axis not in sub]
        total: tvm.ir.Expr = tirx.IntImm("int32", 1)
        for axis in grid:
            total = total * axis.extent
        if isinstance(total, tirx.IntImm) and int(total) < 1:
            raise EmptyGrid(tuple(a.extent for a in grid), grid[0].span)
        cores = chip_of(func).cores("AIC" if sub else core_type_of(body))
        launched = min(int(total), cores) if isinstance(total, tirx.IntImm) else cores
        span = grid[0].span if grid else func.span
        block = tirx.Var("block", "int32")
        if isinstance(total, tirx.IntImm) and int(total) <= cores:
            flat, loop = block, None
        else:
            step = tirx.Var("step", "int32")
            trips = Analyzer().simplify(tirx.floordiv(total - block + (cores - 1), cores))
            flat, loop = block + step * cores, (step, trips)
        points = _points(grid, flat) if grid else {}
        body = tvm_ffi.structural_map(body, [(tvm.ir.Var, lambda v: points.get(v, v))])
        if loop is not None:
            depth = depth_of(overrides_of(func), GRID_STAGES)
            annotations = {NUM_STAGES: depth, STAGES_CHOICE: GRID_STAGES}
            body = tirx.For(
                loop[0], 0, loop[1], tirx.ForKind.SERIAL, body, None, annotations, span=span
            )
        for part in sub:
            body = _bound(part.var, part.extent, part.tag, body, part.span)
        body = _bound(block, launched, "blockIdx.x", body, span)
        return func.with_body(body, func.span).with_attr(GRID, launched)

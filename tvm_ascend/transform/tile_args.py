# SPDX-License-Identifier: Apache-2.0
"""Operands of tile operations as regions."""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm.ir import Range, TensorRegion

from tvm_ascend import sym


def is_const(expr, value: int) -> bool:
    """Whether an expression is this very integer (or truth) constant."""
    return isinstance(expr, tirx.IntImm) and int(expr.value) == value


def proves(analyzer: sym.Analyzer, condition) -> bool:
    """Whether a condition holds for every value of the bound variables; asks Z3 last."""
    return analyzer.can_prove(condition, everything=True)


def as_region(arg) -> TensorRegion:
    """The region an operand means; an element is a region of extent 1 in every dimension."""
    if isinstance(arg, tvm.ir.TensorLoad):
        return tirx.BufferRegion(arg.source, [Range.from_min_extent(i, 1) for i in arg.indices])
    return arg


def long_axes(region: TensorRegion) -> list[int]:
    """The axes along which a region is not known to hold a single element."""
    return [axis for axis, r in enumerate(region.region) if not is_const(r.extent, 1)]


def rebuilt(region: TensorRegion, extents: dict) -> TensorRegion:
    """The region with the extents of some axes replaced."""
    ranges = [
        Range.from_min_extent(r.min, extents.get(axis, r.extent))
        for axis, r in enumerate(region.region)
    ]
    return tirx.BufferRegion(region.source, ranges)


def resized(buffer, shape=None, name: str | None = None):
    """A buffer like another, of another shape or name."""
    return tirx.decl_buffer(
        buffer.shape if shape is None else shape,
        buffer.dtype,
        name or str(buffer.name),
        scope=buffer.scope(),
        layout=None if buffer.ty.layout is None else "default",
    )


def sequence(stmts: list, span=None) -> tirx.Stmt:
    """Statements in order; TIR forbids a sequence of one."""
    return stmts[0] if len(stmts) == 1 else tirx.SeqStmt(stmts, span)

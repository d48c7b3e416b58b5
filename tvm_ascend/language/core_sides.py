# SPDX-License-Identifier: Apache-2.0
"""The programs of a function: one, or in a mixed kernel one for each kind of core."""

from __future__ import annotations

from collections.abc import Callable

import tvm
from tvm import tirx

from tvm_ascend.isa.instr import CoreType
from tvm_ascend.language.kernel import SCOPE, SCOPES, SUB_BLOCK

CORE_TYPE = "ascend.core_type"
MIX = "MIX"


def core_type_of(func: tirx.PrimFunc) -> str:
    """``AIC``, ``AIV`` or ``MIX``, as SplitCores found it."""
    return str(func.attrs[CORE_TYPE])


def is_mixed(func: tirx.PrimFunc) -> bool:
    """Whether a function holds a program for each kind of core."""
    return bool(func.attrs) and func.attrs.get(CORE_TYPE) == MIX


def scope_of(stmt: object) -> CoreType | None:
    """The kind of core of a ``T.Scope``, or None."""
    if isinstance(stmt, tirx.AttrStmt) and stmt.attr_key == SCOPE:
        return SCOPES[str(stmt.value.value)]
    return None


def join(
    sides: dict[CoreType, tirx.Stmt], grid: list[tirx.AttrStmt], span: tvm.ir.Span | None
) -> tirx.Stmt:
    """The body of a mixed kernel: below the grid, one scope for each kind of core."""
    names = {kind: name for name, kind in SCOPES.items()}
    body: tirx.Stmt = tirx.SeqStmt(
        [
            tirx.AttrStmt(0, SCOPE, tvm.ir.StringImm(names[kind]), side, span)
            for kind, side in sides.items()
        ]
    )
    return _in_grid(body, grid)


def below_grid(body: tirx.Stmt) -> tuple[list[tirx.AttrStmt], tirx.Stmt]:
    """The statements that bind the grid, outermost first, and what runs for each point."""
    grid = []
    while isinstance(body, tirx.AttrStmt) and body.attr_key == "thread_extent":
        grid.append(body)
        body = body.body
    return grid, body


def sides_of(func: tirx.PrimFunc) -> dict[CoreType, tirx.Stmt]:
    """What each kind of core runs for a point of the grid, Cube first."""
    _, body = below_grid(func.body)
    if not is_mixed(func):
        return {CoreType(core_type_of(func)): body}
    return {SCOPES[str(part.value.value)]: part.body for part in body.seq}


def on_each_core(
    func: tirx.PrimFunc, transform: Callable[[tirx.PrimFunc], tirx.PrimFunc]
) -> tirx.PrimFunc:
    """Apply a pass that knows one kind of core to every program of a function."""
    if not is_mixed(func):
        return transform(func)
    grid, _ = below_grid(func.body)
    sides = {}
    for kind in sides_of(func):
        one = transform(_program(func, kind))
        sides[kind] = below_grid(one.body)[1]
        func = func.with_attr({k: v for k, v in one.attrs.items() if k != CORE_TYPE})
    return func.with_body(join(sides, grid, func.span), func.span)


def programs(func: tirx.PrimFunc) -> list[tirx.PrimFunc]:
    """A function of one kind of core for every program of a function."""
    return [_program(func, kind) for kind in sides_of(func)] if is_mixed(func) else [func]


def _program(func: tirx.PrimFunc, kind: CoreType) -> tirx.PrimFunc:
    grid, _ = below_grid(func.body)
    body = _in_grid(sides_of(func)[kind], grid)
    return func.with_body(body, func.span).with_attr(CORE_TYPE, kind.value)


def _in_grid(body: tirx.Stmt, grid: list[tirx.AttrStmt]) -> tirx.Stmt:
    for axis in reversed(grid):
        body = tirx.AttrStmt(axis.node, axis.attr_key, axis.value, body, axis.span)
    return body


def is_sub_block(axis: tirx.AttrStmt) -> bool:
    """Whether a part of the grid are the Vector cores of an AI Core."""
    return axis.node.thread_tag == SUB_BLOCK

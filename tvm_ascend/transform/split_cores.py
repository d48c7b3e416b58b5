# SPDX-License-Identifier: Apache-2.0
"""Decide which core kind runs a kernel, or give each kind its own program."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.errors import MixedKernel, ScopeWithoutAiCore, UnscopedStatement
from tvm_ascend.isa.instr import CoreType, Space
from tvm_ascend.language.core_sides import CORE_TYPE, MIX, below_grid, is_sub_block, join, scope_of
from tvm_ascend.transform.sync.access import instruction, placed_in
from tvm_ascend.transform.sync.tree import Step, build, steps, with_loop_body

_OWNER = {
    Space.UB: CoreType.AIV,
    Space.L1: CoreType.AIC,
    Space.L0A: CoreType.AIC,
    Space.L0B: CoreType.AIC,
    Space.L0C: CoreType.AIC,
    Space.BT: CoreType.AIC,
    Space.FB: CoreType.AIC,
}
_KINDS = (CoreType.AIC, CoreType.AIV)


@prim_func_pass(opt_level=0, name="ascend.SplitCores")
class SplitCores:
    """Set ``ascend.core_type`` to AIC or AIV from the instructions and memories that are used.

    Before::

        T.ascend.exp(x[0], x[0], 64)

    After::

        T.func_attr({"ascend.core_type": "AIV"})
        T.ascend.exp(x[0], x[0], 64)

    Scalar code that touches global memory only runs on the vector core, of which there are more.
    A kernel that needs both kinds is an error, unless its blocks run on AI Cores
    (``T.Kernel(..., is_npu=True)``). Then the type is MIX and every kind gets a program: loops and
    conditions around its statements are repeated in each.

    Before::

        for i in range(4):
            with T.attr(0, "ascend.scope", "C"):
                T.ascend.cross_core_set_flag("2", "FIX", 0)
            with T.attr(0, "ascend.scope", "V"):
                T.ascend.cross_core_wait_flag(0)

    After::

        with T.attr(0, "ascend.scope", "C"):
            for i in range(4):
                T.ascend.cross_core_set_flag("2", "FIX", 0)
        with T.attr(0, "ascend.scope", "V"):
            for i in range(4):
                T.ascend.cross_core_wait_flag(0)

    Runs after SelectInstructions.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        grid, body = below_grid(func.body)
        if any(is_sub_block(axis) for axis in grid):
            return _split(func, grid, body).with_attr(CORE_TYPE, MIX)
        _refuse_scopes(body)
        needs: dict[CoreType, Step] = {}
        for step in steps(build(func.body)):
            core = _core_of(step)
            if core is not None:
                needs.setdefault(core, step)
        if len(needs) > 1:
            vector, cube = needs[CoreType.AIV].stmt, needs[CoreType.AIC].stmt
            raise MixedKernel(_name(vector), vector.span, _name(cube), cube.span)
        core = next(iter(needs), CoreType.AIV)
        return func.with_attr(CORE_TYPE, core.value)


def _refuse_scopes(body: tirx.Stmt) -> None:
    def attribute(stmt: tirx.AttrStmt) -> None:
        if scope_of(stmt) is not None:
            raise ScopeWithoutAiCore(str(stmt.value.value), stmt.span)

    tvm_ffi.structural_walk(body, [(tirx.AttrStmt, attribute)], order="pre")


def _split(func: tirx.PrimFunc, grid: list[tirx.AttrStmt], body: tirx.Stmt) -> tirx.PrimFunc:
    """Make the body one scope for each kind of core."""
    (sub,) = (axis for axis in grid if is_sub_block(axis))
    sides = {kind: _or_nothing(_side(body, kind)) for kind in _KINDS}
    # The Cube core has no other beside it, and what both programs define is a variable of each.
    renamed = {v: tirx.Var(v.name, v.ty) for v in _defined(sides[CoreType.AIC])}
    renamed[sub.node.var] = tirx.IntImm("int32", 0)
    sides[CoreType.AIC] = tvm_ffi.structural_map(
        sides[CoreType.AIC], [(tvm.ir.Var, lambda v: renamed.get(v, v))]
    )
    return func.with_body(join(sides, grid, func.span), func.span)


def _defined(body: tirx.Stmt) -> list[tvm.ir.Var]:
    """The variables of loops and bindings."""
    found: list[tvm.ir.Var] = []
    tvm_ffi.structural_walk(
        body,
        [
            (tirx.For, lambda s: found.append(s.loop_var)),
            (tirx.Bind, lambda s: found.append(s.var)),
        ],
    )
    return found


def _side(stmt: tirx.Stmt, kind: CoreType, scoped: bool = False) -> tirx.Stmt | None:
    """What one kind of core runs of a statement; None for nothing."""
    if isinstance(stmt, tirx.SeqStmt):
        parts = [p for p in (_side(s, kind, scoped) for s in stmt.seq) if p is not None]
        return tirx.SeqStmt(parts, stmt.span) if len(parts) > 1 else next(iter(parts), None)
    if isinstance(stmt, tirx.AttrStmt):
        scope = scope_of(stmt)
        if scope is not None:
            return _side(stmt.body, kind, scoped=True) if scope is kind else None
    if isinstance(stmt, tirx.IfThenElse):
        return _branch(stmt, kind, scoped)
    if isinstance(stmt, (tirx.AttrStmt, tirx.For, tirx.While)):
        body = _side(stmt.body, kind, scoped)
        return None if body is None else _around(stmt, body)
    return stmt if scoped or _belongs(stmt, kind) else None


def _around(stmt: tirx.Stmt, body: tirx.Stmt) -> tirx.Stmt:
    """A statement that holds another one, with another one in it."""
    if isinstance(stmt, tirx.AttrStmt):
        return tirx.AttrStmt(stmt.node, stmt.attr_key, stmt.value, body, stmt.span)
    if isinstance(stmt, tirx.While):
        return tirx.While(stmt.condition, body, stmt.span)
    return with_loop_body(stmt, body)


def _branch(stmt: tirx.IfThenElse, kind: CoreType, scoped: bool) -> tirx.Stmt | None:
    then = _side(stmt.then_case, kind, scoped)
    other = None if stmt.else_case is None else _side(stmt.else_case, kind, scoped)
    if then is None and other is None:
        return None
    return tirx.IfThenElse(stmt.condition, _or_nothing(then), other, stmt.span)


def _or_nothing(stmt: tirx.Stmt | None) -> tirx.Stmt:
    return tirx.Evaluate(0) if stmt is None else stmt


def _belongs(stmt: tirx.Stmt, kind: CoreType) -> bool:
    """Whether a statement outside of every scope is one for that kind of core."""
    (step,) = steps(build(stmt))
    core = _core_of(step)
    if core is None and (instruction(stmt) is not None or isinstance(stmt, tirx.BufferStore)):
        raise UnscopedStatement(_name(stmt), stmt.span)
    return core is None or core is kind


def _core_of(step: Step) -> CoreType | None:
    """The only core kind that can run a step, or None when both can."""
    if isinstance(step.stmt, tirx.AllocBuffer):
        return _OWNER.get(placed_in(step.stmt.buffer))
    row = instruction(step.stmt)
    if row is not None and len(row.core) == 1:
        return row.core[0]
    owners = [_OWNER[a.space] for a in step.accesses if a.space in _OWNER]
    return owners[0] if owners else None


def _name(stmt: tirx.Stmt) -> str:
    if isinstance(stmt, tirx.AllocBuffer):
        return f"buffer `{stmt.buffer.name}` in {placed_in(stmt.buffer).value.upper()}"
    row = instruction(stmt)
    return row.name if row is not None else "a scalar access"

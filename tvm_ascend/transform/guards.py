# SPDX-License-Identifier: Apache-2.0
"""Conditions: proving them, guarding statements with them, shortening loops by them."""

from __future__ import annotations

import functools

import tvm
from tvm import tirx

from tvm_ascend import sym
from tvm_ascend.transform import tile_args
from tvm_ascend.transform.access import constant
from tvm_ascend.transform.nest import Loop
from tvm_ascend.transform.selection import NotVectorizable, Selection


def proves(ctx: Selection, condition: tvm.ir.Expr | bool) -> bool:
    """Whether a condition holds for all values of the variables in scope."""
    if isinstance(condition, bool):
        return condition
    return tile_args.proves(ctx.analyzer, condition)


def guarded(ctx: Selection, conditions: list, stmts: list[tirx.Stmt]) -> list[tirx.Stmt]:
    """Run statements only where all conditions hold."""
    if not conditions or not stmts:
        return stmts
    condition = functools.reduce(tirx.And, conditions)
    return [tirx.IfThenElse(condition, tile_args.sequence(stmts), None, ctx.span)]


def cut_loops(
    ctx: Selection, loops: list[Loop], condition: tvm.ir.Expr
) -> tuple[list[Loop], list[tvm.ir.Expr]]:
    """Shorten loops so that a condition holds in them; return what is left of the condition."""
    if isinstance(condition, tirx.And):
        loops, left = cut_loops(ctx, loops, condition.a)
        loops, right = cut_loops(ctx, loops, condition.b)
        return loops, [*left, *right]
    excess = _excess(condition)
    if excess is None:
        return loops, [_independent(condition, loops)]
    variables = [v for v, _ in loops]
    form = sym.detect_linear_equation(excess, variables)
    if len(form) == 0:
        raise NotVectorizable("its condition is not linear")
    moving = [k for k, factor in enumerate(form[: len(variables)]) if constant(factor) != 0]
    if not moving:
        return loops, [condition]
    if len(moving) > 1 or constant(form[moving[0]]) != 1:
        raise NotVectorizable("its condition is no upper bound of one loop")
    var, extent = loops[moving[0]]
    end = ctx.simplify(tirx.max(tirx.min(extent, -form[len(variables)]), 0))
    return [(v, end if v.same_as(var) else e) for v, e in loops], []


def _excess(condition: tvm.ir.Expr) -> tvm.ir.Expr | None:
    """Return an integer expression that is negative exactly where a comparison holds."""
    if not isinstance(condition, (tirx.LT, tirx.LE, tirx.GT, tirx.GE)):
        return None
    if "int" not in str(condition.a.ty.dtype):
        return None
    small, large = condition.a, condition.b
    if isinstance(condition, (tirx.GT, tirx.GE)):
        small, large = large, small
    difference = small - large
    return difference - 1 if isinstance(condition, (tirx.LE, tirx.GE)) else difference


def _independent(condition: tvm.ir.Expr, loops: list[Loop]) -> tvm.ir.Expr:
    used = tirx.analysis.undefined_vars(condition, [])
    if any(u.same_as(v) for v, _ in loops for u in used):
        raise NotVectorizable("its condition differs from element to element")
    return condition

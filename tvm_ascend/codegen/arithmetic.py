# SPDX-License-Identifier: Apache-2.0
"""Arithmetic whose host code must give what the emitted C++ gives, for every value.

LLVM may take an integer overflow and a shift past the width for impossible, and TVM compares floats
for `!=` in order, which is false for NaN, and has no comparison of bools. A division by zero would
end the process. Shifts by the width or more, which neither language defines, give what numpy gives:
every bit has left.
"""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Call

from tvm_ascend import sym
from tvm_ascend.codegen.walk import dtype_of
from tvm_ascend.isa.dtypes import is_float, is_int

FLOORED = {tirx.FloorDiv: tirx.Div, tirx.FloorMod: tirx.Mod}
"""A floor division -> the division that truncates."""
DIVISIONS = (*FLOORED, *FLOORED.values())
SHIFTS = (tirx.LShift, tirx.RShift)
_COMPARISONS = (tirx.EQ, tirx.NE, tirx.LT, tirx.LE, tirx.GT, tirx.GE)

_OPEN = 2**63 - 1
"""The analyzer's word for no upper bound."""


def at_least(analyzer: sym.Analyzer, expr, least: int) -> bool:
    """Whether a value is known to be ``least`` or more.

    The analyzer computes without overflow. So a value counts as known only where it and everything
    that it is computed from fits its dtype: then nothing wraps around on the way.
    """
    if analyzer.const_int_bound(expr).min_value < least:
        return False
    parts: list = [expr]
    tvm_ffi.structural_walk(expr, [(sym.OPERATIONS, parts.append)])
    return all(_fits(analyzer, part) for part in parts if is_int(dtype_of(part)))


def _fits(analyzer: sym.Analyzer, expr) -> bool:
    bound, dtype = analyzer.const_int_bound(expr), dtype_of(expr)
    high = min(int(tirx.max_value(dtype).value), _OPEN - 1)
    return int(tirx.min_value(dtype).value) <= bound.min_value and bound.max_value <= high


def truncates(analyzer: sym.Analyzer, division) -> bool:
    """Whether a floor division is a plain one: nothing negative, and no zero divisor."""
    unsigned = dtype_of(division).startswith("u")
    return at_least(analyzer, division.b, 1) and (unsigned or at_least(analyzer, division.a, 0))


def may_fault(division) -> bool:
    """Whether a division has a divisor that could be 0 or overflow the quotient."""
    return not (isinstance(division.b, tirx.IntImm) and division.b.value not in (0, -1))


def shifts_within(analyzer: sym.Analyzer, shift) -> bool:
    """Whether a shift is by at least 0 and less than the width, whatever wraps around."""
    amount = shift.b
    if isinstance(amount, tirx.BitwiseAnd):
        amount = next((e for e in (amount.a, amount.b) if isinstance(e, tirx.IntImm)), amount)
    if not isinstance(amount, (tirx.IntImm, tvm.ir.Var)):
        return False
    bound = analyzer.const_int_bound(amount)
    return bound.min_value >= 0 and bound.max_value < tvm.DataType(dtype_of(shift)).bits


def exact(stmt: tirx.Stmt) -> tirx.Stmt:
    """Rewrite a lowered host statement for LLVM."""
    rules = [((tirx.Add, tirx.Sub, tirx.Mul), _wrapped), (_COMPARISONS, _compared)]
    return tvm_ffi.structural_mutate(stmt, rules)


def lowered_call(call: Call):
    """``fmod`` and ``likely``, the calls that TVM does not lower for LLVM, as others."""
    name = call.op.name if isinstance(call.op, tvm.ir.Op) else ""
    if name.endswith(".likely"):
        return call.args[0]
    if name != "tirx.fmod":
        return call
    values = [tirx.Cast("float32", a) for a in call.args]
    return tirx.Cast(dtype_of(call), tirx.call_pure_extern("float32", "fmodf", *values))


def _wrapped(node, mutator):
    """Sums and products of integers in twice the width, where nothing overflows; LLVM narrows."""
    a, b, dtype = mutator.mutate(node.a), mutator.mutate(node.b), dtype_of(node)
    bits = tvm.DataType(dtype).bits
    if not is_int(dtype) or bits < 32:
        return type(node)(a, b)
    sign = "u" if dtype.startswith("u") and isinstance(node, tirx.Mul) else ""
    wide = f"{sign}int{2 * bits}"
    return tirx.Cast(dtype, type(node)(tirx.Cast(wide, a), tirx.Cast(wide, b)))


def _compared(node, mutator):
    kind, operands = type(node), [mutator.mutate(e) for e in (node.a, node.b)]
    dtype = dtype_of(node.a)
    if dtype == "bool":
        operands = [tirx.Cast("int32", e) for e in operands]
    if kind is tirx.NE and is_float(dtype):
        return tirx.Not(tirx.EQ(*operands))
    return kind(*operands)

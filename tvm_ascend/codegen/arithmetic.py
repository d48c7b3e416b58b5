# SPDX-License-Identifier: Apache-2.0
"""Arithmetic whose host code must give what the emitted C++ gives, for every value.

LLVM may take an integer overflow and a shift past the width for impossible, and TVM compares floats
for `!=` in order, which is false for NaN, and has no comparison of bools. A division by zero would
end the process. Shifts by the width or more, which neither language defines, give what numpy gives:
every bit has left.
"""

from __future__ import annotations

import operator

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

_IN_FLOAT32 = (
    *("erf", "log1p", "cosh", "acos", "acosh", "sinh", "asin", "asinh", "atan"),
    *("atan2", "hypot", "copysign"),
)
"""Functions of the C library that it has for float32 alone; narrower floats are rounded after."""
_SEVERAL = ("exp10", "tanh", "sigmoid", "tan", "atanh", "rsqrt")
"""Functions that TVM lowers to several operations; of bfloat16 only the result is rounded."""

_FOLDS = {tirx.Add: operator.add, tirx.Sub: operator.sub, tirx.Mul: operator.mul}

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


def plain(stmt: tirx.Stmt) -> tirx.Stmt:
    """Rewrite host code so that lowering for LLVM folds no constant that wraps and fuses no sum.

    Runs before functions are lowered, and leaves to ``exact`` what those become.
    """
    rules = [(tirx.Add, _sum), ((tirx.Sub, tirx.Mul), _folded), (tirx.Cast, _cast)]
    return tvm_ffi.structural_mutate(stmt, rules)


def exact(stmt: tirx.Stmt) -> tirx.Stmt:
    """Rewrite a lowered host statement for LLVM."""
    rules = [((tirx.Add, tirx.Sub, tirx.Mul), _wrapped), (_COMPARISONS, _compared)]
    return tvm_ffi.structural_mutate(stmt, rules)


def lowered_alone(call: Call):
    """What TVM makes of a function for LLVM; in its arguments it would fuse products with sums."""
    hidden: dict[tvm.ir.Var, tvm.ir.Expr] = {}

    def named(value):
        if isinstance(value, (tirx.IntImm, tirx.FloatImm, tvm.ir.StringImm)):
            return value
        var = tirx.Var(f"value_{len(hidden)}", dtype_of(value))
        hidden[var] = value
        return var

    alone = Call(call.op, [named(a) for a in call.args], ret_ty=call.ty, span=call.span)
    func = tirx.PrimFunc([], tirx.Evaluate(alone)).with_attr(
        {"global_symbol": "scalar", "target": tvm.target.Target("llvm")}
    )
    lowered = tirx.transform.LowerIntrin()(tvm.IRModule({"scalar": func}))["scalar"].body.value
    return tvm_ffi.structural_map(lowered, [(tvm.ir.Var, lambda v: hidden.get(v, v))])


def lowered_call(call: Call):
    """Calls that TVM does not lower for LLVM, or only of float32, as others."""
    name = call.op.name if isinstance(call.op, tvm.ir.Op) else ""
    if name.endswith(".likely"):
        return call.args[0]
    short, dtype = name.rpartition(".")[2], dtype_of(call)
    alone = short in _IN_FLOAT32 and dtype != "float32"
    several = short in _SEVERAL and dtype == "bfloat16"
    if not (alone or several or short == "fmod"):
        return call
    values = [tirx.Cast("float32", a) for a in call.args]
    if short == "fmod":
        return tirx.Cast(dtype, tirx.call_pure_extern("float32", "fmodf", *values))
    return tirx.Cast(dtype, Call(call.op, values, ret_ty="float32"))


def _sum(node, mutator):
    """A product in a sum of floats is rounded by itself: behind a cast it is not seen."""
    if not is_float(dtype_of(node)):
        return _folded(node, mutator)
    a, b = (mutator.mutate(e) for e in (node.a, node.b))
    return tirx.Add(*(tirx.Cast(e.ty, e) if isinstance(e, tirx.Mul) else e for e in (a, b)))


def _folded(node, mutator):
    """Constants wrap around here; TVM refuses those that its dtype does not hold."""
    a, b, dtype = mutator.mutate(node.a), mutator.mutate(node.b), dtype_of(node)
    if not (is_int(dtype) and isinstance(a, tirx.IntImm) and isinstance(b, tirx.IntImm)):
        return type(node)(a, b)
    return _constant(_FOLDS[type(node)](int(a.value), int(b.value)), dtype)


def _cast(node, mutator):
    value, dtype = mutator.mutate(node.value), dtype_of(node)
    if is_int(dtype) and isinstance(value, tirx.IntImm):
        return _constant(int(value.value), dtype)
    return tirx.Cast(node.ty, value)


def _constant(value: int, dtype: str) -> tirx.IntImm:
    low, bits = int(tirx.min_value(dtype).value), tvm.DataType(dtype).bits
    return tirx.IntImm(dtype, (value - low) % 2**bits + low)


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

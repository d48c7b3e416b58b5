# SPDX-License-Identifier: Apache-2.0
"""TVM's symbolic analysis, kept to integers.

TVM simplifies floats as if they were real numbers: `x != x` is false, `x - x` is 0 and `not x < y`
is `x >= y`. For NaN and infinity none of these holds. So floats are hidden from it, and with them
shifts, which it refuses where they come out as constants that overflow.

Integers of indices, loop bounds and conditions are analyzed as if they never overflowed, as TVM
defines them: an index that overflows addresses nothing anyway.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import tvm
import tvm_ffi
from tvm import sym, tirx
from tvm.ir import Op, Range, StringImm
from tvm.ir.op import register_op_attr

from tvm_ascend.isa.dtypes import is_float

HIDDEN = "tirx.ascend.hidden"
_PURE = 1  # must be an int: an IntImm breaks every function that uses the op
register_op_attr(HIDDEN, "TCallEffectKind", _PURE)
register_op_attr(HIDDEN, "TScriptPrinterName", "hidden")

OPERATIONS = (
    *(tirx.Add, tirx.Sub, tirx.Mul, tirx.Div, tirx.Mod, tirx.FloorDiv, tirx.FloorMod),
    *(
        tirx.LShift,
        tirx.RShift,
        tirx.Min,
        tirx.Max,
        tirx.EQ,
        tirx.NE,
        tirx.LT,
        tirx.LE,
        tirx.GT,
        tirx.GE,
    ),
)
"""What TVM simplifies by rules that hold for integers which do not overflow."""
_BY_NAME = {kind.__name__: kind for kind in OPERATIONS}


def hide(node: Any) -> tvm.ir.Call:
    """A binary operation as a call that no rule knows."""
    kind = StringImm(type(node).__name__)
    return tvm.ir.Call(Op.get(HIDDEN), [kind, node.a, node.b], ret_ty=node.ty, span=node.span)


def show(node: Any) -> Any:
    """The operation that a call hides, or the node itself."""
    if not isinstance(node, tvm.ir.Call) or not isinstance(node.op, Op) or node.op.name != HIDDEN:
        return node
    kind, a, b = node.args
    return _BY_NAME[str(kind.value)](a, b, node.span)


def misjudged(node: Any) -> bool:
    """Whether TVM misjudges an operation: one on floats, or a shift whose constants it refuses."""
    if isinstance(node, tirx.LShift):
        return True
    if isinstance(node, tirx.RShift):
        return not (isinstance(node.b, tirx.IntImm) and 0 <= node.b.value < node.ty.dtype.bits)
    return is_float(str(node.a.ty).strip('"'))


def _hidden(expr: Any) -> Any:
    if not isinstance(expr, tvm.ir.Expr) or isinstance(expr, (tirx.IntImm, tvm.ir.Var)):
        return expr
    rule = (OPERATIONS, lambda node: hide(node) if misjudged(node) else node)
    return tvm_ffi.structural_map(expr, [rule])


def _shown(expr: Any) -> Any:
    return tvm_ffi.structural_map(expr, [(tvm.ir.Call, show)])


class Analyzer:
    """``tvm.sym.Analyzer`` for integers: floats in an expression are left as they stand."""

    def __init__(self) -> None:
        self._analyzer = sym.Analyzer()

    def bind(self, var: tvm.ir.Var, value: Range | tvm.ir.Expr) -> None:
        """Know the range or value of a variable."""
        self._analyzer.bind(var, value if isinstance(value, Range) else _hidden(value))

    def constraint_scope(self, condition: tvm.ir.Expr) -> AbstractContextManager:
        """Know that a condition holds."""
        scope: AbstractContextManager = self._analyzer.constraint_scope(_hidden(condition))
        return scope

    def simplify(self, expr: tvm.ir.Expr) -> tvm.ir.Expr:
        """A simpler expression of the same value."""
        hidden = _hidden(expr)
        found = self._analyzer.simplify(hidden)
        return found if hidden.same_as(expr) else _shown(found)

    def can_prove(self, condition: tvm.ir.Expr, everything: bool = False) -> bool:
        """Whether a condition always holds; ``everything`` asks Z3 last."""
        condition = _hidden(condition)
        proved = self._analyzer.can_prove(condition)
        if not proved and everything:
            proved = self._analyzer.can_prove(condition, sym.ProofStrength.SYMBOLIC_BOUND)
        return bool(proved)

    def can_prove_equal(self, a: Any, b: Any) -> bool:
        """Whether two values are always the same."""
        return bool(self._analyzer.can_prove_equal(_hidden(a), _hidden(b)))

    def const_int_bound(self, expr: tvm.ir.Expr) -> sym.ConstIntBound:
        """The least and largest value."""
        return self._analyzer.const_int_bound(_hidden(expr))

    def modular_set(self, expr: tvm.ir.Expr) -> sym.ModularSet:
        """The values as ``coeff * x + base``."""
        return self._analyzer.modular_set(_hidden(expr))


def detect_linear_equation(expr: tvm.ir.Expr, variables: list[tvm.ir.Var]) -> list[tvm.ir.Expr]:
    """Factors of the variables, then the rest; empty if the expression is not linear in them."""
    return [_shown(e) for e in sym.detect_linear_equation(_hidden(expr), variables)]

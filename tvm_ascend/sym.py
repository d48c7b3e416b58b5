# SPDX-License-Identifier: Apache-2.0
"""TVM's symbolic analysis, kept to integers.

TVM simplifies floats as if they were real numbers: `x != x` is false, `x - x` is 0 and `not x < y`
is `x >= y`. For NaN and infinity none of these holds. So floats are hidden from it, and with them
shifts, which it refuses where they come out as constants that overflow, and casts to integers that
may not hold the value: TVM takes the part of its range that fits, but the value wraps around.

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

from tvm_ascend.isa.dtypes import is_float, is_int

HIDDEN = "tirx.ascend.hidden"
_INDEX_BITS = 32
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
    """A binary operation or a cast as a call that no rule knows."""
    kind = StringImm(type(node).__name__)
    operands = [node.value] if isinstance(node, tirx.Cast) else [node.a, node.b]
    return tvm.ir.Call(Op.get(HIDDEN), [kind, *operands], ret_ty=node.ty, span=node.span)


def show(node: Any) -> Any:
    """The operation that a call hides, or the node itself."""
    if not isinstance(node, tvm.ir.Call) or not isinstance(node.op, Op) or node.op.name != HIDDEN:
        return node
    kind, *operands = node.args
    if len(operands) == 1:
        return tirx.Cast(node.ty, operands[0], node.span)
    return _BY_NAME[str(kind.value)](*operands, node.span)


def _dtype(expr: Any) -> str:
    return str(expr.ty).strip('"')


def misjudged(node: Any) -> bool:
    """Whether TVM misjudges an operation: one on floats, or one whose constants it refuses."""
    if isinstance(node, tirx.LShift):
        return True
    if isinstance(node, (tirx.Add, tirx.Sub, tirx.Mul)) and _folds_out(node):
        return True
    if isinstance(node, tirx.RShift):
        return not (isinstance(node.b, tirx.IntImm) and 0 <= node.b.value < node.ty.dtype.bits)
    return is_float(_dtype(node.a))


def _folds_out(node: Any) -> bool:
    """Whether constants of a dtype may well give one that it does not hold, which TVM refuses."""
    dtype = _dtype(node)
    if not is_int(dtype):
        return False
    narrow = tvm.DataType(dtype).bits < _INDEX_BITS
    return narrow or (dtype.startswith("u") and isinstance(node, tirx.Sub))


def may_wrap(cast: Any, low: int | None = None, high: int | None = None) -> bool:
    """Whether a cast to an integer may not hold a value of ``low..high``; None: any of its dtype.

    From floats it saturates.
    """
    source, target = _dtype(cast.value), _dtype(cast)
    if not is_int(source) or is_float(target):
        return False
    (least, most), (bottom, top) = _values(source), _values(target)
    return (least if low is None else low) < bottom or (most if high is None else high) > top


def _values(dtype: str) -> tuple[int, int]:
    """The least and largest value of an integer dtype or of bool."""
    if dtype == "bool":
        return 0, 1
    return int(tirx.min_value(dtype).value), int(tirx.max_value(dtype).value)


def _shown(expr: Any) -> Any:
    return tvm_ffi.structural_map(expr, [(tvm.ir.Call, show)])


class Analyzer:
    """``tvm.sym.Analyzer`` for integers: floats in an expression are left as they stand."""

    def __init__(self) -> None:
        self._analyzer = sym.Analyzer()

    def _hidden(self, expr: Any) -> Any:
        if not isinstance(expr, tvm.ir.Expr) or isinstance(expr, (tirx.IntImm, tvm.ir.Var)):
            return expr
        rules = [
            (OPERATIONS, lambda node: hide(node) if misjudged(node) else node),
            (tirx.Cast, self._cast),
        ]
        return tvm_ffi.structural_map(expr, rules)

    def _cast(self, cast: tirx.Cast) -> tvm.ir.Expr:
        if not may_wrap(cast):
            return cast
        bound = self._analyzer.const_int_bound(cast.value)
        low, high = int(bound.min_value), int(bound.max_value)
        # The ends of int64 mean that there is no bound.
        return hide(cast) if may_wrap(cast, low, high) or high == bound.POS_INF else cast

    def bind(self, var: tvm.ir.Var, value: Range | tvm.ir.Expr) -> None:
        """Know the range or value of a variable."""
        if isinstance(value, Range):
            known = Range.from_min_extent(self._hidden(value.min), self._hidden(value.extent))
        else:
            known = self._hidden(value)
        self._analyzer.bind(var, known)

    def constraint_scope(self, condition: tvm.ir.Expr) -> AbstractContextManager:
        """Know that a condition holds."""
        scope: AbstractContextManager = self._analyzer.constraint_scope(self._hidden(condition))
        return scope

    def simplify(self, expr: tvm.ir.Expr) -> tvm.ir.Expr:
        """A simpler expression of the same value."""
        hidden = self._hidden(expr)
        found = self._analyzer.simplify(hidden)
        return found if hidden.same_as(expr) else _shown(found)

    def can_prove(self, condition: tvm.ir.Expr, everything: bool = False) -> bool:
        """Whether a condition always holds; ``everything`` asks Z3 last."""
        condition = self._hidden(condition)
        proved = self._analyzer.can_prove(condition)
        if not proved and everything:
            proved = self._analyzer.can_prove(condition, sym.ProofStrength.SYMBOLIC_BOUND)
        return bool(proved)

    def can_prove_equal(self, a: Any, b: Any) -> bool:
        """Whether two values are always the same."""
        return bool(self._analyzer.can_prove_equal(self._hidden(a), self._hidden(b)))

    def const_int_bound(self, expr: tvm.ir.Expr) -> sym.ConstIntBound:
        """The least and largest value."""
        return self._analyzer.const_int_bound(self._hidden(expr))

    def modular_set(self, expr: tvm.ir.Expr) -> sym.ModularSet:
        """The values as ``coeff * x + base``."""
        return self._analyzer.modular_set(self._hidden(expr))


def detect_linear_equation(expr: tvm.ir.Expr, variables: list[tvm.ir.Var]) -> list[tvm.ir.Expr]:
    """Factors of the variables, then the rest; empty if the expression is not linear in them."""
    return [_shown(e) for e in sym.detect_linear_equation(Analyzer()._hidden(expr), variables)]

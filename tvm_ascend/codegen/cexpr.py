# SPDX-License-Identifier: Apache-2.0
"""C++ text of scalar TIR expressions, with the value of every operation as TIR defines it."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

import ml_dtypes
import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Call, TensorLoad

from tvm_ascend import sym
from tvm_ascend.codegen.arithmetic import (
    DIVISIONS,
    SHIFTS,
    lowered_alone,
    lowered_call,
    may_fault,
    shifts_within,
    truncates,
)
from tvm_ascend.codegen.walk import dtype_of
from tvm_ascend.errors import ScalarCodeError
from tvm_ascend.isa.dtypes import is_float, is_int
from tvm_ascend.isa.scalar import TRAP

C_TYPES = {
    "float16": "half",
    "bfloat16": "bfloat16_t",
    "float32": "float",
    "float64": "double",
    "bool": "bool",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
NARROW_FLOATS = ("float16", "bfloat16")
# C++ computes these in wider types; TIR rounds or wraps after every operation.
_NARROW = (*NARROW_FLOATS, "int8", "uint8", "int16", "uint16")

# Operator text and C++ precedence, higher binds tighter.
_BINARY = {
    tirx.Add: ("+", 12),
    tirx.Sub: ("-", 12),
    tirx.Mul: ("*", 13),
    tirx.Div: ("/", 13),
    tirx.Mod: ("%", 13),
    tirx.LT: ("<", 9),
    tirx.LE: ("<=", 9),
    tirx.GT: (">", 9),
    tirx.GE: (">=", 9),
    tirx.EQ: ("==", 8),
    tirx.NE: ("!=", 8),
}
_BITWISE = {
    tirx.LShift: ("<<", 11),
    tirx.RShift: (">>", 11),
    tirx.BitwiseAnd: ("&", 7),
    tirx.BitwiseXor: ("^", 6),
    tirx.BitwiseOr: ("|", 5),
}
# LLVM intrinsics that it computes exactly or hands to the C library: both executors get those bits.
_FUNCTIONS = {
    f"llvm.{name}": name
    for name in (
        *("exp", "exp2", "log", "log2", "log10", "pow", "sqrt", "sin", "cos"),
        *("fabs", "floor", "ceil", "trunc", "nearbyint"),
    )
}
_PRIMARY, _UNARY, _TERNARY = 20, 14, 2
# `-2147483648` is the negation of a number that int cannot hold, hence a long.
_INT_MIN = -(2**31)

_GUARD = f"  if (b == 0) {TRAP.emit}\n"
HELPERS = {
    "Quotient": (
        """\
template <typename T>
__aicore__ inline T Quotient(T a, T b) {
"""
        + _GUARD
        + """\
  return b < 0 && b + 1 == 0 ? static_cast<T>(0 - a) : static_cast<T>(a / b);
}
"""
    ),
    "Remainder": (
        """\
template <typename T>
__aicore__ inline T Remainder(T a, T b) {
"""
        + _GUARD
        + """\
  return b < 0 && b + 1 == 0 ? static_cast<T>(0) : static_cast<T>(a % b);
}
"""
    ),
    "FloorDiv": (
        """\
template <typename T>
__aicore__ inline T FloorDiv(T a, T b) {
"""
        + _GUARD
        + """\
  if (b < 0 && b + 1 == 0) return static_cast<T>(0 - a);
  return a / b - static_cast<T>(a % b != 0 && (a < 0) != (b < 0));
}
"""
    ),
    "FloorMod": (
        """\
template <typename T>
__aicore__ inline T FloorMod(T a, T b) {
"""
        + _GUARD
        + """\
  if (b < 0 && b + 1 == 0) return static_cast<T>(0);
  return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : static_cast<T>(0));
}
"""
    ),
    "LeftShift": """\
template <typename T>
__aicore__ inline T LeftShift(T a, T b) {
  if (static_cast<uint64_t>(b) >= 8 * sizeof(T)) return static_cast<T>(0);
  return static_cast<T>(static_cast<uint64_t>(a) << b);
}
""",
    "RightShift": """\
template <typename T>
__aicore__ inline T RightShift(T a, T b) {
  if (static_cast<uint64_t>(b) >= 8 * sizeof(T)) return static_cast<T>(a < 0 ? -1 : 0);
  return static_cast<T>(a >> b);
}
""",
    "Truncate": """\
template <typename T, typename F>
__aicore__ inline T Truncate(F a) {
  constexpr T high = static_cast<T>(~0ULL >> (64 - 8 * sizeof(T) + (static_cast<T>(-1) < 0)));
  constexpr T low = static_cast<T>(-high - 1);
  if (a >= 2 * static_cast<F>(high / 2 + 1)) return high;
  if (a <= static_cast<F>(low)) return low;
  return a == a ? static_cast<T>(a) : static_cast<T>(0);
}
""",
    "Minimum": """\
template <typename T>
__aicore__ inline T Minimum(T a, T b) {
  return a < b ? a : b;
}
""",
    "Maximum": """\
template <typename T>
__aicore__ inline T Maximum(T a, T b) {
  return a > b ? a : b;
}
""",
    "Choose": """\
template <typename T>
__aicore__ inline T Choose(bool condition, T yes, T no) {
  return condition ? yes : no;
}
""",
}
"""Functions that emitted files define where needed; each evaluates all its arguments."""


def has_load(expr) -> bool:
    """Whether evaluating the expression reads memory, which takes time and must happen once."""
    found: list[TensorLoad] = []

    def note(load: TensorLoad) -> None:
        found.append(load)

    tvm_ffi.structural_walk(expr, [(TensorLoad, note)])
    return bool(found)


def _has_fault(expr) -> bool:
    """Whether evaluating the expression may stop the core."""
    found: list = []
    tvm_ffi.structural_walk(expr, [(kind, found.append) for kind in DIVISIONS])
    return any(is_int(dtype_of(d)) and may_fault(d) for d in found)


def float_text(value: float) -> str:
    """The shortest C++ literal of a float32 value."""
    if math.isnan(value):
        return '__builtin_nanf("")'
    if math.isinf(value):
        return "__builtin_inff()" if value > 0 else "-__builtin_inff()"
    exact = struct.unpack("f", struct.pack("f", value))[0]
    for digits in range(1, 10):
        text = f"{exact:.{digits}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == exact:
            break
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def _int_text(value: int, dtype: str) -> str:
    """An integer that C++ reads as it stands, whatever the type of the literal."""
    if value == -(2**63):
        return f"{value + 1} - 1"
    if value >= 2**63:
        return f"{value}ULL"
    return str(value % 2**64 if dtype == "uint64" and value < 0 else value)


def _narrow(value: float, dtype: str) -> float:
    """Round a literal to the nearest value of a 16-bit float."""
    if dtype == "float16" and math.isfinite(value):
        try:
            return struct.unpack("e", struct.pack("e", value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    return float(ml_dtypes.bfloat16(value)) if dtype == "bfloat16" else value


class ExprPrinter:
    """Prints expressions; ``names`` gives a variable's identifier, ``load`` the text of a load.

    ``used`` collects what the file must define or include: names of ``HELPERS`` and ``<cmath>``.
    """

    def __init__(
        self,
        names: Callable[[tirx.Var], str],
        load: Callable[[TensorLoad], str],
        analyzer: sym.Analyzer,
    ) -> None:
        self._names, self._load, self._analyzer = names, load, analyzer
        self.used: set[str] = set()
        self.span: tvm.ir.Span | None = None  # of the statement that is printed

    def text(self, expr, least: int = 0) -> str:
        """The expression, in parentheses when it binds less tightly than ``least``."""
        text, binds = self._print(expr)
        return f"({text})" if binds < least else text

    def cast(self, expr, ctype: str) -> str:
        """The expression as a value of a C++ type."""
        return f"static_cast<{ctype}>({self.text(expr)})"

    def _print(self, expr) -> tuple[str, int]:
        kind = type(expr)
        if isinstance(expr, (tirx.IntImm, tirx.FloatImm)):
            return self._literal(expr)
        if kind in _BINARY:
            return self._binary(expr)
        if isinstance(expr, TensorLoad):
            return self._load(expr), _PRIMARY
        if isinstance(expr, tvm.ir.Var):
            return self._names(expr), _PRIMARY
        if isinstance(expr, tirx.Cast):
            return self._cast(expr), _PRIMARY
        if isinstance(expr, (tirx.FloorDiv, tirx.FloorMod)):
            return self._floor(expr)
        if isinstance(expr, (tirx.Min, tirx.Max)):
            name = "Minimum" if isinstance(expr, tirx.Min) else "Maximum"
            return self._helper(name, expr, [self._wide(expr.a), self._wide(expr.b)])
        if isinstance(expr, (tirx.And, tirx.Or)):
            return self._logical(expr)
        if kind in SHIFTS and not shifts_within(self._analyzer, expr):
            name = "LeftShift" if kind is tirx.LShift else "RightShift"
            return self._helper(name, expr, [self.text(expr.a), self.text(expr.b)])
        if kind in _BITWISE:
            symbol, binds = _BITWISE[kind]
            text = f"{self.text(expr.a, _UNARY)} {symbol} {self.text(expr.b, _UNARY)}"
            return self._rounded(text, binds, dtype_of(expr))
        if isinstance(expr, (tirx.Not, tirx.BitwiseNot)):
            symbol = "!" if dtype_of(expr) == "bool" else "~"
            return self._rounded(f"{symbol}{self.text(expr.a, _UNARY)}", _UNARY, dtype_of(expr))
        if isinstance(expr, tirx.Select):
            arms = [self._wide(expr.true_value), self._wide(expr.false_value)]
            return self._helper("Choose", expr, [self.text(expr.condition), *arms])
        if isinstance(expr, Call):
            return self._call(expr)
        raise ScalarCodeError(kind.__name__, str(expr), expr.span or self.span)

    def _literal(self, expr) -> tuple[str, int]:
        dtype = dtype_of(expr)
        if dtype == "bool":
            return str(bool(expr.value)).lower(), _PRIMARY
        if isinstance(expr, tirx.FloatImm):
            if dtype == "float64":
                return repr(float(expr.value)), _PRIMARY
            text = float_text(_narrow(float(expr.value), dtype))
        else:
            text = _int_text(int(expr.value), dtype)
        if dtype not in ("int32", "float32") or text == str(_INT_MIN):
            return f"static_cast<{C_TYPES[dtype]}>({text})", _PRIMARY
        return text, _UNARY if text.startswith("-") else _PRIMARY

    def _wide(self, expr, least: int = 0) -> str:
        """An operand of arithmetic: 16-bit floats are computed in float and rounded afterwards."""
        dtype = dtype_of(expr)
        if dtype not in NARROW_FLOATS:
            return self.text(expr, least)
        if isinstance(expr, tirx.FloatImm):
            return float_text(_narrow(float(expr.value), dtype))
        return f"static_cast<float>({self.text(expr)})"

    def _rounded(self, text: str, binds: int, dtype: str) -> tuple[str, int]:
        if dtype in _NARROW:
            return f"static_cast<{C_TYPES[dtype]}>({text})", _PRIMARY
        return text, binds

    def _binary(self, expr) -> tuple[str, int]:
        if isinstance(expr, (tirx.Div, tirx.Mod)) and is_int(dtype_of(expr)) and may_fault(expr):
            name = "Quotient" if isinstance(expr, tirx.Div) else "Remainder"
            return self._helper(name, expr, [self.text(expr.a), self.text(expr.b)])
        symbol, binds = _BINARY[type(expr)]
        text = f"{self._wide(expr.a, binds)} {symbol} {self._wide(expr.b, binds + 1)}"
        return self._rounded(text, binds, dtype_of(expr))

    def _cast(self, expr) -> str:
        target, source = dtype_of(expr), dtype_of(expr.value)
        inner = self.text(expr.value)
        if source in NARROW_FLOATS and target != "float32":
            inner = f"static_cast<float>({inner})"
        if is_float(source) and is_int(target):
            self.used.add("Truncate")
            return f"Truncate<{C_TYPES[target]}>({inner})"
        if target in NARROW_FLOATS and not is_float(source):
            inner = f"static_cast<float>({inner})"
        return f"static_cast<{C_TYPES[target]}>({inner})"

    def _floor(self, expr) -> tuple[str, int]:
        symbol, name = ("/", "FloorDiv") if isinstance(expr, tirx.FloorDiv) else ("%", "FloorMod")
        if truncates(self._analyzer, expr):
            text = f"{self.text(expr.a, 13)} {symbol} {self.text(expr.b, 14)}"
            return self._rounded(text, 13, dtype_of(expr))
        return self._helper(name, expr, [self.text(expr.a), self.text(expr.b)])

    def _helper(self, name: str, expr, args: list[str]) -> tuple[str, int]:
        self.used.add(name)
        dtype = dtype_of(expr)
        wide = "float" if dtype in NARROW_FLOATS else C_TYPES[dtype]
        return self._rounded(f"{name}<{wide}>({', '.join(args)})", _PRIMARY, dtype)

    def _logical(self, expr) -> tuple[str, int]:
        both = isinstance(expr, tirx.And)
        # TIR evaluates both sides; && would skip the loads and the faults of the second.
        if has_load(expr.b) or _has_fault(expr.b):
            symbol, binds = ("&", 7) if both else ("|", 5)
        else:
            symbol, binds = ("&&", 4) if both else ("||", 3)
        return f"{self.text(expr.a, binds)} {symbol} {self.text(expr.b, binds + 1)}", binds

    def _call(self, expr: Call) -> tuple[str, int]:
        name = expr.op.name.rpartition(".")[2]
        if name == "if_then_else":
            condition, yes, no = expr.args
            test = self.text(condition, _TERNARY + 1)
            return f"{test} ? {self.text(yes, _TERNARY + 1)} : {self.text(no, _TERNARY)}", _TERNARY
        other = lowered_call(expr)
        if not other.same_as(expr):
            return self._print(other)
        if name == "isnan":
            return f"__builtin_isnan({self._wide(expr.args[0])})", _PRIMARY
        if name == "call_llvm_pure_intrin":
            if _unknown(expr):
                raise ScalarCodeError(
                    _intrinsic_name(expr.args[0]), str(expr), expr.span or self.span
                )
            return self._library(_FUNCTIONS[_intrinsic_name(expr.args[0])], expr)
        if name == "call_pure_extern":
            return self._library(str(expr.args[0].value).removesuffix("f"), expr)
        lowered = lowered_alone(expr)
        if isinstance(lowered, Call) and (lowered.op.same_as(expr.op) or _unknown(lowered)):
            raise ScalarCodeError(name, str(expr), expr.span or self.span)
        return self._print(lowered)

    def _library(self, name: str, expr: Call) -> tuple[str, int]:
        """A call of the C library."""
        self.used.add("<cmath>")
        suffix = "" if dtype_of(expr) == "float64" else "f"
        args = ", ".join(self._wide(a) for a in expr.args[1:])
        return self._rounded(f"{name}{suffix}({args})", _PRIMARY, dtype_of(expr))


def _intrinsic_name(number: tirx.IntImm) -> str:
    return str(tvm.target.codegen.llvm_get_intrinsic_name(int(number.value)))


def _unknown(call: Call) -> bool:
    """Whether a call is an intrinsic of LLVM that is no function of floats."""
    name = call.op.name.rpartition(".")[2]
    if name == "call_llvm_intrin":
        return True
    return name == "call_llvm_pure_intrin" and _intrinsic_name(call.args[0]) not in _FUNCTIONS

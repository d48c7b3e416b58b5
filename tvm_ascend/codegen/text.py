# SPDX-License-Identifier: Apache-2.0
"""Short TVMScript text of one statement, for hazard reports, traces and notes."""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm.ir import Call, StringImm, TensorLoad

_BINARY = {
    tirx.Add: "+",
    tirx.Sub: "-",
    tirx.Mul: "*",
    tirx.Div: "/",
    tirx.FloorDiv: "//",
    tirx.FloorMod: "%",
    tirx.LT: "<",
    tirx.LE: "<=",
    tirx.GT: ">",
    tirx.GE: ">=",
    tirx.EQ: "==",
    tirx.NE: "!=",
    tirx.And: "and",
    tirx.Or: "or",
}


def expr_text(expr, nested: bool = False) -> str:
    """One line of text for an expression; unknown nodes print as TVM prints them."""
    kind = type(expr)
    if kind in _BINARY:
        text = f"{expr_text(expr.a, True)} {_BINARY[kind]} {expr_text(expr.b, True)}"
        return f"({text})" if nested else text
    if isinstance(expr, (tirx.Min, tirx.Max)):
        return f"T.{kind.__name__.lower()}({expr_text(expr.a)}, {expr_text(expr.b)})"
    if isinstance(expr, TensorLoad):
        return f"{expr.source.name}[{', '.join(expr_text(i) for i in expr.indices)}]"
    if isinstance(expr, (tirx.IntImm, tirx.FloatImm)):
        return f"{expr.value:g}" if isinstance(expr, tirx.FloatImm) else str(int(expr.value))
    if isinstance(expr, StringImm):
        return f'"{expr.value}"'
    if isinstance(expr, tvm.ir.Var):
        return str(expr.name)
    if isinstance(expr, tirx.Cast):
        return f"T.{expr.ty}({expr_text(expr.value)})".replace('T."', "T.").replace('"(', "(")
    if isinstance(expr, Call):
        name = expr.op.name.removeprefix("tirx.")
        return f"T.{name}({', '.join(expr_text(a) for a in expr.args)})"
    return str(expr).splitlines()[-1]


def stmt_text(stmt) -> str:
    """One line of text for a statement without a body."""
    if isinstance(stmt, tirx.Evaluate):
        return expr_text(stmt.value)
    if isinstance(stmt, tirx.Bind):
        return f"{stmt.var.name} = {expr_text(stmt.value)}"
    indices = ", ".join(expr_text(i) for i in stmt.indices)
    return f"{stmt.buffer.name}[{indices}] = {expr_text(stmt.value)}"

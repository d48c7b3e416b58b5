# SPDX-License-Identifier: Apache-2.0
"""Facts about expression trees that evaluation asks for."""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm_ffi import StructuralKey

from tvm_ascend.schedule.match import loads
from tvm_ascend.transform.access import itemsize


def narrowed(expr: tvm.ir.Expr) -> tvm.ir.Expr | None:
    """Push a cast to a narrower int into sums and products, whose low bits it keeps, else None."""
    dtype, inner = str(expr.ty.dtype), expr.value
    wide = str(inner.ty.dtype)
    if "int" not in dtype or "int" not in wide or itemsize(dtype) > itemsize(wide):
        return None
    if isinstance(inner, (tirx.Add, tirx.Sub, tirx.Mul)):
        a, b = (_narrow(x, dtype) for x in (inner.a, inner.b))
        return type(inner)(a, b)
    if isinstance(inner, tirx.Cast) and str(inner.value.ty.dtype) == dtype:
        return inner.value
    return None


def _narrow(expr: tvm.ir.Expr, dtype: str) -> tvm.ir.Expr:
    if isinstance(expr, tirx.IntImm):
        bits = 8 * itemsize(dtype)
        low = 0 if dtype.startswith("u") else -(1 << (bits - 1))
        return tirx.IntImm(dtype, (int(expr.value) - low) % (1 << bits) + low)
    cast = tirx.Cast(dtype, expr)
    simpler = narrowed(cast)
    return cast if simpler is None else simpler


def count_readers(expr: tvm.ir.Expr, readers: dict) -> None:
    """Count how many distinct operations read each subexpression."""
    operands = [expr.a, expr.b] if hasattr(expr, "a") and hasattr(expr, "b") else []
    if isinstance(expr, tirx.Cast):
        operands = [expr.value]
    elif isinstance(expr, tvm.ir.Call):
        operands = list(expr.args)
    keys = {StructuralKey(o): o for o in operands}
    for key, operand in keys.items():
        seen = key in readers
        readers[key] = readers.get(key, 0) + 1
        if not seen:
            count_readers(operand, readers)


def has_loads(expr: tvm.ir.Expr) -> bool:
    """Whether an expression reads a buffer."""
    return bool(loads(expr))

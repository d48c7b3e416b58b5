# SPDX-License-Identifier: Apache-2.0
"""Numbers that the tile language takes: integers as extents, truths, and values of elements."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import tvm
from tvm import tirx

from tvm_ascend.errors import ArgumentKind, IntegerExpected, IntegerTooLarge, ValueOutsideDtype
from tvm_ascend.isa.dtypes import is_float, is_int


def _dtype_of(value: Any) -> str | None:
    """The dtype of an expression of one value, else None."""
    scalar = isinstance(value, tvm.ir.Expr) and isinstance(value.ty, tvm.ir.PrimType)
    return str(value.ty.dtype) if scalar else None


def integer(op: str, name: str, value: Any, bits: int = 64) -> Any:
    """Return a Python or numpy integer as an int, and an integer expression as it is.

    Raises
    ------
    IntegerExpected : for None, floats, bools, text and expressions of these; TVM would round a
        float down, and read None as a pointer.
    IntegerTooLarge : outside of an integer of ``bits``.
    """
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        value = int(value)
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise IntegerTooLarge(op, name, value, bits)
        return value
    if is_int(_dtype_of(value) or ""):
        return value
    raise IntegerExpected(op, name, value)


def constant_integer(op: str, name: str, value: Any) -> int:
    """As ``integer``, of what is known while the kernel is parsed.

    Raises
    ------
    ArgumentKind : for an expression that is no constant.
    """
    value = integer(op, name, value)
    if isinstance(value, tvm.ir.Expr) and not isinstance(value, tirx.IntImm):
        raise ArgumentKind(op, name, value, "integers that are known when the kernel is parsed")
    return int(value)


def truth(op: str, name: str, value: Any) -> bool:
    """Return True or False, of which 1 and 0 are other names.

    Raises
    ------
    ArgumentKind : for everything else; Python would take the text "False" as true.
    """
    if isinstance(value, numbers.Integral | np.bool_) and value in (0, 1):
        return bool(value)
    raise ArgumentKind(op, name, value, "True and False")


def condition(op: str, name: str, value: Any) -> Any:
    """Return a truth, or an expression that is one when the kernel runs.

    Raises
    ------
    ArgumentKind : for everything else.
    """
    dtype = _dtype_of(value) or ""
    if dtype == "bool" or is_int(dtype):
        return value
    if isinstance(value, numbers.Integral | np.bool_) and value in (0, 1):
        return bool(value)
    raise ArgumentKind(op, name, value, "True, False and conditions")


def _in_range(value: float, dtype: str) -> bool:
    if dtype == "bool":
        return value in (0, 1)
    whole = isinstance(value, int) or value.is_integer()
    if not whole and not is_float(dtype):
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return True
    return tirx.min_value(dtype).value <= value <= tirx.max_value(dtype).value


def _values(dtype: str) -> str:
    if dtype == "bool":
        return "True, False, 1 and 0"
    ends = f"{tirx.min_value(dtype).value}..{tirx.max_value(dtype).value}"
    return f"numbers in {ends}, infinity and NaN" if is_float(dtype) else f"integers in {ends}"


def element(op: str, value: Any, tile: str, dtype: str) -> tvm.ir.Expr:
    """Return a number as a constant of the dtype of a tile, and a scalar expression as it is.

    Raises
    ------
    ArgumentKind : for what is no number: None, text, buffers, arrays.
    ValueOutsideDtype : for a constant that the tile cannot hold; TVM would cut 1.5 to 1.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | float):
        if not _in_range(value, dtype):
            raise ValueOutsideDtype(op, value, tile, dtype, _values(dtype))
        return tirx.const(value if is_float(dtype) else int(value), dtype)
    if _dtype_of(value) is None:
        raise ArgumentKind(op, "the value", value, "numbers, elements `A[i]` and expressions")
    return value

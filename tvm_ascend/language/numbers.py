# SPDX-License-Identifier: Apache-2.0
"""Numbers that the tile language takes as extents, bounds and indices: integers, nothing else."""

from __future__ import annotations

import numbers
from typing import Any

import tvm

from tvm_ascend.errors import IntegerExpected
from tvm_ascend.isa.dtypes import is_int


def integer(op: str, name: str, value: Any) -> Any:
    """Return a Python or numpy integer as an int, and an integer expression as it is.

    Raises
    ------
    IntegerExpected : for None, floats, bools, text and expressions of these; TVM would round a
        float down, and read None as a pointer.
    """
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    typed = isinstance(value, tvm.ir.Expr) and isinstance(value.ty, tvm.ir.PrimType)
    if typed and is_int(str(value.ty.dtype)):
        return value
    raise IntegerExpected(op, name, value)

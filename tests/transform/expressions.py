# SPDX-License-Identifier: Apache-2.0
"""What the binary expression nodes of TIR compute, for interpreters in tests."""

from __future__ import annotations

import operator

from tvm import tirx

BINARY = {
    tirx.Add: operator.add,
    tirx.Sub: operator.sub,
    tirx.Mul: operator.mul,
    tirx.FloorDiv: operator.floordiv,
    tirx.FloorMod: operator.mod,
    tirx.Min: min,
    tirx.Max: max,
    tirx.EQ: operator.eq,
    tirx.NE: operator.ne,
    tirx.LT: operator.lt,
    tirx.LE: operator.le,
    tirx.GT: operator.gt,
    tirx.GE: operator.ge,
    tirx.And: lambda a, b: a and b,
    tirx.Or: lambda a, b: a or b,
}

# SPDX-License-Identifier: Apache-2.0
"""Runs tile TIR on numpy arrays: the reference meaning of tile operations and element loops.

Everything is computed in double precision. Memory nobody wrote is NaN.
"""

from __future__ import annotations

import itertools
import math
import operator

import numpy as np
import tvm
from tvm import tirx
from tvm.ir import TensorLoad

from tests.transform.expressions import BINARY
from tvm_ascend.language.ops import key_of
from tvm_ascend.transform.tile_args import as_region

_CALLS = {
    "exp": math.exp,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "erf": math.erf,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "if_then_else": lambda c, a, b: a if c else b,
}


class TileOracle:
    """One launch of a function in tile TIR."""

    def __init__(self, func: tirx.PrimFunc, *arrays: np.ndarray):
        self.memory = dict(zip(func.params, arrays, strict=True))
        self.env: dict = {}
        self.run(func.body)

    def value(self, expr):
        """Evaluate a scalar expression."""
        if isinstance(expr, (tirx.IntImm, tirx.FloatImm)):
            return expr.value
        if isinstance(expr, tirx.Cast):
            return self.value(expr.value)
        if isinstance(expr, TensorLoad):
            return self.memory[expr.source][tuple(self.value(i) for i in expr.indices)]
        if isinstance(expr, tirx.Div):
            return operator.truediv(self.value(expr.a), self.value(expr.b))
        if type(expr) in BINARY:
            return BINARY[type(expr)](self.value(expr.a), self.value(expr.b))
        if isinstance(expr, tvm.ir.Call):
            return _CALLS[expr.op.name.split(".")[-1]](*(self.value(a) for a in expr.args))
        return self.env[expr]

    def run(self, stmt) -> None:
        """Execute a statement."""
        if isinstance(stmt, tirx.SeqStmt):
            for part in stmt.seq:
                self.run(part)
        elif isinstance(stmt, tirx.AttrStmt):
            for block in range(self.value(stmt.value)):
                self.env[stmt.node.var] = block
                self.run(stmt.body)
        elif isinstance(stmt, tirx.For):
            for i in range(self.value(stmt.extent)):
                self.env[stmt.loop_var] = self.value(stmt.min) + i
                self.run(stmt.body)
        elif isinstance(stmt, tirx.IfThenElse):
            if self.value(stmt.condition):
                self.run(stmt.then_case)
        elif isinstance(stmt, tirx.AllocBuffer):
            self.memory[stmt.buffer] = np.full([int(e) for e in stmt.buffer.shape], np.nan)
        elif isinstance(stmt, tirx.BufferStore):
            at = tuple(self.value(i) for i in stmt.indices)
            self.memory[stmt.buffer][at] = self.value(stmt.value)
        else:
            getattr(self, key_of(stmt))(*stmt.value.args)

    def box(self, arg):
        """The array of an operand, with the start and extent of each axis."""
        region = as_region(arg)
        ranges = [(self.value(r.min), self.value(r.extent)) for r in region.region]
        return self.memory[region.source], ranges

    def tile_copy(self, src, dst) -> None:
        (source, s), (target, d) = self.box(src), self.box(dst)
        s_long = [i for i, (_, e) in enumerate(s) if e != 1]
        d_long = [i for i, (_, e) in enumerate(d) if e != 1]
        assert [s[i][1] for i in s_long] == [d[i][1] for i in d_long], "extents differ"
        for step in itertools.product(*(range(s[i][1]) for i in s_long)):
            i, j = ([start for start, _ in box] for box in (s, d))
            for a, b, x in zip(s_long, d_long, step, strict=True):
                i[a] += x
                j[b] += x
            if all(0 <= x < n for x, n in zip(j, target.shape, strict=True)):
                inside = all(0 <= x < n for x, n in zip(i, source.shape, strict=True))
                target[tuple(j)] = source[tuple(i)] if inside else 0

    def tile_fill(self, dst, value) -> None:
        target, d = self.box(dst)
        target[tuple(slice(start, start + extent) for start, extent in d)] = self.value(value)

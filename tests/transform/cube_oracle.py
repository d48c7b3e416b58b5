# SPDX-License-Identifier: Apache-2.0
"""Runs Cube instruction TIR on numpy arrays, so that selection is checked without the simulator.

Memory nobody wrote is NaN, so a lane that a product should not read shows in the result.
"""

from __future__ import annotations

import numpy as np
from tvm import tirx
from tvm.ir import StringImm, TensorLoad

from tests.transform.expressions import BINARY
from tvm_ascend.language.ops import key_of


class CubeOracle:
    """One launch of a function whose statements are Cube instructions."""

    def __init__(self, func: tirx.PrimFunc, *arrays: np.ndarray):
        self.memory = {p: a.reshape(-1) for p, a in zip(func.params, arrays, strict=True)}
        self.shapes = {p: a.shape for p, a in zip(func.params, arrays, strict=True)}
        grid = func.body
        assert isinstance(grid, tirx.AttrStmt), "a kernel starts with its grid"
        assert grid.attr_key == "thread_extent"
        for block in range(int(grid.value)):
            self.env = {grid.node.var: block}
            self.run(grid.body)

    def value(self, expr):
        """Evaluate an index or parameter."""
        if isinstance(expr, (tirx.IntImm, tirx.FloatImm)):
            return expr.value
        if isinstance(expr, StringImm):
            return str(expr.value)
        if isinstance(expr, TensorLoad):
            return self.address(expr)
        if type(expr) in BINARY:
            return BINARY[type(expr)](self.value(expr.a), self.value(expr.b))
        assert expr in self.env, f"unknown {type(expr).__name__}: {expr}"
        return self.env[expr]

    def address(self, load: TensorLoad):
        """The memory from an element on."""
        shape, offset = self.shapes[load.source], 0
        for extent, index in zip(shape, load.indices, strict=True):
            offset = offset * extent + self.value(index)
        assert 0 <= offset <= self.memory[load.source].size, f"{load} is outside its buffer"
        return self.memory[load.source][offset:]

    def run(self, stmt) -> None:
        """Execute a statement."""
        if isinstance(stmt, tirx.SeqStmt):
            for part in stmt.seq:
                self.run(part)
        elif isinstance(stmt, tirx.For):
            for i in range(self.value(stmt.extent)):
                self.env[stmt.loop_var] = self.value(stmt.min) + i
                self.run(stmt.body)
        elif isinstance(stmt, tirx.AllocBuffer):
            (elements,) = (int(e) for e in stmt.buffer.shape)
            self.memory[stmt.buffer] = np.full(elements, np.nan, "float64")
            self.shapes[stmt.buffer] = (elements,)
        else:
            args = [self.value(a) for a in stmt.value.args]
            getattr(self, key_of(stmt))(*args)

    @staticmethod
    def data_copy_nd2nz(dst, src, nd, rows, cols, _, pitch, c0_stride, n_stride, __, c0=16) -> None:
        assert (nd, n_stride) == (1, 1)
        assert rows >= 0
        assert cols >= 0
        for r in range(rows):
            for c in range(-(-cols // c0) * c0):
                value = src[r * pitch + c] if c < cols else 0
                dst[(c // c0) * c0_stride * c0 + r * c0 + c % c0] = value

    @staticmethod
    def fill_l1(dst, repeats, blocks, gap, value, block=16) -> None:
        assert min(repeats, blocks, gap) >= 0
        for r in range(repeats):
            first = r * (blocks + gap) * block
            dst[first : first + blocks * block] = value

    @staticmethod
    def load_data_2d(dst, src, start, repeats, stride, gap, turn, fractal=256) -> None:
        assert 0 <= repeats <= 255
        for i in range(repeats):
            at = (start + i * stride) * fractal
            piece = src[at : at + fractal]
            if turn:
                piece = piece.reshape(16, 16).T.reshape(-1)
            to = i * (gap + 1) * fractal
            dst[to : to + fractal] = piece

    @staticmethod
    def mmad(dst, a, b, m, n, k, init) -> None:
        assert m > 1, "a single row would be read as a vector"
        m1, n1, k1 = (-(-x // 16) for x in (m, n, k))
        left = a[: m1 * k1 * 256].reshape(m1, k1, 16, 16).transpose(0, 2, 1, 3)
        right = b[: k1 * n1 * 256].reshape(k1, n1, 16, 16).transpose(0, 3, 1, 2)
        # Whole fractals are multiplied along k, whatever k says.
        product = left.reshape(m1 * 16, k1 * 16)[:m] @ right.reshape(k1 * 16, n1 * 16)[:, :n]
        c = dst[: n1 * m1 * 256].reshape(n1, m1 * 16, 16)
        for j in range(n):
            c[j // 16, :m, j % 16] = product[:, j] + (0 if init else c[j // 16, :m, j % 16])

    @staticmethod
    def fixpipe(dst, src, n, m, src_stride, pitch, relu, _quant) -> None:
        assert not relu
        for i in range(m):
            for j in range(n):
                dst[i * pitch + j] = src[((j // 16) * src_stride + i) * 16 + j % 16]

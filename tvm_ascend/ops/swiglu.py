# SPDX-License-Identifier: Apache-2.0
"""SwiGLU: the first half of every row times its sigmoid, times the second half."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tvm import tirx

from tvm_ascend import language as T
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.formula import ITEMSIZE
from tvm_ascend.layout.fractal import ceildiv
from tvm_ascend.ops.op import Op, Signature, numpy_dtype, rows_of
from tvm_ascend.ops.tiles import box_tile, piece, tiled

# Both halves and the result, twice in their dtype, once in float32, and temporaries.
_TENSORS, _VALUES = 3, 6


def make_swiglu(signature: Signature, chip: ChipSpec) -> tirx.PrimFunc | None:
    """``x[.., 2n] -> y[.., n]``."""
    (rows, cols), dtype = rows_of(signature.outputs[0]), signature.dtypes[0]
    if rows_of(signature.inputs[0]) != (rows, 2 * cols):
        return None
    lane_bytes = _TENSORS * 2 * ITEMSIZE[dtype] + _VALUES * 4
    height, width = box_tile((rows, cols), lane_bytes, 4, chip)
    return _kernel(rows, cols, height, width, dtype)


def _kernel(rows: int, cols: int, height: int, width: int, dtype: str) -> tirx.PrimFunc:
    across = ceildiv(cols, width)

    def box(block, half):
        row, col = (block, 0) if across == 1 else (block // across, block % across)
        top, left = row * height, half * cols + col * width
        tall, wide = piece(rows, height, row), piece(cols, width, col)
        return [slice(top, top + tall), slice(left, left + wide)]

    def part(block):
        return [slice(0, s.stop - s.start) for s in box(block, 0)]

    def extents(block):
        row, col = (block, 0) if across == 1 else (block // across, block % across)
        return piece(rows, height, row), piece(cols, width, col)

    @T.prim_func
    def swiglu(X: T.Tensor((rows, 2 * cols), dtype), Y: T.Tensor((rows, cols), dtype)):
        with T.Kernel(ceildiv(rows, height) * across) as bx:
            a = T.alloc_fragment((height, width), "float32")
            b = T.alloc_fragment((height, width), "float32")
            T.copy(X[box(bx, 0)], a[part(bx)])
            T.copy(X[box(bx, 1)], b[part(bx)])
            for i, j in T.Parallel(*extents(bx)):
                a[i, j] = a[i, j] / (T.float32(1) + T.exp(T.float32(-1) * a[i, j])) * b[i, j]
            T.copy(a[part(bx)], Y[box(bx, 0)])

    return tiled(swiglu, height, width)


def _reference(inputs: Sequence[np.ndarray], signature: Signature) -> tuple[np.ndarray, ...]:
    a, b = np.split(inputs[0].astype("float64"), 2, axis=-1)
    return ((a / (1 + np.exp(-a)) * b).astype(numpy_dtype(signature.out_dtypes[0])),)


SWIGLU = Op(name="swiglu", make=make_swiglu, reference=_reference)

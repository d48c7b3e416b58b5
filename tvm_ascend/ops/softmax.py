# SPDX-License-Identifier: Apache-2.0
"""Softmax of the last dimension: whole rows through UB, in float32."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tvm import tirx

from tvm_ascend import language as T
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.layout.fractal import ceildiv
from tvm_ascend.ops.op import Op, Signature, numpy_dtype, rows_of
from tvm_ascend.ops.tiles import piece, row_tile, tiled


def make_softmax(signature: Signature, chip: ChipSpec) -> tirx.PrimFunc | None:
    """One tensor in, one out; None when a row does not fit."""
    rows, cols = rows_of(signature.inputs[0])
    dtype = signature.dtypes[0]
    tile = row_tile(rows, cols, (dtype, dtype), chip, kept=2)
    return _kernel(rows, cols, tile, dtype) if tile else None


def _kernel(rows: int, cols: int, tile: int, dtype: str) -> tirx.PrimFunc:
    def here(block):
        return piece(rows, tile, block)

    @T.prim_func
    def softmax(X: T.Tensor((rows, cols), dtype), Y: T.Tensor((rows, cols), dtype)):
        with T.Kernel(ceildiv(rows, tile)) as bx:
            x = T.alloc_fragment((tile, cols), "float32")
            top = T.alloc_fragment((tile,), "float32")
            total = T.alloc_fragment((tile,), "float32")
            T.copy(X[bx * tile : bx * tile + here(bx), 0:cols], x[0 : here(bx), 0:cols])
            T.reduce_max(x[0 : here(bx), 0:cols], top[0 : here(bx)], dim=1)
            for i, j in T.Parallel(here(bx), cols):
                x[i, j] = T.exp(x[i, j] - top[i])
            T.reduce_sum(x[0 : here(bx), 0:cols], total[0 : here(bx)], dim=1)
            for i, j in T.Parallel(here(bx), cols):
                x[i, j] = x[i, j] / total[i]
            T.copy(x[0 : here(bx), 0:cols], Y[bx * tile : bx * tile + here(bx), 0:cols])

    return tiled(softmax, tile, cols)


def _reference(inputs: Sequence[np.ndarray], signature: Signature) -> tuple[np.ndarray, ...]:
    x = inputs[0].astype("float64")
    e = np.exp(x - x.max(-1, keepdims=True))
    return ((e / e.sum(-1, keepdims=True)).astype(numpy_dtype(signature.out_dtypes[0])),)


SOFTMAX = Op(name="softmax", make=make_softmax, reference=_reference)

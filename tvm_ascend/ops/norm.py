# SPDX-License-Identifier: Apache-2.0
"""Normalisations of the last dimension: whole rows through UB, in float32."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from tvm import tirx

from tvm_ascend import language as T
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.layout.fractal import ceildiv
from tvm_ascend.ops.op import Op, Signature, numpy_dtype, rows_of
from tvm_ascend.ops.tiles import piece, row_tile, tiled

EPSILON = 1e-6
_LAYER_EPSILON = 1e-5


def _tile(signature: Signature, weights: int, chip: ChipSpec) -> int:
    """Rows of a tile; the last ``weights`` inputs are loaded once."""
    rows, cols = rows_of(signature.inputs[0])
    shapes = (*signature.inputs[:-weights], *signature.outputs)
    dtypes = (*signature.dtypes[:-weights], *signature.out_dtypes)
    moved = [d for s, d in zip(shapes, dtypes, strict=True) if rows_of(s) == (rows, cols)]
    return row_tile(rows, cols, moved, chip, kept=3, weights=signature.dtypes[-weights:])


def _root_mean_square(cols: int) -> Callable:
    """The macro that turns a tile of rows x into y = x * rstd * gamma and stores both."""

    @T.macro
    def normalise(x, square, rstd, gamma, Y, Rstd, first, here):
        for i, j in T.Parallel(here, cols):
            square[i, j] = x[i, j] * x[i, j]
        T.reduce_sum(square[0:here, 0:cols], rstd[0:here], dim=1)
        for i in T.Parallel(here):
            rstd[i] = T.float32(1) / T.sqrt(rstd[i] * T.float32(1 / cols) + T.float32(EPSILON))
        T.copy(rstd[0:here], Rstd[first : first + here])
        for i, j in T.Parallel(here, cols):
            x[i, j] = x[i, j] * rstd[i] * gamma[j]
        T.copy(x[0:here, 0:cols], Y[first : first + here, 0:cols])

    return normalise


def make_rms_norm(signature: Signature, chip: ChipSpec) -> tirx.PrimFunc | None:
    """``x, gamma -> y, rstd``; None when a row does not fit."""
    rows, cols = rows_of(signature.inputs[0])
    tile = _tile(signature, 1, chip)
    dtype, wtype, rtype = signature.dtypes[0], signature.dtypes[1], signature.out_dtypes[1]

    def here(block):
        return piece(rows, tile, block)

    if not tile:
        return None
    normalise = _root_mean_square(cols)

    @T.prim_func
    def rms_norm(
        X: T.Tensor((rows, cols), dtype),
        Gamma: T.Tensor((cols,), wtype),
        Y: T.Tensor((rows, cols), dtype),
        Rstd: T.Tensor((rows,), rtype),
    ):
        with T.Kernel(ceildiv(rows, tile)) as bx:
            gamma = T.alloc_fragment((cols,), "float32")
            x = T.alloc_fragment((tile, cols), "float32")
            square = T.alloc_fragment((tile, cols), "float32")
            rstd = T.alloc_fragment((tile,), "float32")
            T.copy(Gamma, gamma)
            T.copy(X[bx * tile : bx * tile + here(bx), 0:cols], x[0 : here(bx), 0:cols])
            normalise(x, square, rstd, gamma, Y, Rstd, bx * tile, here(bx))

    return tiled(rms_norm, tile, cols)


def make_add_rms_norm(signature: Signature, chip: ChipSpec) -> tirx.PrimFunc | None:
    """``a, b, gamma -> y, rstd, a + b``; None when a row does not fit."""
    rows, cols = rows_of(signature.inputs[0])
    tile = _tile(signature, 1, chip)
    dtype, wtype, rtype = signature.dtypes[0], signature.dtypes[2], signature.out_dtypes[1]

    def here(block):
        return piece(rows, tile, block)

    if not tile:
        return None
    normalise = _root_mean_square(cols)

    @T.prim_func
    def add_rms_norm(
        A: T.Tensor((rows, cols), dtype),
        B: T.Tensor((rows, cols), dtype),
        Gamma: T.Tensor((cols,), wtype),
        Y: T.Tensor((rows, cols), dtype),
        Rstd: T.Tensor((rows,), rtype),
        Sum: T.Tensor((rows, cols), dtype),
    ):
        with T.Kernel(ceildiv(rows, tile)) as bx:
            gamma = T.alloc_fragment((cols,), "float32")
            a = T.alloc_fragment((tile, cols), "float32")
            b = T.alloc_fragment((tile, cols), "float32")
            rstd = T.alloc_fragment((tile,), "float32")
            T.copy(Gamma, gamma)
            T.copy(A[bx * tile : bx * tile + here(bx), 0:cols], a[0 : here(bx), 0:cols])
            T.copy(B[bx * tile : bx * tile + here(bx), 0:cols], b[0 : here(bx), 0:cols])
            for i, j in T.Parallel(here(bx), cols):
                a[i, j] = a[i, j] + b[i, j]
            T.copy(a[0 : here(bx), 0:cols], Sum[bx * tile : bx * tile + here(bx), 0:cols])
            normalise(a, b, rstd, gamma, Y, Rstd, bx * tile, here(bx))

    return tiled(add_rms_norm, tile, cols)


def make_layer_norm(signature: Signature, chip: ChipSpec) -> tirx.PrimFunc | None:
    """``x, gamma, beta -> y, mean, rstd``; None when a row does not fit."""
    rows, cols = rows_of(signature.inputs[0])
    tile = _tile(signature, 2, chip)
    dtype, wtype, rtype = signature.dtypes[0], signature.dtypes[1], signature.out_dtypes[1]

    def here(block):
        return piece(rows, tile, block)

    if not tile:
        return None

    @T.prim_func
    def layer_norm(
        X: T.Tensor((rows, cols), dtype),
        Gamma: T.Tensor((cols,), wtype),
        Beta: T.Tensor((cols,), wtype),
        Y: T.Tensor((rows, cols), dtype),
        Mean: T.Tensor((rows,), rtype),
        Rstd: T.Tensor((rows,), rtype),
    ):
        with T.Kernel(ceildiv(rows, tile)) as bx:
            gamma = T.alloc_fragment((cols,), "float32")
            beta = T.alloc_fragment((cols,), "float32")
            x = T.alloc_fragment((tile, cols), "float32")
            square = T.alloc_fragment((tile, cols), "float32")
            mean = T.alloc_fragment((tile,), "float32")
            rstd = T.alloc_fragment((tile,), "float32")
            T.copy(Gamma, gamma)
            T.copy(Beta, beta)
            T.copy(X[bx * tile : bx * tile + here(bx), 0:cols], x[0 : here(bx), 0:cols])
            T.reduce_sum(x[0 : here(bx), 0:cols], mean[0 : here(bx)], dim=1)
            for i in T.Parallel(here(bx)):
                mean[i] = mean[i] * T.float32(1 / cols)
            T.copy(mean[0 : here(bx)], Mean[bx * tile : bx * tile + here(bx)])
            for i, j in T.Parallel(here(bx), cols):
                x[i, j] = x[i, j] - mean[i]
            for i, j in T.Parallel(here(bx), cols):
                square[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(square[0 : here(bx), 0:cols], rstd[0 : here(bx)], dim=1)
            for i in T.Parallel(here(bx)):
                rstd[i] = T.float32(1) / T.sqrt(
                    rstd[i] * T.float32(1 / cols) + T.float32(_LAYER_EPSILON)
                )
            T.copy(rstd[0 : here(bx)], Rstd[bx * tile : bx * tile + here(bx)])
            for i, j in T.Parallel(here(bx), cols):
                x[i, j] = x[i, j] * rstd[i] * gamma[j] + beta[j]
            T.copy(x[0 : here(bx), 0:cols], Y[bx * tile : bx * tile + here(bx), 0:cols])

    return tiled(layer_norm, tile, cols)


def _cast_all(values: Sequence[np.ndarray], signature: Signature) -> tuple[np.ndarray, ...]:
    shaped = zip(values, signature.outputs, signature.out_dtypes, strict=True)
    return tuple(v.reshape(s).astype(numpy_dtype(d)) for v, s, d in shaped)


def _rms_reference(inputs: Sequence[np.ndarray], signature: Signature) -> tuple[np.ndarray, ...]:
    x, gamma = (v.astype("float64") for v in inputs)
    rstd = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
    return _cast_all((x * rstd * gamma, rstd), signature)


def _add_rms_reference(inputs: Sequence[np.ndarray], signature: Signature):
    a, b, gamma = (v.astype("float64") for v in inputs)
    x = a + b
    rstd = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
    return _cast_all((x * rstd * gamma, rstd, x), signature)


def _layer_reference(inputs: Sequence[np.ndarray], signature: Signature):
    x, gamma, beta = (v.astype("float64") for v in inputs)
    mean = x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + _LAYER_EPSILON)
    return _cast_all(((x - mean) * rstd * gamma + beta, mean, rstd), signature)


RMS_NORM = Op(name="rms_norm", make=make_rms_norm, reference=_rms_reference)
ADD_RMS_NORM = Op(name="add_rms_norm", make=make_add_rms_norm, reference=_add_rms_reference)
LAYER_NORM = Op(name="layer_norm", make=make_layer_norm, reference=_layer_reference)

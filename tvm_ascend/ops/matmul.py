# SPDX-License-Identifier: Apache-2.0
"""Matrix multiplies: plain loops for the matmul rule, which tiles them onto the Cube."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from tvm import tirx
from tvm.script import tirx as T

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.ops.op import Op, Shape, Signature, numpy_dtype

ACCUMULATOR = {"float16": "float32", "bfloat16": "float32", "int8": "int32"}


def _sizes(signature: Signature) -> tuple[int, int, int, int, bool] | None:
    """Batch, m, n, k and whether b is stored [n, k]."""
    a, b, out = signature.inputs[0], signature.inputs[1], signature.outputs[0]
    if len(a) < 2 or len(b) < 2 or a[:-2] != b[:-2] or a[-2] != out[-2]:
        return None
    m, k, n = a[-2], a[-1], out[-1]
    if b[-2:] == (n, k):
        return prod(a[:-2]), m, n, k, True
    return (prod(a[:-2]), m, n, k, False) if b[-2:] == (k, n) else None


def make_matmul(signature: Signature, chip: ChipSpec) -> tirx.PrimFunc | None:
    """``a[.., m, k]``, ``b[.., k, n]`` or ``b[.., n, k]`` -> ``c[.., m, n]``."""
    sizes = _sizes(signature)
    if sizes is None or signature.dtypes[0] not in ACCUMULATOR or len(signature.inputs) != 2:
        return None
    batch, m, n, k, transposed = sizes
    dtype, out = signature.dtypes[0], signature.out_dtypes[0]
    lead = signature.inputs[0][:-2] if batch > 1 else ()
    make = _rounded if out != ACCUMULATOR[dtype] else _plain
    return make((prod(lead),) if lead else (), m, n, k, transposed, dtype, out)


def _plain(lead: Shape, m: int, n: int, k: int, transposed: bool, dtype: str, out: str):
    b_shape = (n, k) if transposed else (k, n)

    def of_b(batch, row, col):
        return [*batch, col, row] if transposed else [*batch, row, col]

    if lead:

        @T.prim_func(s_tir=True)
        def batched(
            A: T.Buffer((*lead, m, k), dtype),
            B: T.Buffer((*lead, *b_shape), dtype),
            C: T.Buffer((*lead, m, n), out),
        ):
            for b, i, j, kk in T.grid(lead[0], m, n, k):
                with T.sblock("C"):
                    vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, kk])
                    with T.init():
                        C[vb, vi, vj] = T.Cast(out, 0)
                    C[vb, vi, vj] += T.Cast(out, A[vb, vi, vk]) * T.Cast(out, B[of_b([vb], vk, vj)])

        return batched.with_attr("global_symbol", "matmul")

    @T.prim_func(s_tir=True)
    def matmul(A: T.Buffer((m, k), dtype), B: T.Buffer(b_shape, dtype), C: T.Buffer((m, n), out)):
        for i, j, kk in T.grid(m, n, k):
            with T.sblock("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, kk])
                with T.init():
                    C[vi, vj] = T.Cast(out, 0)
                C[vi, vj] += T.Cast(out, A[vi, vk]) * T.Cast(out, B[of_b([], vk, vj)])

    return matmul.with_attr("global_symbol", "matmul")


def _rounded(lead: Shape, m: int, n: int, k: int, transposed: bool, dtype: str, out: str):
    """The sum is wider than the result; Fixpipe rounds it on the way out."""
    b_shape, wide = ((n, k) if transposed else (k, n)), ACCUMULATOR[dtype]

    def of_b(batch, row, col):
        return [*batch, col, row] if transposed else [*batch, row, col]

    if lead:

        @T.prim_func(s_tir=True)
        def batched(
            A: T.Buffer((*lead, m, k), dtype),
            B: T.Buffer((*lead, *b_shape), dtype),
            C: T.Buffer((*lead, m, n), out),
        ):
            S = T.sblock_alloc_buffer((*lead, m, n), wide)
            for b, i, j, kk in T.grid(lead[0], m, n, k):
                with T.sblock("S"):
                    vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, kk])
                    with T.init():
                        S[vb, vi, vj] = T.Cast(wide, 0)
                    S[vb, vi, vj] += T.Cast(wide, A[vb, vi, vk]) * T.Cast(
                        wide, B[of_b([vb], vk, vj)]
                    )
            for b, i, j in T.grid(lead[0], m, n):
                with T.sblock("C"):
                    vb, vi, vj = T.axis.remap("SSS", [b, i, j])
                    C[vb, vi, vj] = T.Cast(out, S[vb, vi, vj])

        return batched.with_attr("global_symbol", "matmul")

    @T.prim_func(s_tir=True)
    def matmul(A: T.Buffer((m, k), dtype), B: T.Buffer(b_shape, dtype), C: T.Buffer((m, n), out)):
        S = T.sblock_alloc_buffer((m, n), wide)
        for i, j, kk in T.grid(m, n, k):
            with T.sblock("S"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, kk])
                with T.init():
                    S[vi, vj] = T.Cast(wide, 0)
                S[vi, vj] += T.Cast(wide, A[vi, vk]) * T.Cast(wide, B[of_b([], vk, vj)])
        for i, j in T.grid(m, n):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.Cast(out, S[vi, vj])

    return matmul.with_attr("global_symbol", "matmul")


def _reference(inputs: Sequence[np.ndarray], signature: Signature) -> tuple[np.ndarray, ...]:
    sizes = _sizes(signature)
    assert sizes is not None, f"no matrix multiply: {signature}"
    wide = "int64" if signature.dtypes[0] == "int8" else "float32"
    a, b = (x.astype(wide) for x in inputs)
    product = a @ (b.swapaxes(-1, -2) if sizes[-1] else b)
    return (product.astype(numpy_dtype(signature.out_dtypes[0])),)


MATMUL = Op(name="matmul", make=make_matmul, reference=_reference)

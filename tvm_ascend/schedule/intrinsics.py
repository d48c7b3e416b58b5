# SPDX-License-Identifier: Apache-2.0
"""Tensor intrinsics for people who call ``sch.tensorize``: they land on the same Cube tile."""

from __future__ import annotations

from tvm import s_tir, tirx
from tvm.script import tirx as T

from tvm_ascend.isa.cube import PRODUCTS
from tvm_ascend.transform.convert_blocks import GEMM, OP

ACCUMULATOR_OF = {a: c for c, a, _ in PRODUCTS if a != "float32"}
"""What products of a dtype are summed in; those of float32 are for kernels that write them."""


def mmad(m: int, n: int, k: int, dtype: str = "float16", *, transpose_b: bool = False) -> str:
    """Register the update of an m x n x k Cube tile and return its name for ``sch.tensorize``.

    The tile is whole: m, n and k are those of the L0 buffers. Initialize with
    ``decompose_reduction`` outside the loops over k.

    Parameters
    ----------
    m, n, k : extents of the loops to tensorize.
    dtype : of the operands; the sum is float32, or int32 for int8.
    transpose_b : whether the second operand is indexed [n, k].
    """
    turned = "_bt" if transpose_b else ""
    name = f"ascend.mmad_{m}x{n}x{k}_{dtype}{turned}"
    if s_tir.TensorIntrin.get(name, allow_missing=True) is None:
        described = _update(m, n, k, dtype, transpose_b, marked=False)
        implemented = _update(m, n, k, dtype, transpose_b, marked=True)
        s_tir.TensorIntrin.register(name, described, implemented)
    return name


def _update(m: int, n: int, k: int, dtype: str, transpose_b: bool, marked: bool) -> tirx.PrimFunc:
    out = ACCUMULATOR_OF[dtype]
    b_shape = (n, k) if transpose_b else (k, n)
    marks = {OP: GEMM} if marked else {}

    @T.prim_func(s_tir=True)
    def update(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(
            a, (m, k), dtype, scope="local.l0a", strides=[T.int32(), T.int32()], offset_factor=1
        )
        B = T.match_buffer(
            b, b_shape, dtype, scope="local.l0b", strides=[T.int32(), T.int32()], offset_factor=1
        )
        C = T.match_buffer(
            c, (m, n), out, scope="local.l0c", strides=[T.int32(), T.int32()], offset_factor=1
        )
        with T.sblock("root"):
            T.reads(C[0:m, 0:n], A[0:m, 0:k], B[0 : b_shape[0], 0 : b_shape[1]])
            T.writes(C[0:m, 0:n])
            T.sblock_attr(marks)
            for i, j, r in T.grid(m, n, k):
                with T.sblock("update"):
                    vi, vj, vr = T.axis.remap("SSR", [i, j, r])
                    if transpose_b:
                        C[vi, vj] = C[vi, vj] + T.Cast(out, A[vi, vr]) * T.Cast(out, B[vj, vr])
                    else:
                        C[vi, vj] = C[vi, vj] + T.Cast(out, A[vi, vr]) * T.Cast(out, B[vr, vj])

    return update

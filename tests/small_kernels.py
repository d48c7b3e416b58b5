# SPDX-License-Identifier: Apache-2.0
"""Kernels that several tests compile."""

from tvm_ascend import language as T


def make_double(dtype):
    """B = A + A on four rows of 64."""

    @T.prim_func
    def double(A: T.Tensor((4, 64), dtype), B: T.Tensor((4, 64), dtype)):
        with T.Kernel(4) as bx:
            tile = T.alloc_fragment((64,), dtype)
            T.copy(A[bx, :], tile)
            for i in T.Parallel(64):
                B[bx, i] = tile[i] + tile[i]

    return double

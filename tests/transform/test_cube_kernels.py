# SPDX-License-Identifier: Apache-2.0
"""Tile-language products with tails on the simulator: clipped if provable, else padded."""

import pytest

import tvm_ascend
from tvm_ascend import language as T

PADDED = "Cube tiles at tensor edges are padded with zeros, not clipped"


def product(m, k, n, bm, bn, bk):
    @T.prim_func
    def gemm(
        A: T.Tensor((m, k), "float16"),
        B: T.Tensor((k, n), "float16"),
        C: T.Tensor((m, n), "float32"),
    ):
        with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm)) as (bx, by):
            a1 = T.alloc_L1((bm, bk), "float16")
            b1 = T.alloc_L1((bk, bn), "float16")
            a0 = T.alloc_L0A((bm, bk), "float16")
            b0 = T.alloc_L0B((bk, bn), "float16")
            c = T.alloc_L0C((bm, bn), "float32")
            T.clear(c)
            for step in T.Pipelined(T.ceildiv(k, bk), num_stages=2):
                T.copy(A[by * bm, step * bk], a1)
                T.copy(B[step * bk, bx * bn], b1)
                T.copy(a1, a0)
                T.copy(b1, b0)
                T.gemm(a0, b0, c)
            T.copy(c, C[by * bm, bx * bn])

    return gemm


def in_two_pieces(m, k):
    @T.prim_func
    def gemm(
        A: T.Tensor((m, k), "float16"),
        B: T.Tensor((k, 16), "float16"),
        C: T.Tensor((32, 16), "float32"),
    ):
        with T.Kernel(1):
            a1 = T.alloc_L1((32, k), "float16")
            b1 = T.alloc_L1((k, 16), "float16")
            a0 = T.alloc_L0A((32, k), "float16")
            b0 = T.alloc_L0B((k, 16), "float16")
            c = T.alloc_L0C((32, 16), "float32")
            T.copy(A[0:16, 0:k], a1[0:16, 0:k])
            T.copy(A[16, 0], a1[16:32, 0:k])
            T.copy(B, b1)
            T.copy(a1, a0)
            T.copy(b1, b0)
            T.clear(c)
            T.gemm(a0, b0, c)
            T.copy(c, C[0:32, 0:16])

    return gemm


def run(func, a, b):
    options = tvm_ascend.Options(cache=False)
    kernel = tvm_ascend.compile(func, out_idx=[2], target="ascend", options=options)
    return kernel, kernel(a.astype("float16"), b.astype("float16"))


@pytest.mark.parametrize("shape", [(64, 64, 64), (70, 90, 50), (33, 17, 100)])
def test_products_with_tails_are_exact(shape, rng):
    m, k, n = shape
    a, b = rng.integers(-4, 5, (m, k)), rng.integers(-4, 5, (k, n))
    kernel, got = run(product(m, k, n, 32, 48, 32), a, b)
    assert (got == a @ b).all()
    assert PADDED not in kernel.artifact.notes


@pytest.mark.parametrize("k", [48, 40])
def test_rows_that_no_copy_brings_are_zero(k, rng):
    a, b = rng.integers(-4, 5, (27, k)), rng.integers(-4, 5, (k, 16))
    kernel, got = run(in_two_pieces(27, k), a, b)
    assert (got[:27] == a @ b).all()
    assert (got[27:] == 0).all()
    assert PADDED in kernel.artifact.notes


def test_every_stage_compiles_again(rng):
    a, b = rng.integers(-4, 5, (64, 96)), rng.integers(-4, 5, (96, 64))
    kernel, _ = run(product(64, 96, 64, 32, 32, 32), a, b)
    for stage in kernel.stages.values():
        assert (run(stage, a, b)[1] == a @ b).all()

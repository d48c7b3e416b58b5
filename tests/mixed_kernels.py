# SPDX-License-Identifier: Apache-2.0
"""Kernels of both kinds of core, written by hand with flags between them."""

from __future__ import annotations

import numpy as np

from tvm_ascend import language as T

# Flags: a slot of the workspace is full (Cube to Vector cores), or free again (back).
FULL, FREE = 0, 2


def matmul_bias_relu(m, n, k, blocks=2, rows=32):
    """``max(A B + bias, 0)``: Cube cores fill two slots of a workspace in turn, Vector cores empty
    them; each of the two takes half of the rows."""
    tiles = -(-m // rows)
    turns = -(-tiles // blocks)
    half = rows // 2

    @T.prim_func
    def fused(
        A: T.Tensor((m, k), "float16"),
        B: T.Tensor((k, n), "float16"),
        bias: T.Tensor((n,), "float32"),
        W: T.Tensor((blocks, 2, rows, n), "float32"),
        C: T.Tensor((m, n), "float32"),
    ):
        with T.Kernel(blocks, is_npu=True) as (cid, vid):
            with T.Scope("C"):
                b1 = T.alloc_L1((k, n), "float16")
                b0 = T.alloc_L0B((k, n), "float16")
                T.copy(B, b1)
                T.copy(b1, b0)
                for i in T.serial(T.min(turns, tiles - cid * turns)):
                    a1 = T.alloc_L1((rows, k), "float16")
                    a0 = T.alloc_L0A((rows, k), "float16")
                    c0 = T.alloc_L0C((rows, n), "float32")
                    T.copy(A[(cid * turns + i) * rows, 0], a1)
                    T.copy(a1, a0)
                    T.gemm(a0, b0, c0, init=True)
                    if i >= 2:
                        T.wait_cross_flag(FREE + i % 2)
                    T.copy(c0, W[cid, i % 2, 0, 0])
                    T.set_cross_flag("FIX", FULL + i % 2)
            with T.Scope("V"):
                v = T.alloc_ub((n,), "float32")
                T.copy(bias, v)
                for i in T.serial(T.min(turns, tiles - cid * turns)):
                    u = T.alloc_ub((half, n), "float32")
                    T.wait_cross_flag(FULL + i % 2)
                    T.copy(W[cid, i % 2, vid * half, 0], u)
                    if i + 2 < T.min(turns, tiles - cid * turns):
                        T.set_cross_flag("MTE2", FREE + i % 2)
                    for r, c in T.Parallel(half, n):
                        u[r, c] = T.max(u[r, c] + v[c], T.float32(0))
                    if (cid * turns + i) * rows + vid * half < m:
                        T.copy(u, C[(cid * turns + i) * rows + vid * half, 0])

    return fused


def matmul_bias_relu_inputs(m, n, k, blocks=2, rows=32, seed=0):
    """Small whole numbers, whose sums are exact, and an empty workspace; the answer."""
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-3, 4, shape).astype("float16") for shape in ((m, k), (k, n)))
    bias = rng.integers(-9, 10, n).astype("float32")
    work = np.zeros((blocks, 2, rows, n), "float32")
    return (a, b, bias, work), np.maximum(a.astype("float32") @ b.astype("float32") + bias, 0)


def mean_of_all(cores, n):
    """Two passes: partial sums of every Vector core, then, behind SyncAll, their total."""

    @T.prim_func
    def subtract_total(
        X: T.Tensor((cores, n), "float32"),
        P: T.Tensor((cores, 8), "float32"),
        Y: T.Tensor((cores, n), "float32"),
    ):
        with T.Kernel(cores) as b:
            x = T.alloc_ub((1, n), "float32")
            s = T.alloc_ub((1, 1), "float32")
            row = T.alloc_ub((1, 8), "float32")
            parts = T.alloc_ub((cores, 8), "float32")
            total = T.alloc_ub((1, 8), "float32")
            T.copy(X[b, 0], x)
            T.reduce_sum(x, s, dim=1)
            for i, j in T.Parallel(1, 8):
                row[i, j] = s[i, 0]
            T.copy(row, P[b, 0])
            T.sync_all()
            T.copy(P, parts)
            T.reduce_sum(parts, total, dim=0)
            for i, j in T.Parallel(1, n):
                x[i, j] = x[i, j] - total[0, 0]
            T.copy(x, Y[b, 0])

    return subtract_total

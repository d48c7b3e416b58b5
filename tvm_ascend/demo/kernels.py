# SPDX-License-Identifier: Apache-2.0
"""The kernels of the demonstration; the layer norm is a TileLang-Ascend listing, unchanged."""

from __future__ import annotations

from tvm import tirx
from tvm.script import tirx as plain

from tvm_ascend import language as T


def make_layer_norm(M, N, block_N=1024, dtype="float16"):
    """Row-wise layer norm; also returns mean and variance."""

    @T.prim_func
    def layer_norm(
        A: T.Tensor((M, N), dtype=dtype),
        B: T.Tensor((M, N), dtype=dtype),
        Mean: T.Tensor((M,), dtype="float32"),
        Var: T.Tensor((M,), dtype="float32"),
    ):
        with T.Kernel(M, threads=128) as bx:
            a_tile = T.alloc_fragment((block_N,), dtype="float32")
            mean_tile = T.alloc_fragment((1,), dtype="float32")
            var_tile = T.alloc_fragment((1,), dtype="float32")
            T.copy(A[bx, :], a_tile)
            T.reduce_sum(a_tile, mean_tile, dim=0, clear=True)
            mean_tile[0] = mean_tile[0] / N
            T.clear(var_tile)
            for i in T.Parallel(block_N):
                T.atomic_add(var_tile[0], (a_tile[i] - mean_tile[0]) * (a_tile[i] - mean_tile[0]))
            var_tile[0] = var_tile[0] / N
            T.copy(mean_tile, Mean[bx])
            T.copy(var_tile, Var[bx])
            for i in T.Parallel(block_N):
                B[bx, i] = (a_tile[i] - mean_tile[0]) / T.sqrt(var_tile[0] + 1e-5)

    return layer_norm


def make_matmul(m: int, k: int, n: int) -> tirx.PrimFunc:
    """A plain TVMScript matmul, float16 in and float32 out; nothing in it knows of Ascend."""

    @plain.prim_func(s_tir=True)
    def matmul(
        A: plain.Buffer((m, k), "float16"),
        B: plain.Buffer((k, n), "float16"),
        C: plain.Buffer((m, n), "float32"),
    ):
        for i, j, kk in plain.grid(m, n, k):
            with plain.sblock("C"):
                vi, vj, vk = plain.axis.remap("SSR", [i, j, kk])
                with plain.init():
                    C[vi, vj] = plain.float32(0)
                C[vi, vj] += plain.float32(A[vi, vk]) * plain.float32(B[vk, vj])

    return matmul

# SPDX-License-Identifier: Apache-2.0
"""The LayerNorm listing parses verbatim into tile TIR."""

import tvm

from tvm_ascend import language as T


def make_layer_norm(M, N, block_N=1024, dtype="float16"):
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


def test_listing_parses_to_tile_operations():
    func = make_layer_norm(128, 1024)
    text = func.script()
    assert func.attrs["global_symbol"] == "layer_norm"
    assert text.count("ascend.tile_copy") == 3
    assert text.count('annotations={"ascend.parallel": 1}') == 2
    tvm.ir.assert_structural_equal(func, make_layer_norm(128, 1024))

# SPDX-License-Identifier: Apache-2.0
"""StageOperands: gemm on shared tiles, exact for integer values."""

import numpy as np
import pytest
import tvm

from tests.transform.kernels import assert_equal, integers, run
from tvm_ascend import language as T
from tvm_ascend.errors import ProductTooLarge
from tvm_ascend.target import as_target
from tvm_ascend.transform.stage_operands import StageOperands


def matmul(m, n, k, tile_m, tile_n, tile_k, ta=False, tb=False):
    @T.prim_func
    def kernel(
        A: T.Tensor((k, m) if ta else (m, k), "float16"),
        B: T.Tensor((n, k) if tb else (k, n), "float16"),
        C: T.Tensor((m, n), "float32"),
    ):
        with T.Kernel(T.ceildiv(m, tile_m), T.ceildiv(n, tile_n)) as (bx, by):
            a = T.alloc_shared((tile_k, tile_m) if ta else (tile_m, tile_k), "float16")
            b = T.alloc_shared((tile_n, tile_k) if tb else (tile_k, tile_n), "float16")
            c = T.alloc_fragment((tile_m, tile_n))
            T.clear(c)
            for ko in T.Pipelined(T.ceildiv(k, tile_k), num_stages=2):
                if ta:
                    T.copy(A[ko * tile_k, bx * tile_m], a)
                else:
                    T.copy(A[bx * tile_m, ko * tile_k], a)
                if tb:
                    T.copy(B[by * tile_n, ko * tile_k], b)
                else:
                    T.copy(B[ko * tile_k, by * tile_n], b)
                T.gemm(a, b, c, transpose_A=ta, transpose_B=tb)
            T.copy(c, C[bx * tile_m, by * tile_n])

    return kernel


@pytest.mark.parametrize(
    ("shape", "tile", "transposed"),
    [
        ((64, 64, 64), (64, 64, 64), (False, False)),
        ((128, 256, 1024), (128, 256, 256), (False, False)),
        ((126, 159, 80), (64, 64, 48), (False, False)),
        ((126, 159, 80), (64, 64, 48), (True, True)),
    ],
)
def test_products_of_shared_tiles(rng, shape, tile, transposed):
    m, n, k = shape
    a = integers(rng, m, k, dtype="float16", low=-3, high=4)
    b = integers(rng, k, n, dtype="float16", low=-3, high=4)
    c = np.zeros((m, n), "float32")
    ta, tb = transposed
    stored = [np.ascontiguousarray(x.T) if t else x for x, t in ((a, ta), (b, tb))]
    run(matmul(*shape, *tile, ta, tb), *stored, c)
    assert_equal(c, a.astype("float64") @ b.astype("float64"))


def stage(kernel):
    func = kernel.with_attr("target", as_target("ascend"))
    return StageOperands()(tvm.IRModule({"main": func}))["main"]


def test_long_k_is_split_into_pieces_that_fit_twice():
    text = stage(matmul(128, 256, 512, 128, 256, 512)).script()
    assert '(128, 64), "float16", scope="local.l0a"' in text
    assert "for k in T.serial(8" in text


def test_operands_in_l0_stay():
    @T.prim_func
    def kernel():
        a = T.alloc_L0A((16, 16), "float16")
        b = T.alloc_L0B((16, 16), "float16")
        c = T.alloc_L0C((16, 16))
        T.gemm(a, b, c, init=True)

    tvm.ir.assert_structural_equal(stage(kernel).body, kernel.body)


def test_product_that_no_split_of_k_fits_is_refused():
    with pytest.raises(ProductTooLarge, match=r"test_stage_operands.py:\d+"):
        stage(matmul(4096, 64, 64, 4096, 64, 64))

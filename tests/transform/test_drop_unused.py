# SPDX-License-Identifier: Apache-2.0
"""Buffers that nothing uses are left out, and decide nothing."""

import numpy as np
import pytest
import tvm
from tvm.ir import assert_structural_equal

from tvm_ascend import compile
from tvm_ascend import language as T
from tvm_ascend.transform.drop_unused import DropUnused


def dropped(func):
    return DropUnused()(tvm.IRModule({"main": func}))["main"]


@T.prim_func
def used(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        a = T.alloc_fragment((64,), "float32")
        T.copy(A, a)
        T.copy(a, A)


def test_an_unused_buffer_goes_and_the_others_stay():
    @T.prim_func
    def spare(A: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            s = T.alloc_fragment((8,), "float32")  # noqa: F841
            a = T.alloc_fragment((64,), "float32")
            t = T.alloc_shared((8,), "float32")  # noqa: F841
            T.copy(A, a)
            T.copy(a, A)

    assert_structural_equal(dropped(spare).body, used.body, map_free_vars=True)


def test_used_buffers_are_left_alone():
    assert_structural_equal(dropped(used), used)


@pytest.mark.parametrize("where", ["before", "inside"])
def test_a_spare_fragment_does_not_make_a_cube_kernel_mixed(where):
    @T.prim_func
    def product(
        A: T.Tensor((32, 32), "float16"),
        B: T.Tensor((32, 32), "float16"),
        C: T.Tensor((32, 32), "float32"),
    ):
        with T.Kernel(1):
            if where == "before":
                spare = T.alloc_fragment((64,), "float32")
            a = T.alloc_shared((32, 32), "float16")
            b = T.alloc_shared((32, 32), "float16")
            c = T.alloc_fragment((32, 32), "float32")
            if where == "inside":
                spare = T.alloc_fragment((64,), "float32")  # noqa: F841
            T.clear(c)
            for _ in T.serial(1):
                T.copy(A, a)
                T.copy(B, b)
                T.gemm(a, b, c)
            T.copy(c, C)

    x = np.arange(32 * 32).reshape(32, 32).astype("float16") % 7
    got = compile(product, out_idx=2)(x, x)
    assert np.array_equal(got, x.astype("float32") @ x.astype("float32"))


def test_a_spare_cube_buffer_leaves_a_vector_kernel_on_vector_cores():
    @T.prim_func
    def double(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(64) as bx:
            spare = T.alloc_L1((16, 16), "float16")  # noqa: F841
            for i in T.Parallel(64):
                B[bx, i] = A[bx, i] * 2.0

    x = np.arange(64 * 64).reshape(64, 64).astype("float32")
    assert np.array_equal(compile(double, out_idx=1)(x), x * 2)

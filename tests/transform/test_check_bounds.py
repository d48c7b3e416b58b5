# SPDX-License-Identifier: Apache-2.0
"""Accesses outside a buffer: refused where that is certain, caught by the simulator elsewhere."""

import numpy as np
import pytest
import tvm

from tests.transform.kernels import run
from tvm_ascend import language as T
from tvm_ascend.errors import AscendError, IndexOutside, MemoryAccessError
from tvm_ascend.transform.check_bounds import CheckBounds


def refused(kernel, message):
    with pytest.raises(IndexOutside, match=message):
        CheckBounds()(tvm.IRModule({"main": kernel}))


def test_a_loop_past_a_tile():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            for i in T.Parallel(70):
                a[i] = 0.0
            T.copy(a, A)

    refused(kernel, r"py:\d+: index 0..69 in dimension 0 of `a` is outside; allowed is 0..63")


def test_a_negative_index():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            T.copy(A, a)
            A[0] = a[-1] + 1.0

    refused(kernel, r"index -1 in dimension 0 of `a`")


def test_a_shifted_read_past_a_tensor():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            for i in T.Parallel(64):
                B[i] = A[i + 1]

    refused(kernel, r"index 1..64 in dimension 0 of `A`")


def test_a_tile_that_starts_past_a_tensor():
    @T.prim_func
    def kernel(A: T.Tensor((100,), "float32"), B: T.Tensor((160,), "float32")):
        with T.Kernel(5) as bx:
            a = T.alloc_fragment((32,))
            T.copy(A[bx * 32], a)
            T.copy(a, B[bx * 32])

    refused(kernel, r"index 0..128 in dimension 0 of `A`")


def test_a_row_outside_a_tensor():
    with pytest.raises(IndexOutside, match=r"py:\d+: index 100 in dimension 0 of `A`"):

        @T.prim_func
        def kernel(A: T.Tensor((8, 64), "float32"), B: T.Tensor((64,), "float32")):
            with T.Kernel(1):
                a = T.alloc_fragment((64,))
                T.copy(A[100, :], a)
                T.copy(a, B)


def test_a_slice_past_the_end():
    with pytest.raises(IndexOutside, match=r"index 60..69 in dimension 0 of `A`"):

        @T.prim_func
        def kernel(A: T.Tensor((64,), "float32")):
            with T.Kernel(1):
                a = T.alloc_fragment((10,))
                T.copy(A[60:70], a)
                T.copy(a, A[0:10])


def test_tails_and_guards_stay():
    @T.prim_func
    def kernel(A: T.Tensor((100,), "float32"), B: T.Tensor((100,), "float32")):
        with T.Kernel(4) as bx:
            a = T.alloc_fragment((32,))
            T.copy(A[bx * 32], a)
            for i in T.Parallel(32):
                B[bx * 32 + i] = a[i] + A[bx * 32 + i]
                if bx * 32 + i < 99:
                    B[bx * 32 + i] = A[bx * 32 + i + 1]
            for i in T.Parallel(40):
                if i < 32:
                    a[i] = T.if_then_else(i >= 4, a[i - 4], 0.0)

    after = CheckBounds()(tvm.IRModule({"main": kernel}))["main"]
    tvm.ir.assert_structural_equal(after, kernel)


@pytest.mark.parametrize("row", [8, 100, -1])
@pytest.mark.parametrize("store", [False, True])
def test_a_row_that_the_arguments_put_outside_is_caught(row, store):
    @T.prim_func
    def kernel(A: T.Tensor((8, 64), "float32"), n: T.int32, B: T.Tensor((8, 64), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            if store:
                T.copy(A[0, :], a)
                T.copy(a, B[n, :])
            else:
                T.copy(A[n, :], a)
                T.copy(a, B[0, :])

    with pytest.raises(MemoryAccessError, match="out_of_bounds"):
        run(kernel, np.ones((8, 64), "float32"), row, np.ones((8, 64), "float32"))


@pytest.mark.parametrize("start", [64, 70, 1000, -3])
def test_a_tile_that_the_arguments_put_outside_is_caught(start):
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32"), n: T.int32, B: T.Tensor((16,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((16,))
            T.copy(A[n], a)
            T.copy(a, B)

    with pytest.raises(AscendError, match="out_of_bounds"):
        run(kernel, np.ones(64, "float32"), start, np.ones(16, "float32"))


def test_a_shifted_element_loop_past_a_tensor_is_caught():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32"), n: T.int32, B: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            for i in T.Parallel(64):
                B[i] = A[i + n]

    with pytest.raises(MemoryAccessError, match="out_of_bounds"):
        run(kernel, np.ones(64, "float32"), 1, np.ones(64, "float32"))

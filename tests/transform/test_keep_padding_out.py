# SPDX-License-Identifier: Apache-2.0
"""What lies past a tensor does not count: reductions and accumulations of tiles that overrun."""

import numpy as np
import pytest
import tvm

from tests.transform.kernels import assert_equal, integers, run
from tvm_ascend import language as T
from tvm_ascend.errors import PaddingCounts
from tvm_ascend.transform.keep_padding_out import KeepPaddingOut

REDUCE = {"max": T.reduce_max, "min": T.reduce_min, "sum": T.reduce_sum}
SIGN = {"max": -1, "min": 1, "sum": 1}


def negative(rng, *shape):
    return -integers(rng, *shape, low=1)


@pytest.mark.parametrize("kind", ["max", "sum"])
def test_a_tile_past_the_end_is_reduced_as_far_as_it_goes(rng, kind):
    reduce = REDUCE[kind]

    @T.prim_func
    def kernel(A: T.Tensor((100,), "float32"), B: T.Tensor((4,), "float32")):
        with T.Kernel(4) as bx:
            a = T.alloc_fragment((32,))
            s = T.alloc_fragment((1,))
            T.copy(A[bx * 32], a)
            for i in T.Parallel(32):
                a[i] = a[i] - 1.0
            reduce(a, s, dim=0)
            T.copy(s, B[bx])

    a, b = negative(rng, 100), np.zeros(4, "float32")
    assert not run(kernel, a, b)
    assert_equal(b, [getattr((a - 1)[k : k + 32], kind)() for k in range(0, 100, 32)])


def test_rows_and_columns_past_the_end(rng):
    @T.prim_func
    def kernel(A: T.Tensor((13, 50), "float32"), R: T.Tensor((13,), "float32"),
               C: T.Tensor((1,), "float32")):  # fmt: skip
        with T.Kernel(1):
            a = T.alloc_fragment((16, 64))
            q = T.alloc_fragment((16, 64))
            r = T.alloc_fragment((16,))
            c = T.alloc_fragment((1,))
            T.copy(A[0, 0], a)
            for i, j in T.Parallel(16, 64):
                q[i, j] = a[i, j] - 5.0
            T.reduce_max(q, r, dim=1)
            T.reduce_sum(r, c, dim=0)
            T.copy(r, R[0])
            T.copy(c, C)

    a, r, c = negative(rng, 13, 50), np.zeros(13, "float32"), np.zeros(1, "float32")
    run(kernel, a, r, c)
    assert_equal(r, (a - 5).max(1))
    assert_equal(c, [(a - 5).max(1).sum()])


def test_variance_of_a_row_shorter_than_the_tile(rng):
    @T.prim_func
    def kernel(A: T.Tensor((3, 100), "float32"), B: T.Tensor((3,), "float32")):
        with T.Kernel(3) as bx:
            a = T.alloc_fragment((128,))
            mean = T.alloc_fragment((1,))
            var = T.alloc_fragment((1,))
            T.copy(A[bx, 0], a)
            T.clear(mean)
            for i in T.Parallel(128):
                T.atomic_add(mean[0], a[i])
            mean[0] = mean[0] / 100
            T.clear(var)
            for i in T.Parallel(128):
                T.atomic_add(var[0], (a[i] - mean[0]) * (a[i] - mean[0]))
            T.copy(var, B[bx])

    a = integers(rng, 3, 100)
    a[:, 0] -= a.sum(1) % 100  # an integer mean
    b = np.zeros(3, "float32")
    run(kernel, a, b)
    np.testing.assert_allclose(b, a.var(1) * 100, rtol=1e-5)


@pytest.mark.parametrize("kind", ["max", "sum"])
def test_a_tile_accumulates_over_a_loop_only_elements(rng, kind):
    reduce = REDUCE[kind]

    @T.prim_func
    def kernel(A: T.Tensor((100,), "float32"), B: T.Tensor((1,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((32,))
            acc = T.alloc_fragment((32,))
            s = T.alloc_fragment((1,))
            T.fill(acc, -100.0 if kind == "max" else 0.0)
            for k in T.Pipelined(4):
                T.copy(A[k * 32], a)
                for i in T.Parallel(32):
                    a[i] = a[i] - 1.0
                for i in T.Parallel(32):
                    if kind == "max":
                        acc[i] = T.max(acc[i], a[i])
                    else:
                        acc[i] = acc[i] + a[i]
            reduce(acc, s, dim=0)
            T.copy(s, B)

    a, b = negative(rng, 100), np.zeros(1, "float32")
    assert not run(kernel, a, b)
    assert_equal(b, [getattr(a - 1, kind)()])


def test_a_running_maximum_over_chunks(rng):
    @T.prim_func
    def kernel(A: T.Tensor((3, 100), "float32"), B: T.Tensor((3,), "float32")):
        with T.Kernel(3) as bx:
            a = T.alloc_fragment((32,))
            m = T.alloc_fragment((1,))
            T.fill(m, -100.0)
            for k in T.serial(4):
                T.copy(A[bx, k * 32], a)
                T.reduce_max(a, m, dim=0, clear=False)
            T.copy(m, B[bx])

    a, b = negative(rng, 3, 100), np.zeros(3, "float32")
    assert not run(kernel, a, b)
    assert_equal(b, a.max(1))


def test_element_loops_that_read_tensors_count_no_padding(rng):
    @T.prim_func
    def kernel(A: T.Tensor((100,), "float32"), B: T.Tensor((4,), "float32")):
        with T.Kernel(4) as bx:
            a = T.alloc_fragment((32,))
            s = T.alloc_fragment((1,))
            for i in T.Parallel(32):
                a[i] = A[bx * 32 + i] - 1.0
            T.reduce_max(a, s, dim=0)
            T.copy(s, B[bx])

    a, b = negative(rng, 100), np.zeros(4, "float32")
    run(kernel, a, b)
    assert_equal(b, [(a - 1)[k : k + 32].max() for k in range(0, 100, 32)])


@pytest.mark.parametrize("how", ["select", "guard", "fill"])
def test_a_masked_tile_counts_whole(rng, how):
    @T.prim_func
    def kernel(A: T.Tensor((3, 100), "float32"), B: T.Tensor((3,), "float32")):
        with T.Kernel(3) as bx:
            a = T.alloc_fragment((128,))
            b = T.alloc_fragment((128,))
            s = T.alloc_fragment((1,))
            T.copy(A[bx, 0], a)
            if how == "select":
                for i in T.Parallel(128):
                    b[i] = T.if_then_else(i < 100, a[i], -1.0)
            else:
                T.copy(a, b)
                if how == "fill":
                    for i in T.Parallel(28):
                        b[100 + i] = -1.0
                else:
                    for i in T.Parallel(128):
                        if i >= 100:
                            b[i] = -1.0
            T.reduce_sum(b, s, dim=0)
            T.copy(s, B[bx])

    a, b = negative(rng, 3, 100), np.zeros(3, "float32")
    run(kernel, a, b)
    assert_equal(b, a.sum(1) - 28)


def test_tiles_that_divide_their_tensor_stay(rng):
    @T.prim_func
    def kernel(A: T.Tensor((128,), "float32"), B: T.Tensor((4,), "float32")):
        with T.Kernel(4) as bx:
            a = T.alloc_fragment((32,))
            s = T.alloc_fragment((1,))
            T.copy(A[bx * 32], a)
            T.reduce_max(a, s, dim=0)
            T.copy(s, B[bx])

    after = KeepPaddingOut()(tvm.IRModule({"main": kernel}))["main"]
    tvm.ir.assert_structural_equal(after.body, kernel.body)


def test_a_tile_of_unknown_length_is_not_reduced():
    @T.prim_func
    def kernel(A: T.Tensor((100,), "float32"), B: T.Tensor((1,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((32,))
            s = T.alloc_fragment((1,))
            for k in T.serial(4):
                T.copy(A[k * 32], a)
            T.reduce_max(a, s, dim=0)
            T.copy(s, B)

    with pytest.raises(PaddingCounts, match=r"counts elements of `a`, which the copy in .*py:\d+"):
        run(kernel, np.zeros(100, "float32"), np.zeros(1, "float32"))

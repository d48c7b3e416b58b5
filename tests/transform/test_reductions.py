# SPDX-License-Identifier: Apache-2.0
"""Reductions, by tile operation and by accumulating loops: exact sums of integer values."""

import numpy as np
import pytest

from tests.transform.kernels import assert_equal, integers, run
from tvm_ascend import language as T
from tvm_ascend.errors import IndexOutside

NUMPY = {"sum": np.sum, "max": np.max, "min": np.min}
COMBINE = {"sum": np.add, "max": np.maximum, "min": np.minimum}


def reduction(rows, cols, kind, dim, clear, dtype):
    reduce = getattr(T, f"reduce_{kind}")
    kept = rows if dim == 1 else cols

    @T.prim_func
    def kernel(A: T.Tensor((rows, cols), dtype), B: T.Tensor((kept,), dtype)):
        with T.Kernel(1):
            a = T.alloc_fragment((rows, cols), dtype)
            b = T.alloc_fragment((kept,), dtype)
            T.copy(A, a)
            T.copy(B, b)
            reduce(a, b, dim=dim, clear=clear)
            T.copy(b, B)

    return kernel


@pytest.mark.parametrize("clear", [True, False])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("sum", "float32"),
        ("max", "float32"),
        ("sum", "float16"),
        ("min", "float16"),
        ("sum", "int32"),
    ],
)
def test_any_shape(rng, kind, dtype, dim, clear):
    low, high = (-1, 2) if (kind, dtype) == ("sum", "float16") else (-8, 9)
    for rows, cols in [(16, 64), (5, 37), (3, 300), (300, 5), (1, 64), (64, 1), (7, 200)]:
        a = integers(rng, rows, cols, dtype=dtype, low=low, high=high)
        b = integers(rng, rows if dim == 1 else cols, dtype=dtype, low=low, high=high)
        expected = NUMPY[kind](a, axis=dim)
        if not clear:
            expected = COMBINE[kind](expected, b)
        run(reduction(rows, cols, kind, dim, clear, dtype), a, b)
        assert_equal(b, expected)


@pytest.mark.parametrize("cols", [5000, 64 * 255 + 3, 64 * 300])
def test_more_repeats_than_one_instruction_takes(rng, cols):
    a, b = integers(rng, 2, cols), np.zeros(2, "float32")
    run(reduction(2, cols, "sum", 1, True, "float32"), a, b)
    assert_equal(b, a.sum(1))


def accumulations(rows, cols):
    @T.prim_func
    def kernel(
        A: T.Tensor((rows, cols), "float32"),
        R: T.Tensor((rows,), "float32"),
        C: T.Tensor((cols,), "float32"),
        S: T.Tensor((1,), "float32"),
    ):
        with T.Kernel(1):
            a = T.alloc_fragment((rows, cols))
            r = T.alloc_fragment((rows,))
            c = T.alloc_fragment((cols,))
            s = T.alloc_fragment((1,))
            T.copy(A, a)
            T.clear(r)
            for i, j in T.Parallel(rows, cols):
                T.atomic_add(r[i], a[i, j] * 2)
            T.fill(c, 3.0)
            for i, j in T.Parallel(rows, cols):
                T.atomic_add(c[j], a[i, j] * a[i, j])
            T.clear(s)
            for i, j in T.Parallel(rows, cols):
                T.atomic_add(s[0], a[i, j] + 1)
            for i, j in T.Parallel(rows, cols):
                s[0] = T.max(s[0], a[i, j])
            T.copy(r, R)
            T.copy(c, C)
            T.copy(s, S)

    return kernel


@pytest.mark.parametrize(("rows", "cols"), [(16, 64), (5, 37), (3, 300), (70, 9)])
def test_accumulating_loops(rng, rows, cols):
    a = integers(rng, rows, cols)
    r, c, s = (np.zeros(n, "float32") for n in (rows, cols, 1))
    assert not run(accumulations(rows, cols), a, r, c, s)
    assert_equal(r, (a * 2).sum(1))
    assert_equal(c, (a * a).sum(0) + 3)
    assert_equal(s, max((a + 1).sum(), a.max()))


def test_sum_over_a_pipelined_loop_with_a_tail(rng):
    @T.prim_func
    def kernel(A: T.Tensor((3, 1000), "float16"), S: T.Tensor((3,), "float32")):
        with T.Kernel(3) as bx:
            s = T.alloc_fragment((1,))
            T.clear(s)
            for n in T.Pipelined(T.ceildiv(1000, 256), num_stages=2):
                a = T.alloc_fragment((256,))
                T.copy(A[bx, n * 256], a)
                for i in T.Parallel(256):
                    T.atomic_add(s[0], a[i])
            T.copy(s, S[bx])

    a, s = integers(rng, 3, 1000, dtype="float16"), np.zeros(3, "float32")
    assert not run(kernel, a, s)
    assert_equal(s, a.astype("float64").sum(1))


def test_a_loop_past_the_end_of_a_tensor_is_refused():
    @T.prim_func
    def kernel(A: T.Tensor((3, 100), "float32"), S: T.Tensor((3,), "float32")):
        with T.Kernel(3) as bx:
            s = T.alloc_fragment((1,))
            T.clear(s)
            for i in T.Parallel(128):
                T.atomic_add(s[0], (A[bx, i] - 1.0) * (A[bx, i] - 1.0))
            T.copy(s, S[bx])

    with pytest.raises(IndexOutside, match=r"index 0..127 in dimension 1 of `A`"):
        run(kernel, np.zeros((3, 100), "float32"), np.zeros(3, "float32"))


def test_a_condition_keeps_them_out(rng):
    @T.prim_func
    def kernel(A: T.Tensor((3, 100), "float32"), S: T.Tensor((3,), "float32")):
        with T.Kernel(3) as bx:
            s = T.alloc_fragment((1,))
            T.clear(s)
            for i in T.Parallel(128):
                if i < 100:
                    T.atomic_add(s[0], (A[bx, i] - 1.0) * (A[bx, i] - 1.0))
            T.copy(s, S[bx])

    a, s = integers(rng, 3, 100), np.zeros(3, "float32")
    assert not run(kernel, a, s)
    assert_equal(s, ((a - 1) ** 2).sum(1))

# SPDX-License-Identifier: Apache-2.0
"""Elements past a tensor stop no core: integer divisions and indices on ragged tiles."""

import numpy as np
import pytest

from tests.transform.kernels import assert_equal, integers, run
from tvm_ascend import language as T
from tvm_ascend.errors import PaddingDivides, TrapError

DIVISIONS = {
    "floordiv": (lambda a, b: a // b, np.floor_divide),
    "floormod": (lambda a, b: a % b, np.mod),
    "truncdiv": (T.truncdiv, lambda a, b: np.trunc(a / b)),
    "truncmod": (T.truncmod, np.fmod),
}


def operands(rng, size, dtype="int32"):
    low = 0 if dtype.startswith("u") else -20
    return integers(rng, size, dtype=dtype, low=low, high=21), integers(
        rng, size, dtype=dtype, low=1, high=6
    )


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", ["int32", "int16", "uint8"])
def test_divisions_of_tiles(rng, name, dtype):
    divide, meaning = DIVISIONS[name]

    @T.prim_func
    def kernel(A: T.Tensor((48,), dtype), B: T.Tensor((48,), dtype), C: T.Tensor((48,), dtype)):
        with T.Kernel(2) as bx:
            a = T.alloc_fragment((32,), dtype)
            b = T.alloc_fragment((32,), dtype)
            T.copy(A[bx * 32], a)
            T.copy(B[bx * 32], b)
            for j in T.Parallel(32):
                a[j] = divide(a[j], b[j])
            T.copy(a, C[bx * 32])

    a, b = operands(rng, 48, dtype)
    c = np.zeros(48, dtype)
    run(kernel, a, b, c)
    assert_equal(c, meaning(a.astype("int64"), b.astype("int64")))


@pytest.mark.parametrize("how", ["in place", "named", "condition", "serial", "computed", "later"])
def test_divisions_however_they_are_written(rng, how):
    @T.prim_func
    def kernel(A: T.Tensor((48,), "int32"), B: T.Tensor((48,), "int32"),
               C: T.Tensor((48,), "int32")):  # fmt: skip
        with T.Kernel(2) as bx:
            a = T.alloc_fragment((32,), "int32")
            b = T.alloc_fragment((32,), "int32")
            T.copy(A[bx * 32], a)
            T.copy(B[bx * 32], b)
            if how == "in place":
                for j in T.Parallel(32):
                    b[j] = a[j] // b[j]
                T.copy(b, a)
            if how == "named":
                for j in T.Parallel(32):
                    q = a[j] // b[j]
                    a[j] = q
            if how == "condition":
                for j in T.Parallel(32):
                    if a[j] % b[j] != 0 or a[j] % b[j] == 0:
                        a[j] = T.if_then_else(a[j] % b[j] == 0, a[j] // b[j], a[j] // b[j])
            if how == "serial":
                for j in T.serial(32):
                    a[j] = a[j] // b[j]
            if how == "computed":
                for j in T.Parallel(32):
                    b[j] = b[j] + b[j]
                for j in T.Parallel(32):
                    a[j] = T.Cast("int32", T.Cast("int64", a[j]) // T.Cast("int64", b[j] // 2))
            if how == "later":
                for j in T.Parallel(32):
                    b[j] = a[j] // b[j]
                for j in T.Parallel(32):
                    a[j] = b[j] * 2
                for j in T.Parallel(32):
                    a[j] = a[j] - b[j]
            T.copy(a, C[bx * 32])

    a, b = operands(rng, 48)
    c = np.zeros(48, "int32")
    run(kernel, a, b, c)
    assert_equal(c, a // b)


@pytest.mark.parametrize("through", ["tensor", "tile"])
def test_divisions_of_tensors_that_the_tile_does_not_divide(rng, through):
    @T.prim_func
    def kernel(A: T.Tensor((48,), "int32"), B: T.Tensor((48,), "int32"),
               C: T.Tensor((48,), "int32")):  # fmt: skip
        with T.Kernel(2) as bx:
            c = T.alloc_fragment((32,), "int32")
            if through == "tensor":
                for j in T.Parallel(32):
                    C[bx * 32 + j] = A[bx * 32 + j] // B[bx * 32 + j]
            else:
                for j in T.Parallel(32):
                    c[j] = A[bx * 32 + j] // B[bx * 32 + j]
                T.copy(c, C[bx * 32])

    a, b = operands(rng, 48)
    c = np.zeros(48, "int32")
    run(kernel, a, b, c)
    assert_equal(c, a // b)


def test_blocks_that_a_schedule_tiles(rng):
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((7777,), "int32"), B: T.Buffer((7777,), "int32"),
               C: T.Buffer((7777,), "int32")):  # fmt: skip
        for i in range(7777):
            with T.sblock("c"):
                v = T.axis.spatial(7777, i)
                C[v] = A[v] % B[v] + A[v] // B[v]

    a, b = operands(rng, 7777)
    c = np.zeros(7777, "int32")
    run(kernel, a, b, c)
    assert_equal(c, a % b + a // b)


def test_indices_that_do_not_exist(rng):
    @T.prim_func
    def kernel(A: T.Tensor((48,), "int32"), V: T.Tensor((8,), "float32"),
               C: T.Tensor((48,), "float32"), H: T.Tensor((2, 8), "float32")):  # fmt: skip
        with T.Kernel(2) as bx:
            a = T.alloc_fragment((32,), "int32")
            v = T.alloc_fragment((8,))
            c = T.alloc_fragment((32,))
            h = T.alloc_fragment((8,))
            T.copy(A[bx * 32], a)
            T.copy(V, v)
            for j in T.Parallel(32):
                c[j] = v[a[j] - 1]
            T.copy(c, C[bx * 32])
            T.clear(h)
            for j in T.serial(32):
                h[a[j] - 1] = h[a[j] - 1] + 1.0
            T.copy(h, H[bx, 0])

    a, v = integers(rng, 48, dtype="int32", low=1, high=9), integers(rng, 8)
    c, h = np.zeros(48, "float32"), np.zeros((2, 8), "float32")
    run(kernel, a, v, c, h)
    assert_equal(c, v[a - 1])
    assert_equal(h, [np.bincount(x - 1, minlength=8) for x in (a[:32], a[32:])])


def test_a_divisor_of_the_tensor_that_is_zero_still_stops(rng):
    @T.prim_func
    def kernel(A: T.Tensor((48,), "int32"), C: T.Tensor((48,), "int32")):
        with T.Kernel(2) as bx:
            a = T.alloc_fragment((32,), "int32")
            T.copy(A[bx * 32], a)
            for j in T.Parallel(32):
                a[j] = 7 // a[j]
            T.copy(a, C[bx * 32])

    a = integers(rng, 48, dtype="int32", low=1)
    run(kernel, a, np.zeros(48, "int32"))
    a[47] = 0
    with pytest.raises(TrapError, match="division by zero"):
        run(kernel, a, np.zeros(48, "int32"))


def test_a_divisor_of_unknown_length_is_refused(rng):
    def kernel_of(guarded):
        @T.prim_func
        def kernel(A: T.Tensor((48,), "int32"), C: T.Tensor((48,), "int32")):
            with T.Kernel(1):
                a = T.alloc_fragment((32,), "int32")
                for k in T.serial(2):
                    T.copy(A[k * 32], a)
                for j in T.Parallel(32):
                    if guarded:
                        a[j] = 7 // T.if_then_else(a[j] != 0, a[j], 1)
                    else:
                        a[j] = 7 // a[j]
                T.copy(a, C[32])

        return kernel

    a, c = integers(rng, 48, dtype="int32", low=1), np.zeros(48, "int32")
    with pytest.raises(PaddingDivides, match=r"divides by elements of `a`, which the copy in .*py"):
        run(kernel_of(False), a, c)
    run(kernel_of(True), a, c)
    assert_equal(c[32:], 7 // a[32:])

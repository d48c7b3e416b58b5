# SPDX-License-Identifier: Apache-2.0
"""A value that a narrower dtype does not hold wraps around, and nothing is concluded before."""

import numpy as np
import pytest
from tvm import te, tirx

from tests.runtime.test_scalar_values import run_both
from tvm_ascend import language as T

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


def around(dtype):
    """Values of a dtype on both sides of the ends of every narrower one."""
    info = np.iinfo(dtype)
    ends = [0, *(2**bits for bits in (7, 8, 15, 16, 31, 32, 63))]
    wanted = {sign * end + off for end in ends for sign in (1, -1) for off in (-2, -1, 0, 1, 5)}
    return np.array(sorted(v for v in wanted if info.min <= v <= info.max), dtype)


@pytest.mark.parametrize("source", INTEGERS)
def test_divisions_of_a_narrowed_element(source):
    given = around(source)
    count = len(given)

    def mod(element, target):
        return T.Cast("int64", T.floormod(T.Cast(target, element), T.Cast(target, T.int32(3))))

    def div(element, target):
        return T.Cast("int64", T.floordiv(T.Cast(target, element), T.Cast(target, T.int32(3))))

    @T.prim_func
    def kernel(A: T.Tensor((count,), source), B: T.Tensor((8, 2, count), "int64")):
        with T.Kernel(1):
            for i in T.serial(count):
                B[0, 0, i] = mod(A[i], "int8")
                B[0, 1, i] = div(A[i], "int8")
                B[1, 0, i] = mod(A[i], "int16")
                B[1, 1, i] = div(A[i], "int16")
                B[2, 0, i] = mod(A[i], "int32")
                B[2, 1, i] = div(A[i], "int32")
                B[3, 0, i] = mod(A[i], "int64")
                B[3, 1, i] = div(A[i], "int64")
                B[4, 0, i] = mod(A[i], "uint8")
                B[4, 1, i] = div(A[i], "uint8")
                B[5, 0, i] = mod(A[i], "uint16")
                B[5, 1, i] = div(A[i], "uint16")
                B[6, 0, i] = mod(A[i], "uint32")
                B[6, 1, i] = div(A[i], "uint32")
                B[7, 0, i] = mod(A[i], "uint64")
                B[7, 1, i] = div(A[i], "uint64")

    expected = [
        [(value % 3).astype("int64"), (value // 3).astype("int64")]
        for value in (given.astype(target) for target in INTEGERS)
    ]
    for found in run_both(kernel, given):
        np.testing.assert_array_equal(found, expected)


def test_a_division_of_an_element_narrowed_twice():
    given = np.arange(-5, 32)

    @T.prim_func
    def kernel(A: T.Tensor((37,), "int64"), B: T.Tensor((37,), "int8")):
        with T.Kernel(1):
            for i in T.serial(37):
                B[i] = T.floormod(T.Cast("int8", T.Cast("uint64", A[i])), T.int8(2))

    for found in run_both(kernel, given):
        np.testing.assert_array_equal(found, given % 2)


def test_a_division_of_a_narrowed_loop_variable():
    @T.prim_func
    def kernel(B: T.Tensor((2, 300), "int8")):
        with T.Kernel(1):
            for i in T.serial(300):
                B[0, i] = T.floormod(T.Cast("int8", i), T.int8(3))
                B[1, i] = T.floordiv(T.Cast("int8", i), T.int8(3))

    value = np.arange(300).astype("int8")
    for found in run_both(kernel):
        np.testing.assert_array_equal(found, np.stack([value % 3, value // 3]))


def test_a_division_of_a_product_that_wraps_below_a_minimum():
    @T.prim_func
    def kernel(B: T.Tensor((8,), "int32")):
        with T.Kernel(1):
            for i in T.serial(8):
                B[i] = T.floormod(T.min((i + 46340) * (i + 46340), 5), 3)

    square = ((np.arange(8, dtype="int64") + 46340) ** 2).astype("int32")
    assert square.min() < 0
    for found in run_both(kernel):
        np.testing.assert_array_equal(found, np.minimum(square, 5) % 3)


def test_conditions_and_choices_on_a_narrowed_loop_variable():
    @T.prim_func
    def kernel(B: T.Tensor((3, 300), "int32")):
        with T.Kernel(1):
            for i in T.serial(300):
                B[0, i] = 0
                if T.Cast("int8", i) < T.int8(0):
                    B[0, i] = 1
                B[1, i] = T.if_then_else(T.Cast("int8", i) >= T.int8(0), 1, 2)
                B[2, i] = T.max(T.Cast("int32", T.Cast("int8", i)), 0)

    value = np.arange(300).astype("int8").astype("int32")
    negative = value < 0
    expected = np.stack([negative, 1 + negative, np.maximum(value, 0)])
    for found in run_both(kernel):
        np.testing.assert_array_equal(found, expected)


def test_an_index_that_is_narrowed():
    @T.prim_func
    def kernel(A: T.Tensor((256,), "float32"), B: T.Tensor((300,), "float32")):
        with T.Kernel(1):
            for i in T.serial(300):
                B[i] = A[T.Cast("int32", T.Cast("uint8", i))]

    given = np.arange(256, dtype="float32")
    for found in run_both(kernel, given):
        np.testing.assert_array_equal(found, given[np.arange(300) % 256])


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64", "int8", "int16"])
def test_constants_of_an_axis_wrap_around(dtype):
    """An axis of one element is a constant, which TVM folds and refuses below 0."""

    def wrapped(i):
        axis = i.astype(dtype)
        return (axis - tirx.const(3, dtype)) + tirx.const(100, dtype) * tirx.const(1, dtype) * axis

    out = te.compute((1,), wrapped, name="out")
    chosen = te.compute((1,), lambda i: tirx.Select(wrapped(i) > tirx.const(5, dtype), 1, 2))
    for result, value in ((out, np.array(-3).astype(dtype)), (chosen, 2 - dtype.startswith("u"))):
        for found in run_both(te.create_prim_func([result])):
            np.testing.assert_array_equal(found, [value])

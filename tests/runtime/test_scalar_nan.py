# SPDX-License-Identifier: Apache-2.0
"""NaN, infinity and integers that wrap keep their meaning from TIR to both executors."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from tvm.script import tirx as P

from tvm_ascend import compile
from tvm_ascend import language as T
from tvm_ascend.build import Kernel

SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5, 3e38, 1e-40)
X, Y = (np.array(c, "float32") for c in zip(*itertools.product(SPECIAL, repeat=2), strict=True))
COUNT = len(X)


def run_both(kernel, *inputs, out=None):
    built = compile(kernel, out_idx=len(inputs) if out is None else out)
    twin = Kernel(built.artifact, built.out_idx, replace(built.options, executor="twin"))
    return built(*inputs), twin(*inputs)


# The second function takes numpy arrays. Each differs where floats are taken for real numbers.
FLOATS = {
    "x - x": (lambda x, y: x - x, lambda x, y: x - x),
    "x / x": (lambda x, y: x / x, lambda x, y: x / x),
    "x * y": (lambda x, y: x * y, lambda x, y: x * y),
    "x + y - y": (lambda x, y: x + y - y, lambda x, y: x + y - y),
    "x * y / y": (lambda x, y: x * y / y, lambda x, y: x * y / y),
    "select": (lambda x, y: T.Select(x != x, y, x), lambda x, y: np.where(x != x, y, x)),
    "if_then_else": (
        lambda x, y: T.if_then_else(x - x == T.float32(0), x, y),
        lambda x, y: np.where(np.isfinite(x), x, y),
    ),
}
CHOICES = {
    "max": (lambda x, y: T.max(x, y), lambda x, y: np.where(x > y, x, y)),
    "min": (lambda x, y: T.min(x, y), lambda x, y: np.where(x < y, x, y)),
    "max of min": (
        lambda x, y: T.max(T.min(x, y), y),
        lambda x, y: np.where(np.where(x < y, x, y) > y, np.where(x < y, x, y), y),
    ),
}
TRUTHS = {
    "x != x": (lambda x, y: x != x, lambda x, y: x != x),
    "x == x": (lambda x, y: x == x, lambda x, y: x == x),
    "x > x": (lambda x, y: x > x, lambda x, y: x > x),
    "x >= x": (lambda x, y: x >= x, lambda x, y: x >= x),
    "not <": (lambda x, y: T.Not(x < y), lambda x, y: ~(x < y)),
    "not >=": (lambda x, y: T.Not(x >= y), lambda x, y: ~(x >= y)),
    "not ==": (lambda x, y: T.Not(x == y), lambda x, y: ~(x == y)),
    "both": (lambda x, y: T.And(x < y, x >= y), lambda x, y: (x < y) & (x >= y)),
    "either": (lambda x, y: T.Or(x < y, x >= y), lambda x, y: (x < y) | (x >= y)),
    "sum": (lambda x, y: x + y == y, lambda x, y: x + y == y),
    "difference": (lambda x, y: x - y < T.float32(0), lambda x, y: x - y < 0),
}


def in_tile_language(operation, truth):
    @T.prim_func
    def kernel(
        A: T.Tensor((COUNT,), "float32"),
        B: T.Tensor((COUNT,), "float32"),
        C: T.Tensor((COUNT,), "bool" if truth else "float32"),
    ):
        with T.Kernel(1):
            for i in T.serial(COUNT):
                C[i] = operation(A[i], B[i])

    return kernel


def in_plain_tir(operation, truth):
    @P.prim_func(s_tir=True)
    def kernel(
        A: P.Buffer((COUNT,), "float32"),
        B: P.Buffer((COUNT,), "float32"),
        C: P.Buffer((COUNT,), "bool" if truth else "float32"),
    ):
        for i in range(COUNT):
            with P.sblock("C"):
                vi = P.axis.spatial(COUNT, i)
                C[vi] = operation(A[vi], B[vi])

    return kernel


CASES = [(make, name) for name in FLOATS for make in (in_tile_language, in_plain_tir)]
CASES += [(in_tile_language, name) for name in CHOICES]


@pytest.mark.parametrize(("make", "name"), CASES)
def test_arithmetic_of_special_floats(make, name):
    operation, exact = (FLOATS | CHOICES)[name]
    with np.errstate(all="ignore"):
        expected = exact(X, Y).astype("float32")
    for found in run_both(make(operation, False), X, Y):
        np.testing.assert_array_equal(found, expected)
        numbers = ~np.isnan(expected)
        assert np.array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("make", [in_tile_language, in_plain_tir])
@pytest.mark.parametrize("name", TRUTHS)
def test_comparisons_of_special_floats(make, name):
    operation, exact = TRUTHS[name]
    with np.errstate(all="ignore"):
        expected = exact(X, Y)
    for found in run_both(make(operation, True), X, Y):
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(("name", "exact"), [("max", np.maximum), ("min", np.minimum)])
def test_the_vector_unit_keeps_nan_in_max_and_min(name, exact):
    """T.max itself is `a > b ? a : b`, as TVM computes it; the chip's instruction is not."""
    for found in run_both(in_plain_tir(CHOICES[name][0], False), X, Y):
        np.testing.assert_array_equal(found, exact(X, Y))


def test_conditions_indices_and_bounds_of_a_scalar_parameter():
    @T.prim_func
    def kernel(x: T.float32, y: T.float32, B: T.Tensor((6, 4), "int32")):
        with T.Kernel(1):
            for r, c in T.grid(6, 4):
                B[r, c] = 0
            if x != x:
                B[0, 0] = 1
            B[1, T.cast(x == x, "int32")] = 1
            B[2, T.cast(T.Not(x < y), "int32")] = 1
            B[3, T.Select(x - x == T.float32(0), 2, 3)] = 1
            for c in T.serial(T.cast(x < y, "int32") * 2 + 1):
                B[4, c] = 1
            while T.And(x != x, B[5, 0] < 3):
                B[5, 0] = B[5, 0] + 1

    nan = [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0], [3, 0, 0, 0]]
    one = [[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]]
    for value, expected in ((np.nan, nan), (1.0, one)):
        for found in run_both(kernel, value, 2.0, out=2):
            assert found.tolist() == expected


def test_a_tile_copied_only_for_nan_keeps_to_its_tensor():
    """A condition that TVM takes for impossible would prove anything about the copy inside."""

    @T.prim_func
    def kernel(A: T.Tensor((40,), "float32"), x: T.float32, B: T.Tensor((40,), "float32")):
        with T.Kernel(2) as block:
            tile = T.alloc_shared((32,), "float32")
            T.clear(tile)
            if x != x:
                T.copy(A[block * 32 : block * 32 + 32], tile)
            T.copy(tile, B[block * 32 : block * 32 + 32])

    values = np.arange(40, dtype="float32")
    for given, expected in ((np.nan, values), (1.0, values * 0)):
        for found in run_both(kernel, values, given, out=2):
            assert np.array_equal(found, expected)


def test_elements_of_schedulable_functions_wrap():
    @P.prim_func(s_tir=True)
    def kernel(N: P.Buffer((8,), "int32"), C: P.Buffer((4, 8), "int32")):
        for i in range(8):
            with P.sblock("C"):
                vi = P.axis.spatial(8, i)
                C[0, vi] = (N[vi] * 2) // 2
                C[1, vi] = P.Select(N[vi] + 1 > N[vi], 1, 0)
                C[2, vi] = P.if_then_else(vi < 8, N[vi] * 4 + 4, 0) // 4
                C[3, vi] = ((vi + 2147483640) * 2) // 2

    low, high = -(2**31), 2**31 - 1
    values = np.array([high, low, high - 1, 2**30, -(2**30), 5, -5, 0], "int64")

    def wrap(x):
        return (x - low) % 2**32 + low

    expected = [
        wrap(values * 2) // 2,
        wrap(values + 1) > values,
        wrap(values * 4 + 4) // 4,
        wrap((np.arange(8) + 2147483640) * 2) // 2,
    ]
    for found in run_both(kernel, values.astype("int32")):
        assert found.tolist() == [row.astype("int64").tolist() for row in expected]

# SPDX-License-Identifier: Apache-2.0
"""Blocks that do not run for every point of their axes run only where they should."""

import numpy as np
import pytest
from tvm.script import tirx as S

import tvm_ascend


def half():
    @S.prim_func(s_tir=True)
    def kernel(A: S.Buffer((64,), "float32"), B: S.Buffer((64,), "float32")):
        for i in range(32):
            with S.sblock("b"):
                v = S.axis.spatial(64, i)
                B[v] = A[v]

    return kernel, range(32)


def from_the_middle():
    @S.prim_func(s_tir=True)
    def kernel(A: S.Buffer((64,), "float32"), B: S.Buffer((64,), "float32")):
        for i in range(8, 64):
            with S.sblock("b"):
                v = S.axis.spatial(64, i)
                B[v] = A[v]

    return kernel, range(8, 64)


def every_second():
    @S.prim_func(s_tir=True)
    def kernel(A: S.Buffer((64,), "float32"), B: S.Buffer((64,), "float32")):
        for i in range(32):
            with S.sblock("b"):
                v = S.axis.spatial(64, i * 2)
                B[v] = A[v]

    return kernel, range(0, 64, 2)


def where():
    @S.prim_func(s_tir=True)
    def kernel(A: S.Buffer((64,), "float32"), B: S.Buffer((64,), "float32")):
        for i in range(64):
            with S.sblock("b"):
                v = S.axis.spatial(64, i)
                S.where(i < 40)
                B[v] = A[v]

    return kernel, range(40)


def under_a_condition():
    @S.prim_func(s_tir=True)
    def kernel(A: S.Buffer((64,), "float32"), B: S.Buffer((64,), "float32")):
        for i in range(64):
            if i % 3 == 0:
                with S.sblock("b"):
                    v = S.axis.spatial(64, i)
                    B[v] = A[v]

    return kernel, range(0, 64, 3)


@pytest.mark.parametrize("executor", ["simulator", "twin"])
@pytest.mark.parametrize("make", [half, from_the_middle, every_second, where, under_a_condition])
def test_only_the_bound_points_are_stored(make, executor):
    kernel, named = make()
    given, got = np.arange(1, 65, dtype="float32"), np.zeros(64, "float32")
    options = tvm_ascend.Options(executor=executor, cache=False)
    tvm_ascend.compile(kernel, options=options)(given, got)
    expected = np.zeros(64, "float32")
    expected[list(named)] = given[list(named)]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("executor", ["simulator", "twin"])
def test_a_matmul_of_part_of_k_sums_only_that(executor):
    @S.prim_func(s_tir=True)
    def kernel(
        A: S.Buffer((32, 32), "float16"),
        B: S.Buffer((32, 32), "float16"),
        C: S.Buffer((32, 32), "float32"),
    ):
        for i, j, k in S.grid(32, 32, 16):
            with S.sblock("c"):
                vi = S.axis.spatial(32, i)
                vj = S.axis.spatial(32, j)
                vk = S.axis.reduce(32, k)
                with S.init():
                    C[vi, vj] = S.float32(0)
                C[vi, vj] += S.Cast("float32", A[vi, vk]) * S.Cast("float32", B[vk, vj])

    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (32, 32)).astype("float16") for _ in range(2))
    got = np.zeros((32, 32), "float32")
    options = tvm_ascend.Options(executor=executor, cache=False)
    tvm_ascend.compile(kernel, options=options)(a, b, got)
    expected = a.astype("float32")[:, :16] @ b.astype("float32")[:16]
    np.testing.assert_array_equal(got, expected)

# SPDX-License-Identifier: Apache-2.0
"""Every form of loop runs the iterations that its start, its stop and its step name."""

import numpy as np
import pytest
import tvm
from tvm.ir import assert_structural_equal
from tvm.script import tirx as S

import tvm_ascend
from tvm_ascend import errors
from tvm_ascend import language as T
from tvm_ascend.transform.unit_steps import UnitSteps

EXECUTORS = ["simulator", "twin"]


def counted(func):
    return UnitSteps()(tvm.IRModule({"main": func}))["main"]


def test_a_loop_counts_by_one_from_0():
    @S.prim_func
    def before(A: S.Buffer((64,), "float32"), n: S.int32):
        for i in range(n, 64, 4):
            for j in range(0, 3, 2):
                A[i + j] = S.float32(1)

    @S.prim_func
    def after(A: S.Buffer((64,), "float32"), n: S.int32):
        for i in range((67 - n) // 4):
            for j in range(2):
                A[i * 4 + n + j * 2] = S.float32(1)

    assert_structural_equal(counted(before).body, after.body, map_free_vars=True)


def test_loops_without_a_step_stay():
    @S.prim_func
    def func(A: S.Buffer((64,), "float32"), n: S.int32):
        for i in range(n, 64):
            A[i] = S.float32(1)

    assert counted(func).same_as(func)


def python_range():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), B: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            T.clear(a)
            for i in range(3, 50, 2):
                a[i] = A[i]
            T.copy(a, B)

    return kernel, range(3, 50, 2)


def serial():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), B: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            for i in T.serial(n, 64, step=7):
                B[i] = A[i]

    return kernel, range(5, 64, 7)


def unroll():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), B: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            for i in T.unroll(3, 64, step=20):
                B[i] = A[i]

    return kernel, range(3, 64, 20)


def vectorized():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), B: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            for i in T.vectorized(3, 64, step=3):
                B[i] = A[i]

    return kernel, range(3, 64, 3)


def parallel():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), B: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            for i in T.parallel(1, 64, step=2):
                B[i] = A[i]

    return kernel, range(1, 64, 2)


def longer_than_the_loop():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), B: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            for i in T.serial(2, 9, step=100):
                B[i] = A[i]

    return kernel, [2]


def from_the_block():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), B: T.Tensor((64,)), n: T.int32):
        with T.Kernel(4) as bx:
            for i in T.serial(bx, 62, step=4):
                B[i] = A[i]

    return kernel, range(62)


def tiles():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), B: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            a = T.alloc_fragment((8,))
            for i in range(0, 64, 16):
                T.copy(A[i], a)
                T.copy(a, B[i])

    return kernel, [i + j for i in range(0, 64, 16) for j in range(8)]


def pipelined_from():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), B: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            a = T.alloc_fragment((8,))
            for i in T.Pipelined(2, 7, num_stages=2):
                T.copy(A[i * 8], a)
                T.copy(a, B[i * 8])

    return kernel, range(16, 56)


def grid_from():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), B: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            for i, j in T.grid((1, 3), 8):
                B[i * 8 + j] = A[i * 8 + j]

    return kernel, None


def plain_script():
    @S.prim_func
    def kernel(A: S.Buffer((64,), "float32"), B: S.Buffer((64,), "float32"), n: S.int32):
        for i in range(1, 64, 9):
            B[i] = A[i]

    return kernel, range(1, 64, 9)


def block():
    @S.prim_func(s_tir=True)
    def kernel(A: S.Buffer((64,), "float32"), B: S.Buffer((64,), "float32"), n: S.int32):
        for i in range(0, 64, 2):
            with S.sblock("b"):
                v = S.axis.spatial(64, i)
                B[v] = A[v]

    return kernel, range(0, 64, 2)


FORMS = [
    *(python_range, serial, unroll, vectorized, parallel, longer_than_the_loop, from_the_block),
    *(tiles, pipelined_from, plain_script, block),
]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("make", FORMS)
def test_only_the_named_iterations_run(make, executor):
    kernel, named = make()
    given, got = np.arange(1, 65, dtype="float32"), np.zeros(64, "float32")
    options = tvm_ascend.Options(executor=executor, cache=False)
    tvm_ascend.compile(kernel, options=options)(given, got, np.int32(5))
    expected = np.zeros(64, "float32")
    expected[list(named)] = given[list(named)]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_matmul_of_every_second_row_leaves_the_others(executor):
    @S.prim_func(s_tir=True)
    def kernel(
        A: S.Buffer((32, 32), "float16"),
        B: S.Buffer((32, 32), "float16"),
        C: S.Buffer((32, 32), "float32"),
    ):
        for i in range(0, 32, 2):
            for j, k in S.grid(32, 32):
                with S.sblock("c"):
                    vi, vj, vk = S.axis.remap("SSR", [i, j, k])
                    with S.init():
                        C[vi, vj] = S.float32(0)
                    C[vi, vj] += S.Cast("float32", A[vi, vk]) * S.Cast("float32", B[vk, vj])

    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (32, 32)).astype("float16") for _ in range(2))
    got = np.full((32, 32), 7, "float32")
    options = tvm_ascend.Options(executor=executor, cache=False)
    tvm_ascend.compile(kernel, options=options)(a, b, got)
    expected = a.astype("float32") @ b.astype("float32")
    expected[1::2] = 7
    np.testing.assert_array_equal(got, expected)


def no_step():
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in range(0, 64, 0):
                A[i] = 1.0

    return kernel


def backwards():
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in T.serial(63, 0, step=-1):
                A[i] = 1.0

    return kernel


def step_of_run_time():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            for i in T.serial(0, 64, step=n):
                A[i] = 1.0

    return kernel


def block_without_step():
    @S.prim_func(s_tir=True)
    def kernel(A: S.Buffer((64,), "float32")):
        for i in range(0, 64, 0):
            with S.sblock("b"):
                v = S.axis.spatial(64, i)
                A[v] = S.float32(1)

    return kernel


@pytest.mark.parametrize("make", [no_step, backwards, step_of_run_time, block_without_step])
def test_a_step_that_does_not_count_up_is_refused_with_the_line(make):
    with pytest.raises(errors.LoopStep, match=r"test_unit_steps\.py:\d+: the loop over `i` has"):
        tvm_ascend.compile(make())

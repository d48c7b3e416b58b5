# SPDX-License-Identifier: Apache-2.0
"""Kernels that no pass can take are refused before the first one, with the line."""

import numpy as np
import pytest
from tvm import tirx

import tvm_ascend
from tests.transform.kernels import run
from tvm_ascend import errors
from tvm_ascend import language as T


def empty_tile():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "float32")):
        with T.Kernel(1):
            x = T.alloc_fragment((0,))
            T.clear(x)

    return kernel


def dynamic_tile():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "float32"), n: T.int32):
        with T.Kernel(1):
            x = T.alloc_fragment((n,))
            T.clear(x)

    return kernel


def unknown_scope():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "float32")):
        with T.Kernel(1):
            x = T.alloc_buffer((8,), "float32", scope="shared.dyn")
            T.copy(A, x)

    return kernel


def returns():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "int32")):
        with T.Kernel(1):
            A[0] = 1
            return A[0]

    return kernel


def calls_the_host():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "float32")):
        with T.Kernel(1):
            T.call_packed("nosuch", A[1])

    return kernel


def synchronises_threads():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "float32")):
        with T.Kernel(1):
            A[0] = 1.0
            T.tvm_storage_sync("shared")

    return kernel


def huge_grid():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "float32")):
        with T.Kernel(1 << 40) as bx:
            A[bx % 8] = 1.0

    return kernel


def adds_truth():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "bool"), B: T.Tensor((8,), "bool")):
        with T.Kernel(1):
            for i in T.Parallel(8):
                B[i] = T.max(A[i], B[i])

    return kernel


@pytest.mark.parametrize(
    ("make", "error", "what"),
    [
        (empty_tile, errors.EmptyShape, "`x` has shape"),
        (dynamic_tile, errors.DynamicTile, "tile `x`"),
        (unknown_scope, errors.UnknownScope, "'shared.dyn'"),
        (returns, errors.NotAnInstruction, "`return`"),
        (calls_the_host, errors.NotAnInstruction, "nosuch"),
        (synchronises_threads, errors.NotAnInstruction, "storage_sync"),
        (adds_truth, errors.ScalarCodeError, "max of bool"),
        (huge_grid, errors.GridTooLarge, "1099511627776"),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_refused_with_the_line(make, error, what):
    with pytest.raises(error, match=rf"test_check_kernel.py:\d+: .*{what}"):
        run(make())


def test_scalars_that_no_host_passes_are_refused():
    @T.prim_func
    def kernel(n: T.bfloat16, A: T.Tensor((8,), "float32")):
        with T.Kernel(1):
            A[0] = T.cast(n, "float32")

    with pytest.raises(errors.ScalarParameter, match="parameter `n` of `kernel`"):
        run(kernel)


@pytest.mark.parametrize("dtype", ["float64", "float8_e4m3fn", "int4", "float16x2"])
def test_dtypes_of_no_unit_are_refused_in_tir_made_by_a_program(dtype):
    # complex64 is no dtype of TVM: `T.Buffer((4,), "complex64")` of plain TVMScript raises TVM's
    # ValueError before a function exists, and a program cannot make such a buffer either.
    with pytest.raises(ValueError, match="unknown dtype `complex64`"):
        tirx.decl_buffer((4,), "complex64")
    a, b = tirx.decl_buffer((4,), dtype, "A"), tirx.decl_buffer((4,), "float32", "B")
    func = tirx.PrimFunc([a, b], tirx.BufferStore(b, tirx.FloatImm("float32", 1.0), [0]))
    with pytest.raises(
        errors.NoUnitForDtype, match=rf"in function `main`: `A` has dtype '{dtype}'"
    ):
        tvm_ascend.compile(func)


def test_raw_pointers_are_refused():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "float32"), address: T.handle):
        with T.Kernel(1):
            A[0] = 1.0

    with pytest.raises(errors.RawPointer, match="parameter `address` of `kernel`"):
        run(kernel)


def without_statements():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "float32")):
        pass

    return kernel


def evaluates_a_number():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "float32")):
        with T.Kernel(4):
            T.evaluate(0)

    return kernel


def false_while_parsing():
    flag = False

    @T.prim_func
    def kernel(A: T.Tensor((8,), "float32")):
        with T.Kernel(4) as bx:
            if flag:
                A[bx] = 1.0

    return kernel


def loop_of_no_step():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "float32")):
        with T.Kernel(4) as bx:
            for _ in T.serial(0):
                A[bx] = 1.0

    return kernel


@pytest.mark.parametrize("executor", ["simulator", "twin"])
@pytest.mark.parametrize(
    "make", [without_statements, evaluates_a_number, false_while_parsing, loop_of_no_step]
)
def test_empty_kernels_do_nothing(make, executor):
    options = tvm_ascend.Options(executor=executor, cache=False)
    kept = np.arange(8, dtype="float32")
    tvm_ascend.compile(make(), options=options)(kept)
    assert np.array_equal(kept, np.arange(8))

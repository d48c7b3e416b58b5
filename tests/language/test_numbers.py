# SPDX-License-Identifier: Apache-2.0
"""Extents, bounds and indices are integers: anything else is refused with its line."""

import numpy as np
import pytest
from tvm import tirx
from tvm.script import tirx as S

import tvm_ascend
from tests.transform.kernels import run
from tvm_ascend import errors
from tvm_ascend import language as T

WRONG = {
    "None": None,
    "float": 2.9,
    "whole float": 2.0,
    "numpy float": np.float32(2),
    "bool": True,
    "numpy bool": np.bool_(True),
    "text": "2",
    "tuple in a tuple": ((1, 2),),
    "float expression": tirx.const(2.5, "float32"),
    "bool expression": tirx.Var("n", "int32") > 3,
    "buffer": tirx.decl_buffer((4,), "int32", "buffer"),
}


def kernel_extent(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(x):
            A[0] = 1.0


def range_bound(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in range(x):
                A[i] = 1.0


def range_end(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in range(x):
                A[i] = 1.0


def range_step(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in range(0, 4, x):
                A[i] = 1.0


def serial(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in T.serial(x):
                A[i] = 1.0


def serial_start(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in T.serial(x, 8):
                A[i] = 1.0


def unroll(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in T.unroll(x):
                A[i] = 1.0


def vectorized(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in T.vectorized(x):
                A[i] = 1.0


def parallel(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in T.parallel(x):
                A[i] = 1.0


def grid(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i, j in T.grid(4, x):
                A[i + j] = 1.0


def elements(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in T.Parallel(x):
                A[i] = 1.0


def elements_of_two_dimensions(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i, j in T.Parallel(4, x):
                A[i + j] = 1.0


def pipelined(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in T.Pipelined(x):
                A[i] = 1.0


def launch(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        b = T.launch_thread("blockIdx.x", x)
        A[b] = 1.0


def tile(x):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            a = T.alloc_fragment((4, x))
            T.clear(a)


PLACES = [
    *(kernel_extent, range_bound, range_end, range_step, serial, serial_start, unroll, vectorized),
    *(parallel, grid, elements, elements_of_two_dimensions, pipelined, launch, tile),
]


@pytest.mark.parametrize("make", PLACES)
@pytest.mark.parametrize("value", WRONG.values(), ids=WRONG)
def test_what_is_no_integer_is_refused_with_the_line(make, value):
    if make in (grid, elements, elements_of_two_dimensions) and isinstance(value, tuple):
        pytest.skip("a pair is where such a loop starts and its extent")
    with pytest.raises(errors.IntegerExpected, match=r"test_numbers\.py:\d+: (T\.\w+|range): "):
        make(value)


@pytest.mark.parametrize("make", PLACES)
@pytest.mark.parametrize(
    "value", [2, np.int64(2), np.uint8(2), tirx.const(2, "int32")], ids=["int", "i8", "u1", "expr"]
)
def test_integers_of_every_kind_are_taken(make, value):
    make(value)


@pytest.mark.parametrize("value", [*WRONG.values(), ("a",), (1.5,), ((2, 3),), (None,)], ids=repr)
def test_a_dimension_of_a_tensor_is_an_integer(value):
    with pytest.raises(errors.IntegerExpected, match=r"T\.Tensor: a dimension is"):
        T.Tensor(value)


def index_of_a_store():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            A[1.5] = 1.0

    return kernel


def computed_index_of_a_load():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            A[0] = A[T.Cast("float32", n) + T.float32(2.7)]

    return kernel


def index_in_plain_script():
    @S.prim_func
    def kernel(A: S.Buffer((64,), "float32")):
        A[0] = A[S.float32(1.5)]

    return kernel


def index_in_a_block():
    @S.prim_func(s_tir=True)
    def kernel(A: S.Buffer((64,), "float32"), B: S.Buffer((64,), "float32")):
        for i in range(64):
            with S.sblock("b"):
                v = S.axis.spatial(64, i)
                B[v] = A[S.Cast("float32", v)]

    return kernel


@pytest.mark.parametrize(
    "make",
    [index_of_a_store, computed_index_of_a_load, index_in_plain_script, index_in_a_block],
)
def test_an_index_that_is_a_float_is_refused_with_the_line(make):
    with pytest.raises(errors.IntegerExpected, match=r"test_numbers\.py:\d+: `A`: an index is"):
        tvm_ascend.compile(make())


def slice_of_floats():
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            a = T.alloc_fragment((32,))
            T.copy(A[1.5:33.5], a)


def tile_at_a_float():
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            a = T.alloc_fragment((32,))
            T.copy(A[1.5], a)


@pytest.mark.parametrize("make", [slice_of_floats, tile_at_a_float])
def test_a_slice_of_floats_is_refused_with_the_line(make):
    with pytest.raises(errors.IntegerExpected, match=r"test_numbers\.py:\d+: T\.copy: an? "):
        make()


def flag_of_a_core():
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            T.set_flag("V", "MTE3", 1.5)
            T.wait_flag("V", "MTE3", 1.5)

    return kernel


def flag_of_an_instruction():
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            T.ascend.set_flag("V_MTE3", 1.5)
            T.ascend.wait_flag("V_MTE3", 1.5)

    return kernel


@pytest.mark.parametrize("make", [flag_of_a_core, flag_of_an_instruction])
def test_a_flag_that_is_a_float_is_refused_with_the_line(make):
    with pytest.raises(
        errors.IntegerExpected, match=r"test_numbers\.py:\d+: T\.(ascend\.)?set_flag"
    ):
        tvm_ascend.compile(make())


def test_vectors_are_refused_with_the_line():
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            A[T.Ramp(0, 1, 4)] = T.Broadcast(T.float32(1), 4)

    with pytest.raises(errors.NoVectors, match=r"test_numbers\.py:\d+: .*vectors are not supp"):
        tvm_ascend.compile(kernel)


def test_threads_are_refused_with_the_line_that_asks_for_them():
    def make():
        @T.prim_func
        def kernel(A: T.Tensor((64,))):
            with T.Kernel(1):
                A[0] = 1.0
                t = T.launch_thread("threadIdx.x", 32)
                A[t] = 1.0

    line = make.__code__.co_firstlineno + 5
    with pytest.raises(errors.NoThreads, match=rf"test_numbers\.py:{line}: a loop is bound to"):
        make()


def test_a_grid_of_int64_constants_runs():
    @T.prim_func
    def kernel(A: T.Tensor((128,))):
        with T.Kernel(T.int64(64), T.ceildiv(T.int64(4), 2)) as (bx, by):
            A[bx * 2 + by] = 1.0

    got = np.zeros(128, "float32")
    run(kernel, got)
    assert (got == 1).all()


def test_a_grid_of_run_time_int64_is_refused_with_the_line():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), n: T.int64):
        with T.Kernel(n) as bx:
            A[bx] = 1.0

    with pytest.raises(errors.GridDtype, match=r"test_numbers\.py:\d+: the grid has extent n"):
        tvm_ascend.compile(kernel)


@pytest.mark.parametrize("executor", ["simulator", "twin"])
def test_a_loop_over_blocks_starts_where_it_says(executor):
    @S.prim_func
    def kernel(A: S.Buffer((256,), "float32")):
        for b in S.thread_binding(3, 250, "blockIdx.x"):
            A[b] = S.float32(1)

    got = np.zeros(256, "float32")
    options = tvm_ascend.Options(executor=executor, cache=False)
    tvm_ascend.compile(kernel, options=options)(got)
    assert got.nonzero()[0].tolist() == list(range(3, 250))

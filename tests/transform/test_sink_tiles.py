# SPDX-License-Identifier: Apache-2.0
"""SinkTiles: which tiles move into the pipelined loop that fills them."""

import tvm
from tvm.ir import assert_structural_equal

import tvm_ascend
from tests.transform.kernels import assert_equal, integers
from tvm_ascend import language as T
from tvm_ascend.transform.notes import notes_of
from tvm_ascend.transform.sink_tiles import SinkTiles


def run(func):
    return SinkTiles()(tvm.IRModule({"main": func}))["main"]


def test_a_tile_moves_into_the_loop_that_loads_it():
    @T.prim_func
    def before(A: T.Tensor((8, 64), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            s = T.alloc_fragment((64,))
            T.clear(s)
            for t in T.Pipelined(8, num_stages=3):
                T.copy(A[t, :], a)
                for i in T.Parallel(64):
                    s[i] += a[i]
            T.copy(s, B)

    @T.prim_func
    def after(A: T.Tensor((8, 64), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            s = T.alloc_fragment((64,))
            T.clear(s)
            for t in T.Pipelined(8, num_stages=3):
                a = T.alloc_fragment((64,))
                T.copy(A[t, :], a)
                for i in T.Parallel(64):
                    s[i] += a[i]
            T.copy(s, B)

    result = run(before)
    assert_structural_equal(result.body, after.body, map_free_vars=True)
    assert not notes_of(result)


def test_two_loops_get_a_tile_each_and_outer_loops_are_passed():
    @T.prim_func
    def before(A: T.Tensor((8, 64), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            for t in T.Pipelined(8):
                T.copy(A[t, :], a)
                T.copy(a, B)
            for u in T.serial(2):
                for t in T.Pipelined(4):
                    T.copy(A[u * 4 + t, :], a)
                    T.copy(a, B)

    @T.prim_func
    def after(A: T.Tensor((8, 64), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            for t in T.Pipelined(8):
                a = T.alloc_fragment((64,))
                T.copy(A[t, :], a)
                T.copy(a, B)
            for u in T.serial(2):
                for t in T.Pipelined(4):
                    a = T.alloc_fragment((64,))
                    T.copy(A[u * 4 + t, :], a)
                    T.copy(a, B)

    assert_structural_equal(run(before).body, after.body, map_free_vars=True)


def test_a_tile_that_carries_something_stays_with_a_note():
    @T.prim_func
    def kernel(A: T.Tensor((8, 64), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            b = T.alloc_fragment((64,))
            T.clear(a)
            for t in T.Pipelined(8):
                for i in T.Parallel(64):
                    B[i] = a[i]
                T.copy(A[t, :], a)
                if t > 3:
                    T.copy(A[t, :], b)
            T.copy(a, B)

    result = run(kernel)
    assert_structural_equal(result.body, kernel.body)
    assert [n.split("`")[1] for n in notes_of(result)] == ["a", "b"]
    assert "allocate it in the loop" in notes_of(result)[0]


def test_stages_overlap_loads_with_compute(rng):
    def cycles(stages):
        @T.prim_func
        def kernel(A: T.Tensor((16, 4096), "float32"), B: T.Tensor((16, 4096), "float32")):
            with T.Kernel(1):
                a = T.alloc_fragment((4096,))
                for t in T.Pipelined(16, num_stages=stages):
                    T.copy(A[t, :], a)
                    for i in T.Parallel(4096):
                        a[i] = a[i] * 2.0
                    T.copy(a, B[t, :])

        compiled = tvm_ascend.compile(kernel, out_idx=1)
        (b,), report = compiled.run(a)
        assert_equal(b, a * 2)
        return report.cycles

    a = integers(rng, 16, 4096)
    assert cycles(2) < cycles(1)

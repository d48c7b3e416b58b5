# SPDX-License-Identifier: Apache-2.0
"""HoistCopies: what moves before a loop and what does not."""

import tvm
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tvm_ascend.transform.hoist_copies import HoistCopies


def hoist(func):
    return HoistCopies()(tvm.IRModule({"main": func.with_attr("global_symbol", "main")}))["main"]


def leaves_alone(func):
    assert_structural_equal(hoist(func), func.with_attr("global_symbol", "main"))


def test_invariant_load_moves_before_the_loop():
    @T.prim_func
    def before(A: T.Buffer((4, 64), "float32"), G: T.Buffer((64,), "float32")):
        for step in range(4):
            x = T.alloc_buffer((64,), "float32", scope="shared.ub")
            g = T.alloc_buffer((64,), "float32", scope="shared.ub")
            T.ascend.tile_copy(A[step, 0:64], x[0:64])
            T.ascend.tile_copy(G[0:64], g[0:64])
            for i in T.serial(64, annotations={"ascend.parallel": 1}):
                x[i] = x[i] * g[i]
            T.ascend.tile_copy(x[0:64], A[step, 0:64])

    @T.prim_func
    def after(A: T.Buffer((4, 64), "float32"), G: T.Buffer((64,), "float32")):
        g = T.alloc_buffer((64,), "float32", scope="shared.ub")
        T.ascend.tile_copy(G[0:64], g[0:64])
        for step in range(4):
            x = T.alloc_buffer((64,), "float32", scope="shared.ub")
            T.ascend.tile_copy(A[step, 0:64], x[0:64])
            for i in T.serial(64, annotations={"ascend.parallel": 1}):
                x[i] = x[i] * g[i]
            T.ascend.tile_copy(x[0:64], A[step, 0:64])

    assert_structural_equal(hoist(before), after.with_attr("global_symbol", "main"))


def test_a_tile_written_in_the_loop_stays():
    @T.prim_func
    def func(A: T.Buffer((4, 64), "float32"), G: T.Buffer((64,), "float32")):
        for step in range(4):
            g = T.alloc_buffer((64,), "float32", scope="shared.ub")
            T.ascend.tile_copy(G[0:64], g[0:64])
            for i in T.serial(64, annotations={"ascend.parallel": 1}):
                g[i] = g[i] * T.float32(2)
            T.ascend.tile_copy(g[0:64], A[step, 0:64])

    leaves_alone(func)


def test_a_tensor_the_kernel_writes_stays():
    @T.prim_func
    def func(G: T.Buffer((64,), "float32")):
        for _ in range(4):
            g = T.alloc_buffer((64,), "float32", scope="shared.ub")
            h = T.alloc_buffer((64,), "float32", scope="shared.ub")
            T.ascend.tile_copy(G[0:64], g[0:64])
            for i in T.serial(64, annotations={"ascend.parallel": 1}):
                h[i] = g[i] * T.float32(2)
            T.ascend.tile_copy(h[0:64], G[0:64])

    leaves_alone(func)

# SPDX-License-Identifier: Apache-2.0
"""ConvertBlocks: copies, fills and marked tiles of a lowered schedule; and what it leaves alone."""

import pytest
import tvm
from tvm import s_tir
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tvm_ascend.errors import NotAMatmulTile
from tvm_ascend.transform.convert_blocks import ConvertBlocks
from tvm_ascend.transform.lower_blocks import lower_schedule


def convert(func):
    mod = tvm.IRModule({"main": func.with_attr("global_symbol", "main")})
    return ConvertBlocks()(mod)["main"]


def body_of(func):
    return func.with_attr("global_symbol", "main")


def test_guarded_load_becomes_a_copy_past_the_edge():
    @T.prim_func(s_tir=True)
    def before(A: T.Buffer((126, 48), "float16")):
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            with T.sblock(""):
                T.reads(A[bx * 64 : bx * 64 + 64, 0:48])
                T.writes()
                a = T.sblock_alloc_buffer((64, 48), "float16", scope="shared.ub")
                for i, j in T.grid(64, 48):
                    with T.sblock("copy"):
                        T.where(bx * 64 + i < 126)
                        T.reads(A[bx * 64 + i, j])
                        T.writes(a[i, j])
                        a[i, j] = A[bx * 64 + i, j]

    @T.prim_func(s_tir=True)
    def after(A: T.Buffer((126, 48), "float16")):
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            with T.sblock(""):
                T.reads(A[bx * 64 : bx * 64 + 64, 0:48])
                T.writes()
                a = T.sblock_alloc_buffer((64, 48), "float16", scope="shared.ub")
                T.ascend.tile_copy(A[bx * 64 : bx * 64 + 64, 0:48], a[0:64, 0:48])

    assert_structural_equal(convert(before), body_of(after))


def test_padding_with_zeros_is_a_copy():
    @T.prim_func(s_tir=True)
    def before(A: T.Buffer((10, 12), "float16")):
        a = T.sblock_alloc_buffer((16, 16), "float16", scope="shared.ub")
        for i, j in T.grid(16, 16):
            with T.sblock("pad"):
                T.reads(A[i, j])
                T.writes(a[i, j])
                a[i, j] = T.if_then_else(i < 10 and j < 12, A[i, j], T.float16(0))

    @T.prim_func(s_tir=True)
    def after(A: T.Buffer((10, 12), "float16")):
        a = T.sblock_alloc_buffer((16, 16), "float16", scope="shared.ub")
        T.ascend.tile_copy(A[0:16, 0:16], a[0:16, 0:16])

    assert_structural_equal(convert(before), body_of(after))


def test_constant_store_becomes_a_fill():
    @T.prim_func(s_tir=True)
    def before():
        a = T.sblock_alloc_buffer((16, 16), "float16", scope="shared.ub")
        for i, j in T.grid(16, 16):
            with T.sblock("fill"):
                T.reads()
                T.writes(a[i, j])
                a[i, j] = T.float16(2)

    @T.prim_func(s_tir=True)
    def after():
        a = T.sblock_alloc_buffer((16, 16), "float16", scope="shared.ub")
        T.ascend.tile_fill(a[0:16, 0:16], T.float16(2))

    assert_structural_equal(convert(before), body_of(after))


def _leaves_alone(func):
    assert_structural_equal(convert(func), body_of(func))


def test_transposing_copy_stays():
    @T.prim_func(s_tir=True)
    def func(A: T.Buffer((16, 16), "float16")):
        a = T.sblock_alloc_buffer((16, 16), "float16", scope="shared.ub")
        for i, j in T.grid(16, 16):
            with T.sblock("copy"):
                T.reads(A[j, i])
                T.writes(a[i, j])
                a[i, j] = A[j, i]

    _leaves_alone(func)


def test_strided_copy_stays():
    @T.prim_func(s_tir=True)
    def func(A: T.Buffer((32,), "float16")):
        a = T.sblock_alloc_buffer((16,), "float16", scope="shared.ub")
        for i in range(16):
            with T.sblock("copy"):
                T.reads(A[i * 2])
                T.writes(a[i])
                a[i] = A[i * 2]

    _leaves_alone(func)


def test_store_under_another_guard_stays():
    @T.prim_func(s_tir=True)
    def func(A: T.Buffer((16,), "float16")):
        a = T.sblock_alloc_buffer((16,), "float16", scope="shared.ub")
        for i in range(16):
            with T.sblock("copy"):
                T.where(i < 7)
                T.reads(a[i])
                T.writes(A[i])
                A[i] = a[i]

    _leaves_alone(func)


def test_marked_block_that_is_no_matmul_is_an_error():
    @T.prim_func(s_tir=True)
    def func(A: T.Buffer((16, 16), "float16"), C: T.Buffer((16, 16), "float16")):
        with T.sblock("tile"):
            T.sblock_attr({"ascend.op": "gemm"})
            T.reads(A[0:16, 0:16])
            T.writes(C[0:16, 0:16])
            for i, j in T.grid(16, 16):
                C[i, j] = A[i, j] + T.float16(1)

    with pytest.raises(NotAMatmulTile, match="block `tile` is marked"):
        convert(func)


def test_user_schedule_lands_on_tile_operations():
    """A schedule written by hand, with its own scopes, lowers without our rules."""

    @T.prim_func(s_tir=True)
    def func(A: T.Buffer((100, 64), "float32"), B: T.Buffer((100, 64), "float32")):
        for i, j in T.grid(100, 64):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)

    sch = s_tir.Schedule(func)
    block = sch.get_sblock("B")
    out, load = sch.cache_write(block, 0, "shared.ub"), sch.cache_read(block, 0, "shared.ub")
    outer, _inner = sch.split(sch.get_loops(block)[0], [None, 16], disable_predication=True)
    sch.bind(outer, "blockIdx.x")
    sch.compute_at(load, outer)
    sch.reverse_compute_at(out, outer)
    for loop in sch.get_loops(block)[1:]:
        sch.annotate(loop, "ascend.parallel", 1)

    @T.prim_func(s_tir=True)
    def after(A: T.Buffer((100, 64), "float32"), B: T.Buffer((100, 64), "float32")):
        bx = T.launch_thread("blockIdx.x", 7)
        b = T.alloc_buffer((16, 64), scope="shared.ub")
        a = T.alloc_buffer((16, 64), scope="shared.ub")
        T.ascend.tile_copy(A[bx * 16 : bx * 16 + 16, 0:64], a[0:16, 0:64])
        for i in T.serial(16, annotations={"ascend.parallel": 1}):
            for j in T.serial(64, annotations={"ascend.parallel": 1}):
                b[i, j] = a[i, j] * T.float32(2)
        T.ascend.tile_copy(b[0:16, 0:64], B[bx * 16 : bx * 16 + 16, 0:64])

    assert_structural_equal(lower_schedule(sch.mod["main"]).body, after.body, map_free_vars=True)

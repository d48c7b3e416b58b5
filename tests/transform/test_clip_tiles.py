# SPDX-License-Identifier: Apache-2.0
"""ClipTiles: extents at tensor edges follow a tile to its last use."""

import tvm
import tvm_ffi
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tvm_ascend.language.ops import key_of
from tvm_ascend.transform.clip_tiles import ClipTiles
from tvm_ascend.transform.notes import notes_of


def clip(func):
    return ClipTiles()(tvm.IRModule({"main": func.with_attr("global_symbol", "main")}))["main"]


def test_edges_reach_the_product_and_the_store():
    @T.prim_func
    def before(A: T.Buffer((30, 16), "float16"), C: T.Buffer((30, 16), "float32")):
        bx = T.launch_thread("blockIdx.x", 2)
        c = T.alloc_buffer((16, 16), "float32", scope="local.l0c")
        x = T.alloc_buffer((16, 16), "float16", scope="shared.l1")
        a = T.alloc_buffer((16, 16), "float16", scope="local.l0a")
        b = T.alloc_buffer((16, 16), "float16", scope="local.l0b")
        T.ascend.tile_copy(A[bx * 16 : bx * 16 + 16, 0:16], x[0:16, 0:16])
        T.ascend.tile_copy(x[0:16, 0:16], a[0:16, 0:16])
        T.ascend.tile_gemm(c[0:16, 0:16], a[0:16, 0:16], b[0:16, 0:16], False, False, True)
        T.ascend.tile_copy(c[0:16, 0:16], C[bx * 16 : bx * 16 + 16, 0:16])

    @T.prim_func
    def after(A: T.Buffer((30, 16), "float16"), C: T.Buffer((30, 16), "float32")):
        bx = T.launch_thread("blockIdx.x", 2)
        c = T.alloc_buffer((16, 16), "float32", scope="local.l0c")
        x = T.alloc_buffer((16, 16), "float16", scope="shared.l1")
        a = T.alloc_buffer((16, 16), "float16", scope="local.l0a")
        b = T.alloc_buffer((16, 16), "float16", scope="local.l0b")
        T.ascend.tile_copy(
            A[bx * 16 : bx * 16 + T.min(16, 30 - bx * 16), 0:16],
            x[0 : T.min(16, 30 - bx * 16), 0:16],
        )
        T.ascend.tile_copy(
            x[0 : T.min(16, 30 - bx * 16), 0:16], a[0 : T.min(16, 30 - bx * 16), 0:16]
        )
        T.ascend.tile_gemm(
            c[0 : T.min(16, 30 - bx * 16), 0:16],
            a[0 : T.min(16, 30 - bx * 16), 0:16],
            b[0:16, 0:16],
            False,
            False,
            True,
        )
        T.ascend.tile_copy(
            c[0 : T.min(16, 30 - bx * 16), 0:16],
            C[bx * 16 : bx * 16 + T.min(16, 30 - bx * 16), 0:16],
        )

    assert_structural_equal(clip(before).body, after.body, map_free_vars=True)


def test_the_last_step_of_k_is_taken_out_of_its_loop():
    @T.prim_func
    def before(A: T.Buffer((16, 72), "float16")):
        c = T.alloc_buffer((16, 16), "float32", scope="local.l0c")
        b = T.alloc_buffer((32, 16), "float16", scope="local.l0b")
        for k in range(3):
            x = T.alloc_buffer((16, 32), "float16", scope="shared.l1")
            a = T.alloc_buffer((16, 32), "float16", scope="local.l0a")
            T.ascend.tile_copy(A[0:16, k * 32 : k * 32 + 32], x[0:16, 0:32])
            T.ascend.tile_copy(x[0:16, 0:32], a[0:16, 0:32])
            T.ascend.tile_gemm(c[0:16, 0:16], a[0:16, 0:32], b[0:32, 0:16], False, False, k == 0)

    @T.prim_func
    def after(A: T.Buffer((16, 72), "float16")):
        c = T.alloc_buffer((16, 16), "float32", scope="local.l0c")
        b = T.alloc_buffer((32, 16), "float16", scope="local.l0b")
        for k in range(2):
            x = T.alloc_buffer((16, 32), "float16", scope="shared.l1")
            a = T.alloc_buffer((16, 32), "float16", scope="local.l0a")
            T.ascend.tile_copy(A[0:16, k * 32 : k * 32 + 32], x[0:16, 0:32])
            T.ascend.tile_copy(x[0:16, 0:32], a[0:16, 0:32])
            T.ascend.tile_gemm(c[0:16, 0:16], a[0:16, 0:32], b[0:32, 0:16], False, False, k == 0)
        x1 = T.alloc_buffer((16, 8), "float16", scope="shared.l1")
        a1 = T.alloc_buffer((16, 8), "float16", scope="local.l0a")
        T.ascend.tile_copy(A[0:16, 64:72], x1[0:16, 0:8])
        T.ascend.tile_copy(x1[0:16, 0:8], a1[0:16, 0:8])
        T.ascend.tile_gemm(c[0:16, 0:16], a1[0:16, 0:8], b[0:8, 0:16], False, False, False)

    assert_structural_equal(clip(before).body, after.body, map_free_vars=True)


def test_steps_past_the_end_of_k_are_left_out():
    @T.prim_func
    def before(A: T.Buffer((16, 40), "float16")):
        c = T.alloc_buffer((16, 16), "float32", scope="local.l0c")
        x = T.alloc_buffer((16, 64), "float16", scope="shared.l1")
        b = T.alloc_buffer((16, 16), "float16", scope="local.l0b")
        T.ascend.tile_copy(A[0:16, 0:64], x[0:16, 0:64])
        for step in range(4):
            a = T.alloc_buffer((16, 16), "float16", scope="local.l0a")
            T.ascend.tile_copy(x[0:16, step * 16 : step * 16 + 16], a[0:16, 0:16])
            T.ascend.tile_gemm(c[0:16, 0:16], a[0:16, 0:16], b[0:16, 0:16], False, False, True)

    depths = []
    tvm_ffi.structural_walk(
        clip(before).body,
        [
            (tvm.tirx.For, lambda loop: depths.append(("loop", int(loop.extent)))),
            (tvm.ir.Call, lambda c: depths.append(_depth(c)) if key_of(c) == "tile_gemm" else None),
        ],
        order="pre",
    )
    assert depths == [("loop", 2), ("k", 16), ("k", 8)]


def _depth(gemm):
    return "k", int(gemm.args[1].region[1].extent)


def test_whole_tiles_stay():
    @T.prim_func
    def func(A: T.Buffer((32, 16), "float16")):
        bx = T.launch_thread("blockIdx.x", 2)
        x = T.alloc_buffer((16, 16), "float16", scope="shared.l1")
        T.ascend.tile_copy(A[bx * 16 : bx * 16 + 16, 0:16], x[0:16, 0:16])

    assert_structural_equal(clip(func).body, func.body, map_free_vars=True)


def test_a_tile_of_two_pieces_is_padded_instead():
    """Which part of it exists cannot be told by one extent."""

    @T.prim_func
    def func(A: T.Buffer((30, 16), "float16")):
        bx = T.launch_thread("blockIdx.x", 2)
        x = T.alloc_buffer((32, 16), "float16", scope="shared.l1")
        T.ascend.tile_copy(A[bx * 16 : bx * 16 + 16, 0:16], x[0:16, 0:16])
        T.ascend.tile_copy(A[bx * 16 : bx * 16 + 16, 0:16], x[16:32, 0:16])

    got = clip(func)
    assert_structural_equal(got.body, func.body, map_free_vars=True)
    assert notes_of(got) == ["Cube tiles at tensor edges are padded with zeros, not clipped"]

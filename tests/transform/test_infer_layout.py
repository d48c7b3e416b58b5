# SPDX-License-Identifier: Apache-2.0
"""InferLayout: which layout each memory of the Cube gets."""

import pytest
import tvm
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tvm_ascend.errors import LayoutContradiction, NotAMatrix
from tvm_ascend.transform.infer_layout import InferLayout
from tvm_ascend.transform.notes import notes_of


def infer(func):
    return InferLayout()(tvm.IRModule({"main": func.with_attr("global_symbol", "main")}))["main"]


def note_of(layout, transposed):
    return {"ascend.layout": layout, "ascend.transposed": transposed}


def test_every_memory_has_its_layout():
    @T.prim_func
    def before(A: T.Buffer((16, 32), "float16")):
        x = T.alloc_buffer((16, 32), "float16", scope="shared.l1")
        a = T.alloc_buffer((16, 32), "float16", scope="local.l0a")
        b = T.alloc_buffer((16, 32), "float16", scope="local.l0b")
        c = T.alloc_buffer((16, 16), "float32", scope="local.l0c")
        T.ascend.tile_copy(A[0:16, 0:32], x[0:16, 0:32])
        T.ascend.tile_gemm(c[0:16, 0:16], a[0:16, 0:32], b[0:16, 0:32], False, True, True)

    nz, zz, zn = note_of("NZ", 0), note_of("ZZ", 0), note_of("ZN", 1)

    @T.prim_func
    def after(A: T.Buffer((16, 32), "float16")):
        x = T.alloc_buffer((16, 32), "float16", scope="shared.l1", annotations=nz)
        a = T.alloc_buffer((16, 32), "float16", scope="local.l0a", annotations=zz)
        b = T.alloc_buffer((16, 32), "float16", scope="local.l0b", annotations=zn)
        c = T.alloc_buffer((16, 16), "float32", scope="local.l0c", annotations=nz)
        T.ascend.tile_copy(A[0:16, 0:32], x[0:16, 0:32])
        T.ascend.tile_gemm(c[0:16, 0:16], a[0:16, 0:32], b[0:16, 0:32], False, True, True)

    got = infer(before)
    assert_structural_equal(got.body, after.body, map_free_vars=True)
    (change,) = notes_of(got)
    assert "`A` -> `x`: layout ND -> NZ, 1,024 bytes a tile" in change


def test_vector_buffers_stay():
    @T.prim_func
    def func():
        x = T.alloc_buffer((64,), "float16", scope="shared.ub")
        T.ascend.tile_fill(x[0:64], T.float16(0))

    assert_structural_equal(infer(func), func.with_attr("global_symbol", "main"))


def test_both_orientations_of_one_tile_are_an_error():
    @T.prim_func
    def func():
        a = T.alloc_buffer((16, 16), "float16", scope="local.l0a")
        b = T.alloc_buffer((16, 16), "float16", scope="local.l0b")
        c = T.alloc_buffer((16, 16), "float32", scope="local.l0c")
        T.ascend.tile_gemm(c[0:16, 0:16], a[0:16, 0:16], b[0:16, 0:16], False, True, True)
        T.ascend.tile_gemm(c[0:16, 0:16], a[0:16, 0:16], b[0:16, 0:16], False, False, True)

    with pytest.raises(LayoutContradiction, match="`b` is an operand of a gemm both transposed"):
        infer(func)


def test_a_vector_in_the_cube_is_an_error():
    @T.prim_func
    def func():
        x = T.alloc_buffer((64,), "float16", scope="shared.l1")
        T.ascend.tile_fill(x[0:64], T.float16(0))

    with pytest.raises(NotAMatrix, match="`x` has shape"):
        infer(func)

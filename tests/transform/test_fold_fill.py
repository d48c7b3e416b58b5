# SPDX-License-Identifier: Apache-2.0
"""FoldFill: clearing an accumulator becomes the init of the first product."""

import pytest
import tvm
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tvm_ascend.errors import AccumulatorFill
from tvm_ascend.transform.fold_fill import FoldFill


def fold(func):
    return FoldFill()(tvm.IRModule({"main": func.with_attr("global_symbol", "main")}))["main"]


def test_clear_before_a_loop_becomes_init_of_its_first_product():
    @T.prim_func
    def before():
        c = T.alloc_buffer((16, 16), "float32", scope="local.l0c")
        a = T.alloc_buffer((16, 16), "float16", scope="local.l0a")
        b = T.alloc_buffer((16, 16), "float16", scope="local.l0b")
        T.ascend.tile_fill(c[0:16, 0:16], T.float32(0))
        for _i in range(4):
            for _j in range(2):
                T.ascend.tile_gemm(c[0:16, 0:16], a[0:16, 0:16], b[0:16, 0:16], False, False, False)

    @T.prim_func
    def after():
        c = T.alloc_buffer((16, 16), "float32", scope="local.l0c")
        a = T.alloc_buffer((16, 16), "float16", scope="local.l0a")
        b = T.alloc_buffer((16, 16), "float16", scope="local.l0b")
        for i in range(4):
            for j in range(2):
                T.ascend.tile_gemm(
                    c[0:16, 0:16], a[0:16, 0:16], b[0:16, 0:16], False, False, i == 0 and j == 0
                )

    assert_structural_equal(fold(before), after.with_attr("global_symbol", "main"))


def test_vector_fills_stay():
    @T.prim_func
    def func():
        x = T.alloc_buffer((16,), "float32", scope="shared.ub")
        T.ascend.tile_fill(x[0:16], T.float32(0))

    assert_structural_equal(fold(func), func.with_attr("global_symbol", "main"))


@pytest.mark.parametrize("value", [1.0, 0.0])
def test_a_fill_no_product_follows_is_an_error(value):
    @T.prim_func
    def func():
        c = T.alloc_buffer((16, 16), "float32", scope="local.l0c")
        T.ascend.tile_fill(c[0:16, 0:16], T.float32(value))

    with pytest.raises(AccumulatorFill, match="no instruction fills L0C, where `c` lives"):
        fold(func)


def test_a_loop_that_may_not_run_is_an_error():
    @T.prim_func
    def func(n: T.int32):
        c = T.alloc_buffer((16, 16), "float32", scope="local.l0c")
        a = T.alloc_buffer((16, 16), "float16", scope="local.l0a")
        b = T.alloc_buffer((16, 16), "float16", scope="local.l0b")
        T.ascend.tile_fill(c[0:16, 0:16], T.float32(0))
        for _ in range(n):
            T.ascend.tile_gemm(c[0:16, 0:16], a[0:16, 0:16], b[0:16, 0:16], False, False, False)

    with pytest.raises(AccumulatorFill):
        fold(func)

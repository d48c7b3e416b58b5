# SPDX-License-Identifier: Apache-2.0
"""BoolsAsBytes: buffers of bool become bytes, loads comparisons, stores casts."""

import tvm
from tvm.ir import assert_structural_equal

from tvm_ascend import language as T
from tvm_ascend.transform.bools_as_bytes import BoolsAsBytes


def rewritten(func):
    return BoolsAsBytes()(tvm.IRModule({"f": func}))["f"]


def test_loads_compare_and_stores_cast():
    @T.prim_func
    def f(A: T.Tensor((8,), "bool"), B: T.Tensor((8,), "bool"), c: T.bool):
        for i in range(8):
            if A[i]:
                B[i] = T.And(A[7 - i], c)
            B[0] = True
            B[i] = A[i]

    after = rewritten(f)

    @T.prim_func
    def f(A: T.Tensor((8,), "uint8"), B: T.Tensor((8,), "uint8"), c: T.bool):
        for i in range(8):
            if A[i] != T.uint8(0):
                B[i] = T.Cast("uint8", T.And(A[7 - i] != T.uint8(0), c))
            B[0] = T.uint8(1)
            B[i] = A[i]

    assert_structural_equal(after, f)


def test_instructions_move_bytes():
    @T.prim_func
    def f(A: T.Tensor((8,), "bool")):
        tile = T.alloc_buffer((32,), "bool", scope="shared.ub")
        T.ascend.data_copy_pad_in(tile[0], A[0], 1, 8, 0, 0, True, 0, 24, False)

    after = rewritten(f)

    @T.prim_func
    def f(A: T.Tensor((8,), "uint8")):
        tile = T.alloc_buffer((32,), "uint8", scope="shared.ub")
        T.ascend.data_copy_pad_in(tile[0], A[0], 1, 8, 0, 0, True, 0, 24, T.uint8(0))

    assert_structural_equal(after, f)


def test_a_function_without_buffers_of_bool_stays():
    @T.prim_func
    def f(A: T.Tensor((8,), "float32"), c: T.bool):
        if c:
            A[0] = T.Select(A[1] > T.float32(0), A[2], A[3])

    assert rewritten(f).same_as(f)

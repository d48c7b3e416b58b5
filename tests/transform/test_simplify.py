# SPDX-License-Identifier: Apache-2.0
"""Simplify: bounds, indices and conditions become simpler, what becomes an element stays."""

import tvm
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tvm_ascend.transform.simplify import Simplify


def simplified(func):
    return Simplify()(tvm.IRModule({"f": func}))["f"]


def test_indices_and_conditions_are_simplified():
    @T.prim_func
    def f(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for i in range(8 * 2 - 8):
            if i < 8:
                B[i * 4 // 4] = T.if_then_else(i * 4 < 32, A[i + 8 - 8], T.float32(0))

    after = simplified(f)

    @T.prim_func
    def f(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for i in range(8):
            B[i] = A[i]

    assert_structural_equal(after, f)


def test_what_is_computed_with_elements_stays():
    @T.prim_func
    def f(
        A: T.Buffer((64,), "float32"),
        N: T.Buffer((64,), "int32"),
        B: T.Buffer((64,), "float32"),
        C: T.Buffer((64,), "int32"),
    ):
        for i in range(8):
            if A[i] != A[i]:
                B[i] = A[i] - A[i]
            if N[i] + 1 > N[i]:
                C[i] = N[i] * 4 // 4
            B[N[i] * 2 // 2] = T.if_then_else(A[i] == A[i], A[i], T.float32(0))
            C[i] = (i + 2147483647) * 2 // 2

    assert_structural_equal(simplified(f), f)

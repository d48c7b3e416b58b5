# SPDX-License-Identifier: Apache-2.0
"""InferScope: where a buffer lives follows from how it is used."""

import re

import pytest
import tvm
import tvm_ffi
from tvm import tirx

from tvm_ascend import language as T
from tvm_ascend.errors import ScopeContradiction
from tvm_ascend.transform.infer_scope import InferScope


def scopes(func):
    func = InferScope()(tvm.IRModule({"main": func}))["main"]
    found = {}
    tvm_ffi.structural_walk(
        func.body, [(tirx.AllocBuffer, lambda s: found.update({s.buffer.name: s.buffer.scope()}))]
    )
    return found


def test_element_loops_copies_and_reductions_use_ub():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32")):
        a = T.alloc_fragment((64,))
        b = T.alloc_shared((64,))
        c = T.alloc_fragment((1,))
        d = T.alloc_shared((64,))
        T.copy(A, a)
        for i in T.Parallel(64):
            b[i] = a[i]
        T.reduce_sum(a, c, dim=0)
        T.copy(A, d)

    assert set(scopes(kernel).values()) == {"shared.ub"}


def test_operands_and_result_of_a_product():
    @T.prim_func
    def kernel(A: T.Tensor((16, 16), "float16"), C: T.Tensor((16, 16), "float32")):
        a = T.alloc_shared((16, 16), "float16")
        left = T.alloc_fragment((16, 16), "float16")
        right = T.alloc_fragment((16, 16), "float16")
        c = T.alloc_fragment((16, 16))
        T.copy(A, a)
        T.copy(a, left)
        T.copy(a, right)
        T.gemm(left, right, c, init=True)
        T.copy(c, C)

    assert scopes(kernel) == {
        "a": "shared.l1",
        "left": "local.l0a",
        "right": "local.l0b",
        "c": "local.l0c",
    }


def test_memory_spreads_along_copies_on_chip():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32")):
        a = T.alloc_shared((64,))
        b = T.alloc_shared((64,))
        T.copy(A, a)
        T.copy(a, b)
        for i in T.Parallel(64):
            b[i] = b[i] + 1.0

    assert set(scopes(kernel).values()) == {"shared.ub"}


def test_named_memory_stays():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32")):
        a = T.alloc_L1((64,))
        T.copy(A, a)

    assert scopes(kernel) == {"a": "shared.l1"}


def test_variables_of_the_script_stay_scalar():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "int32")):
        x = A[0] + 1
        A[1] = x

    func = InferScope()(tvm.IRModule({"main": kernel}))["main"]
    (alloc,) = [s for s in func.body.seq if isinstance(s, tirx.AllocBuffer)]
    assert alloc.buffer.scope() == "shared.ub"
    assert "ascend.scalar" in alloc.annotations


def test_contradiction_names_the_buffer_and_both_uses():
    @T.prim_func
    def kernel(C: T.Tensor((16, 16), "float32")):
        a = T.alloc_fragment((16, 16), "float16")
        b = T.alloc_fragment((16, 16), "float16")
        c = T.alloc_fragment((16, 16))
        T.gemm(a, b, c, init=True)
        for i, j in T.Parallel(16, 16):
            c[i, j] = c[i, j] * 2.0
        T.copy(c, C)

    with pytest.raises(ScopeContradiction) as err:
        scopes(kernel)
    text = str(err.value)
    assert "`c`" in text
    assert "result of a gemm" in text
    assert "element store" in text
    first, second = re.findall(r"\(\S*test_infer_scope\.py:(\d+)\)", text)
    assert int(second) > int(first)


def test_contradiction_with_a_named_memory():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32")):
        a = T.alloc_L1((64,))
        T.copy(A, a)
        for i in T.Parallel(64):
            A[i] = a[i]

    with pytest.raises(ScopeContradiction, match=r"shared\.l1"):
        scopes(kernel)

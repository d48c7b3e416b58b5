# SPDX-License-Identifier: Apache-2.0
"""Expansions agree with numpy, on TVM's own CPU target."""

import math

import numpy as np
import pytest
import tvm
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tvm_ascend.transform.expand_math import ExpandMath

REFERENCES = {
    "erf": np.vectorize(math.erf),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
}


@pytest.mark.parametrize("name", REFERENCES)
def test_expansion_is_accurate(name):
    function = getattr(T, name)

    @T.prim_func
    def kernel(A: T.Buffer((2001,), "float32"), B: T.Buffer((2001,), "float32")):
        for i in range(2001):
            B[i] = function(A[i])

    x = np.linspace(-10, 10, 2001).astype("float32")
    if name == "rsqrt":
        x = np.abs(x) + np.float32(1e-3)
    mod = ExpandMath()(tvm.IRModule({"main": kernel.with_attr("global_symbol", "main")}))
    assert name not in mod.script()
    a, b = tvm.runtime.tensor(x), tvm.runtime.tensor(np.zeros_like(x))
    tvm.compile(mod, target="llvm")["main"](a, b)
    want = REFERENCES[name](x.astype("float64"))
    assert np.abs(b.numpy() - want).max() <= 3e-7 * max(1, np.abs(want).max())


def test_half_is_computed_in_single():
    @T.prim_func
    def before(A: T.Buffer((8,), "float16"), B: T.Buffer((8,), "float16")):
        for i in range(8):
            B[i] = T.rsqrt(A[i])

    @T.prim_func
    def after(A: T.Buffer((8,), "float16"), B: T.Buffer((8,), "float16")):
        for i in range(8):
            B[i] = T.Cast("float16", T.float32(1) / T.sqrt(T.Cast("float32", A[i])))

    mod = ExpandMath()(tvm.IRModule({"main": before.with_attr("global_symbol", "main")}))
    assert_structural_equal(mod["main"], after.with_attr("global_symbol", "main"))


def test_known_functions_stay():
    @T.prim_func
    def kernel(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = T.exp(A[i])

    mod = ExpandMath()(tvm.IRModule({"main": kernel.with_attr("global_symbol", "main")}))
    assert_structural_equal(mod["main"], kernel.with_attr("global_symbol", "main"))

# SPDX-License-Identifier: Apache-2.0
"""Scalar bfloat16 code rounds after each operation, on the simulator and in the emitted C++."""

from dataclasses import replace

import ml_dtypes
import numpy as np
from tvm.script import tirx as T

from tvm_ascend import Options, compile
from tvm_ascend.build import Kernel


@T.prim_func(s_tir=True)
def transposed(A: T.Buffer((9, 7), "bfloat16"), B: T.Buffer((7, 9), "bfloat16")):
    for i, j in T.grid(9, 7):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vj, vi] = A[vi, vj] * A[vi, vj] / T.bfloat16(3) + T.exp(A[vi, vj])


def test_every_operation_rounds_and_the_twin_agrees():
    a = np.random.default_rng(0).normal(0, 1, (9, 7)).astype(ml_dtypes.bfloat16)
    kernel = compile(transposed, out_idx=1, options=Options(cache=False))
    assert kernel.artifact.rule == "scalar"
    third = ml_dtypes.bfloat16(3)
    exp = np.exp(a.astype("float32")).astype(ml_dtypes.bfloat16)
    expected = ((a * a) / third + exp).T
    got = kernel(a)
    assert got.tobytes() == np.ascontiguousarray(expected).tobytes()
    twin = Kernel(kernel.artifact, kernel.out_idx, replace(kernel.options, executor="twin"))
    assert twin(a).tobytes() == got.tobytes()

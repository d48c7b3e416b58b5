# SPDX-License-Identifier: Apache-2.0
"""Literals at the edges of every dtype reach both executors as they were written."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from tvm import tirx
from tvm.script import tirx as P

from tvm_ascend import compile
from tvm_ascend import language as T
from tvm_ascend.build import Kernel

FLOATS = (0.0, -0.0, np.inf, -np.inf, np.nan, 0.1, 1e-8, 5.96e-8, 65504.0)
LITERALS = {
    "float32": (*FLOATS, 1e-40, -1e-45, 1.17549435e-38, 3.4028234663852886e38, 1e-300),
    "float16": FLOATS,
    "bfloat16": (*FLOATS, 1e-40, 3.3895313892515355e38),
    "uint64": (2**63 - 1, 2**63, 2**64 - 1),
    "int64": (-(2**63), -(2**63) + 1, 2**63 - 1),
    "uint32": (2**31, 2**32 - 1),
    "int32": (-(2**31), 2**31 - 1),
    **{name: (np.iinfo(name).min, np.iinfo(name).max) for name in ("int16", "int8")},
    **{name: (np.iinfo(name).max,) for name in ("uint16", "uint8")},
}


def in_tile_language(dtype, a, b, c):
    @T.prim_func
    def kernel(A: T.Tensor((3,), dtype), B: T.Tensor((2, 3), dtype)):
        with T.Kernel(1):
            B[0, 0] = a
            B[0, 1] = b
            B[0, 2] = c
            B[1, 0] = T.Select(A[0] > A[1], A[0], a)
            B[1, 1] = T.if_then_else(A[0] > A[1], A[0], b)
            B[1, 2] = T.Select(A[2] == c, c, A[0])

    return kernel


def in_plain_tir(dtype, a, b, c):
    @P.prim_func(s_tir=True)
    def kernel(A: P.Buffer((3,), dtype), B: P.Buffer((2, 3), dtype)):
        with P.sblock("all"):
            B[0, 0] = a
            B[0, 1] = b
            B[0, 2] = c
            B[1, 0] = P.Select(A[0] > A[1], A[0], a)
            B[1, 1] = P.if_then_else(A[0] > A[1], A[0], b)
            B[1, 2] = P.Select(A[2] == c, c, A[0])

    return kernel


@pytest.mark.parametrize("make", [in_tile_language, in_plain_tir])
@pytest.mark.parametrize("dtype", LITERALS)
def test_literals_arrive_as_they_were_written(dtype, make):
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    left = list(LITERALS[dtype])
    while left:
        values = (left[:3] * 3)[:3]
        left = left[3:]
        numbers = np.array(values, "float64" if "float" in dtype else dtype).astype(kind)
        built = compile(make(dtype, *(tirx.const(v, dtype) for v in values)), out_idx=1)
        twin = Kernel(built.artifact, built.out_idx, replace(built.options, executor="twin"))
        given = np.array([1, 2, numbers[2]], kind)
        last = numbers[2] if numbers[2] == numbers[2] else given[0]
        expected = np.array([numbers, [*numbers[:2], last]], kind)
        for run in (built, twin):
            found = run(given)
            same = found.view(f"u{kind.itemsize}") == expected.view(f"u{kind.itemsize}")
            assert (same | (np.isnan(found) & np.isnan(expected))).all(), (found, expected)


def test_an_integer_of_python_beyond_int32_is_one_of_the_tensor():
    """TVM reads it as int64, which its pass for indices of int32 met with an assertion."""

    @P.prim_func(s_tir=True)
    def kernel(B: P.Buffer((2,), "uint32")):
        with P.sblock("all"):
            B[0] = 2147483648
            B[1] = 4294967295

    assert compile(kernel, out_idx=0)().tolist() == [2**31, 2**32 - 1]

# SPDX-License-Identifier: Apache-2.0
"""The scalar unit turns floats into integers as Cast with CAST_TRUNC does, on both paths."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from tvm_ascend import compile
from tvm_ascend import language as T
from tvm_ascend.build import Kernel

VALUES = (0.0, -0.0, 2.5, -2.5, 127.6, -128.9, 200, -200, 255.5, 300, 4e4, -4e4, 7e4, 65504)
LARGE = (2.1e9, -2.1e9, 3e9, -3e9, 5e9, 9e18, -9.3e18, 1e19, 2e19, 3e38, -3e38)
SPECIAL = (np.inf, -np.inf, np.nan, 1e-40, -0.999)


def cast_all(source, target, count):
    @T.prim_func
    def cast(A: T.Tensor((count,), source), B: T.Tensor((count,), target)):
        with T.Kernel(1):
            for i in T.serial(count):
                B[count - 1 - i] = T.cast(A[count - 1 - i], target)

    return compile(cast, out_idx=1)


def truncated(values, target):
    info = np.iinfo(target)
    result = []
    for value in values.astype("float64").tolist():
        if value != value:
            result.append(0)
        elif abs(value) == np.inf:
            result.append(info.max if value > 0 else info.min)
        else:
            result.append(min(max(int(value), info.min), info.max))
    return np.array(result, target)


@pytest.mark.parametrize("target", [f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64)])
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32"])
def test_every_float_becomes_the_nearest_integer_towards_zero(source, target):
    kernel = cast_all(source, target, len(VALUES + LARGE + SPECIAL))
    with np.errstate(over="ignore"):
        values = np.array(VALUES + LARGE + SPECIAL, "float32").astype(
            ml_dtypes.bfloat16 if source == "bfloat16" else source
        )
    twin = Kernel(kernel.artifact, kernel.out_idx, replace(kernel.options, executor="twin"))
    expected = truncated(values, target)
    for run in (kernel, twin):
        assert np.array_equal(run(values), expected)


@pytest.mark.parametrize("target", ["int8", "int16", "int32"])
def test_the_vector_unit_agrees(target):
    values = np.array(VALUES + LARGE + SPECIAL, "float32")
    count = len(values)

    @T.prim_func
    def cast(A: T.Tensor((count,), "float32"), B: T.Tensor((count,), target)):
        with T.Kernel(1):
            for i in T.Parallel(count):
                B[i] = T.cast(A[i], target)

    on_vector = compile(cast, out_idx=1)(values)
    assert np.array_equal(on_vector, cast_all("float32", target, count)(values))


@pytest.mark.parametrize(("source", "target"), [("int8", "uint8"), ("uint8", "int8")])
def test_tiles_of_bytes_wrap_where_the_sign_changes(source, target):
    """The chip's casts go through half and saturate, so the scalar unit takes these."""

    @T.prim_func
    def by_element(A: T.Tensor((64,), source), B: T.Tensor((64,), target)):
        with T.Kernel(1):
            tile = T.alloc_fragment((64,), source)
            T.copy(A[0:64], tile)
            for i in T.Parallel(64):
                B[i] = T.cast(tile[i], target)

    @T.prim_func
    def by_copy(A: T.Tensor((64,), source), B: T.Tensor((64,), target)):
        with T.Kernel(1):
            tile = T.alloc_fragment((64,), target)
            T.copy(A[0:64], tile)
            T.copy(tile, B[0:64])

    values = np.arange(-32, 32, dtype="int64").astype(source) * 4
    for func in (by_element, by_copy):
        assert np.array_equal(compile(func, out_idx=1)(values), values.astype(target))

# SPDX-License-Identifier: Apache-2.0
"""An index past an on-chip tile never reaches the tile beside it, on either path."""

from dataclasses import replace

import numpy as np
import pytest

from tvm_ascend import compile
from tvm_ascend import language as T
from tvm_ascend.build import Kernel
from tvm_ascend.errors import MemoryAccessError


@T.prim_func
def vector_write(A: T.Tensor((64,), "float32"), n: T.int32, B: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        a = T.alloc_fragment((64,), "float32")
        b = T.alloc_fragment((64,), "float32")
        T.copy(A, a)
        T.copy(A, b)
        for i in T.Parallel(32):
            a[n * 8 + i] = 5.0
        T.copy(b, B)


@T.prim_func
def scalar_write(A: T.Tensor((64,), "float32"), n: T.int32, B: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        a = T.alloc_fragment((64,), "float32")
        b = T.alloc_fragment((64,), "float32")
        T.copy(A, a)
        T.copy(A, b)
        a[n] = 5.0
        T.copy(b, B)


@T.prim_func
def scalar_read(A: T.Tensor((64,), "float32"), n: T.int32, B: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        a = T.alloc_fragment((64,), "float32")
        b = T.alloc_fragment((64,), "float32")
        T.copy(A, a)
        T.copy(A, b)
        a[0] = a[n]
        T.copy(b, B)


@pytest.mark.parametrize("executor", ["simulator", "twin"])
@pytest.mark.parametrize(
    ("func", "n", "low", "high"),
    [(vector_write, 7, 224, 352), (scalar_write, 64, 256, 260), (scalar_read, -1, -4, 0)],
    ids=["vector_write", "scalar_write", "scalar_read"],
)
def test_an_index_past_a_tile_is_reported_with_the_tile(func, n, low, high, executor):
    kernel = compile(func, out_idx=2)
    kernel = Kernel(kernel.artifact, kernel.out_idx, replace(kernel.options, executor=executor))
    with pytest.raises(MemoryAccessError) as caught:
        kernel(np.ones(64, "float32"), n)
    hazard = caught.value.hazard
    assert (hazard.kind, hazard.space, hazard.bytes) == ("out_of_bounds", "ub", (low, high))
    named = executor == "simulator"
    name, file = ("`a`", "test_bounds.py:") if named else ("its tensor", "kernel.cce:")
    assert f"outside {name} at ub bytes [0, 256)" in hazard.message
    assert file in hazard.first.where


def test_an_index_inside_the_tile_is_not():
    kernel = compile(scalar_write, out_idx=2)
    assert np.array_equal(kernel(np.ones(64, "float32"), 63), np.ones(64))

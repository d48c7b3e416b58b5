# SPDX-License-Identifier: Apache-2.0
"""Where the data cache of the scalar unit is cleaned."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm.script import tirx as T

import tvm_ascend
from tvm_ascend.errors import CacheError
from tvm_ascend.language.ops import key_of
from tvm_ascend.transform.clean_cache import CleanCache
from tvm_ascend.transform.sync.tree import build, steps


def cleaned(func):
    return CleanCache()(tvm.IRModule({"main": func}))["main"]


def keys(func):
    """The keys of instructions and flags, S for a scalar store, in program order."""
    return [key_of(s.stmt) or "S" for s in steps(build(func.body))]


@T.prim_func
def scalar_then_copy(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    T.func_attr({"global_symbol": "main", "ascend.core_type": "AIV", "ascend.grid": 1})
    with T.launch_thread("blockIdx.x", 1):
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        B[3] = A[2] + T.float32(1)
        T.ascend.set_flag("S_MTE2", 0)
        T.ascend.wait_flag("S_MTE2", 0)
        T.ascend.data_copy_in_count(x[0], B[0], 64)
        T.ascend.set_flag("MTE2_MTE3", 0)
        T.ascend.wait_flag("MTE2_MTE3", 0)
        T.ascend.data_copy_out_count(A[0], x[0], 64)
        T.ascend.set_flag("MTE3_S", 0)
        T.ascend.wait_flag("MTE3_S", 0)
        B[5] = A[3]


def test_before_copies_may_follow_after_they_stored_and_at_the_end():
    assert [k for k in keys(cleaned(scalar_then_copy)) if k != "S"] == [
        *("data_cache_clean", "set_flag", "wait_flag", "data_copy_in_count"),
        *("set_flag", "wait_flag", "data_copy_out_count"),
        *("set_flag", "wait_flag", "data_cache_clean", "data_cache_clean"),
    ]


@T.prim_func
def only_copies(A: T.Buffer((64,), "float32")):
    T.func_attr({"global_symbol": "main", "ascend.core_type": "AIV", "ascend.grid": 1})
    x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
    T.ascend.data_copy_in_count(x[0], A[0], 64)
    T.ascend.pipe_barrier("ALL")
    x[0] = T.float32(1)


@T.prim_func
def cleans_itself(A: T.Buffer((64,), "float32")):
    T.func_attr({"global_symbol": "main", "ascend.core_type": "AIV", "ascend.grid": 1})
    A[0] = T.float32(1)
    T.ascend.data_cache_clean(A[0], "SINGLE_CACHE_LINE")


@pytest.mark.parametrize("func", [only_copies, cleans_itself], ids=["copies", "own"])
def test_what_is_left_alone(func):
    tvm.ir.assert_structural_equal(cleaned(func), func)


@T.prim_func
def scatter(
    A: T.Buffer((64,), "float32"), N: T.Buffer((64,), "int32"), B: T.Buffer((64,), "float32")
):
    with T.launch_thread("blockIdx.x", 1):
        for i in range(64):
            B[N[i]] = A[i]


def test_scalar_kernels_clean_what_they_store():
    kernel = tvm_ascend.compile(scatter)
    a, n = np.arange(64, dtype="float32"), np.arange(64, dtype="int32")[::-1].copy()
    b = np.zeros(64, "float32")
    kernel(a, n, b)
    assert np.array_equal(b, a[::-1])


def test_without_the_pass_the_simulator_objects(monkeypatch):
    from tvm_ascend import pipeline

    passes = tuple(p for p in pipeline.STAGES["synced"] if p is not CleanCache)
    monkeypatch.setitem(pipeline.STAGES, "synced", passes)
    with pytest.raises(CacheError, match="left the data cache"):
        tvm_ascend.compile(scatter.with_attr("global_symbol", "other"))(
            np.zeros(64, "float32"), np.zeros(64, "int32"), np.zeros(64, "float32")
        )

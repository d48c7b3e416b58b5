# SPDX-License-Identifier: Apache-2.0
"""A small matrix multiply for every test of tuning."""

from __future__ import annotations

import pytest
from tvm import s_tir, tirx
from tvm.script import tirx as T

from tvm_ascend.hw import CHIPS
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.tune.database import workload


def make_matmul(m: int, n: int, k: int) -> tirx.PrimFunc:
    @T.prim_func(s_tir=True)
    def matmul(
        A: T.Buffer((m, k), "float16"),
        B: T.Buffer((k, n), "float16"),
        C: T.Buffer((m, n), "float32"),
    ):
        for i, j, r in T.grid(m, n, k):
            with T.sblock("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] += T.float32(A[vi, vk]) * T.float32(B[vk, vj])

    return matmul


@pytest.fixture(scope="session")
def matmul() -> tirx.PrimFunc:
    """126 x 159 x 80: no size divides a tile."""
    return make_matmul(126, 159, 80)


@pytest.fixture(scope="session")
def large_matmul() -> tirx.PrimFunc:
    """512 cubed: large tiles overflow."""
    return make_matmul(512, 512, 512)


@pytest.fixture(scope="session")
def add_one() -> tirx.PrimFunc:
    """A function without a matrix multiply."""

    @T.prim_func(s_tir=True)
    def add_one(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for i in range(64):
            with T.sblock("B"):
                v = T.axis.spatial(64, i)
                B[v] = A[v] + T.float32(1)

    return add_one


@pytest.fixture(scope="session")
def chip() -> ChipSpec:
    return CHIPS["910b1"]


@pytest.fixture(scope="session")
def scheduled():
    """A traced schedule of a function; decisions may be given or drawn from a seed."""

    def schedule(space, func, decisions=None, seed=1) -> s_tir.Schedule:
        sch = s_tir.Schedule(workload(func), seed=seed)
        space.schedule(sch, decisions)
        return sch

    return schedule

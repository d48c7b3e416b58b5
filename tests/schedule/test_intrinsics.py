# SPDX-License-Identifier: Apache-2.0
"""A schedule that tensorizes by hand lands on the same tile operations as the default rule."""

import numpy as np
import pytest
import tvm_ffi
from tvm import s_tir, tirx

from tests.transform.cube_oracle import CubeOracle
from tests.transform.test_select_cube import matmul, select
from tvm_ascend.language.ops import key_of
from tvm_ascend.schedule.intrinsics import mmad
from tvm_ascend.transform.lower_blocks import lower_schedule


def keys(func):
    found = []
    tvm_ffi.structural_walk(func.body, [(tirx.Evaluate, lambda e: found.append(key_of(e)))])
    return found


def by_hand(transpose_b):
    sch = s_tir.Schedule(matmul(64, 64, 64, transpose_b=transpose_b))
    block = sch.get_sblock("C")
    out = sch.cache_write(block, 0, "local.l0c")
    copies = [
        (sch.cache_read(block, i, scope), level)
        for i, scope, level in (
            (0, "shared.l1", 0), (1, "shared.l1", 0), (0, "local.l0a", 1), (1, "local.l0b", 1),
        )
    ]  # fmt: skip
    i, j, k = sch.get_loops(block)
    i0, i1 = sch.split(i, [None, 32])
    k0, k1, k2 = sch.split(k, [None, 2, 16])
    sch.reorder(i0, k0, k1, i1, j, k2)
    sch.bind(i0, "blockIdx.x")
    for copy, level in reversed(copies):
        sch.compute_at(copy, (k0, k1)[level])
    sch.reverse_compute_at(out, i0)
    sch.decompose_reduction(block, k0)
    sch.tensorize(i1, mmad(32, 64, 16, transpose_b=transpose_b))
    return sch.mod["main"]


@pytest.mark.parametrize("transpose_b", [False, True])
def test_tensorized_loops_become_a_gemm(transpose_b):
    found = keys(lower_schedule(by_hand(transpose_b)))
    assert found == ["tile_fill", *4 * ["tile_copy"], "tile_gemm", "tile_copy"]


def test_tensorized_loops_are_exact():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (64, 64)).astype("float64") for _ in range(2))
    c = np.full((64, 64), np.nan)
    CubeOracle(select(lower_schedule(by_hand(False))), a, b, c)
    assert (c == a @ b).all()


def test_registering_twice_is_one_intrinsic():
    assert mmad(16, 16, 16) == mmad(16, 16, 16)

# SPDX-License-Identifier: Apache-2.0
"""Chips that are known in part: what they lack is refused with its line, then the chip itself."""

from __future__ import annotations

import pytest
from tvm.script import tirx

import tvm_ascend
from tvm_ascend import language as T
from tvm_ascend.errors import AbsentInstruction, AscendError, ChipNotModelled
from tvm_ascend.hw import CHECKED_CHIPS, CHIPS, Deltas
from tvm_ascend.isa.table import TABLE

checked = pytest.mark.parametrize("chip", CHECKED_CHIPS.values(), ids=list(CHECKED_CHIPS))


def doubled(size):
    @T.prim_func
    def kernel(A: T.Tensor((size,), "float32"), B: T.Tensor((size,), "float32")):
        with T.Kernel(1, threads=1) as _:
            tile = T.alloc_fragment((size,), "float32")
            T.copy(A, tile)
            for i in T.Parallel(size):
                tile[i] = tile[i] * T.float32(2)
            T.copy(tile, B)

    return kernel


@tirx.prim_func(s_tir=True)
def at_least_two(A: tirx.Buffer((4096,), "float16"), B: tirx.Buffer((4096,), "float16")):
    for i in range(4096):
        with tirx.sblock("larger"):
            v = tirx.axis.spatial(4096, i)
            B[v] = tirx.max(A[v], tirx.float16(2))


@checked
def test_what_is_not_modelled_is_said(chip):
    with pytest.raises(ChipNotModelled) as error:
        tvm_ascend.compile(doubled(64), target=f"huawei/ascend-{chip.name}")
    assert all(what in str(error.value) for what in chip.deltas.not_modelled)
    assert "target='ascend'" in str(error.value)


def test_an_absent_instruction_is_refused_at_its_line():
    with pytest.raises(AbsentInstruction, match=r"test_check_chip\.py:\d+: the Ascend 910A.*Maxs"):
        tvm_ascend.compile(at_least_two, target="huawei/ascend-910a")
    with pytest.raises(ChipNotModelled):
        tvm_ascend.compile(at_least_two, target="huawei/ascend-310p")
    tvm_ascend.compile(at_least_two, target="ascend")


def test_a_tile_that_only_the_larger_memory_holds():
    between = (CHIPS["910b1"].capacity("ub") + 4096) // 4
    assert 4 * between <= CHECKED_CHIPS["950"].capacity("ub")
    with pytest.raises(AscendError, match="910B1"):
        tvm_ascend.compile(doubled(between), target="ascend")
    with pytest.raises(ChipNotModelled):
        tvm_ascend.compile(doubled(between), target="huawei/ascend-950")


@checked
def test_absent_instructions_are_those_of_the_table(chip):
    known = {row.key for row in TABLE.values()} | {row.name for row in TABLE.values()}
    assert set(chip.deltas.absent) <= known


def test_a_path_may_be_absent_into_some_memories():
    deltas = Deltas(absent={"load_data_2d_gm": ("l0a",), "Exp": ()}, not_modelled=())
    assert deltas.lacks("load_data_2d_gm", "LoadData", "l0a")
    assert not deltas.lacks("load_data_2d_gm", "LoadData", "l1")
    assert deltas.lacks("exp_repeat", "Exp", "ub")
    assert not deltas.lacks("load_data_2d", "LoadData", "l0a")

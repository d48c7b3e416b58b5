# SPDX-License-Identifier: Apache-2.0
"""SyncAll, IBSet and IBWait through GM: twin and LLVM path agree in bits and cycles."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm.script import tirx as T

import tvm_ascend.language  # noqa: F401  registers T.ascend
from tvm_ascend.codegen.ascendc import emit
from tvm_ascend.codegen.program import build_program
from tvm_ascend.hw import CHIPS, DEFAULT_CHIP
from tvm_ascend.options import SimOptions
from tvm_ascend.runtime import twin
from tvm_ascend.runtime.simulator import SimulatorExecutor

CORES = 3


@T.prim_func
def barriers(
    A: T.Buffer((192,), "float32"), B: T.Buffer((192,), "float32"), S: T.Buffer((512,), "int32")
):
    """Each core stores the elements of the next one, which the next one got from its next."""
    T.func_attr({"global_symbol": "barriers", "ascend.core_type": "AIV", "ascend.grid": 3})
    with T.launch_thread("blockIdx.x", 3) as bx:
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        w = T.alloc_buffer((64,), "int32", scope="shared.ub", annotations={"ascend.address": 512})
        for _i in range(2):
            T.ascend.data_copy_in_count(x[0], A[(bx + 1) % 3 * 64], 64)
            T.ascend.sync_all_soft(S[0], w[0], 3)
            T.ascend.data_copy_out_count(A[bx * 64], x[0], 64)
            T.ascend.sync_all_soft(S[0], w[0], 3)
        T.ascend.data_copy_in_count(x[0], A[bx * 64], 64)
        T.ascend.set_flag("MTE2_MTE3", 0)
        T.ascend.wait_flag("MTE2_MTE3", 0)
        T.ascend.data_copy_out_count(B[bx * 64], x[0], 64)


@T.prim_func
def words(
    A: T.Buffer((192,), "float32"), B: T.Buffer((192,), "float32"), S: T.Buffer((512,), "int32")
):
    """Cores pass the elements on, one after the other."""
    T.func_attr({"global_symbol": "words", "ascend.core_type": "AIV", "ascend.grid": 3})
    with T.launch_thread("blockIdx.x", 3) as bx:
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        w = T.alloc_buffer((64,), "int32", scope="shared.ub", annotations={"ascend.address": 512})
        if bx > 0:
            T.ascend.ib_wait(S[0], w[0], bx - 1, 2)
        T.ascend.data_copy_in_count(x[0], A[bx * 64], 64)
        T.ascend.set_flag("MTE2_V", 0)
        T.ascend.wait_flag("MTE2_V", 0)
        T.ascend.adds(x[0], x[0], T.float32(1), 64)
        T.ascend.set_flag("V_MTE3", 0)
        T.ascend.wait_flag("V_MTE3", 0)
        T.ascend.data_copy_out_count(B[bx * 64], x[0], 64)
        if bx < 2:
            T.ascend.data_copy_out_count(A[bx * 64 + 64], x[0], 64)
            T.ascend.ib_set(S[0], w[0], bx, 2)


WANT = {"barriers": [2, 0, 1], "words": [1, 2, 3]}


@pytest.mark.parametrize("func", [barriers, words], ids=list(WANT))
def test_both_paths_agree(func):
    name = str(func.attrs["global_symbol"])
    program = build_program(func, CHIPS[DEFAULT_CHIP])
    ours = SimulatorExecutor(program.table, tvm.ir.save_json(program.control))
    theirs = twin.TwinExecutor(program.table, emit(func), name, 3)
    found = []
    for executor in (ours, theirs):
        a = np.repeat(np.arange(CORES, dtype="float32"), 64)
        arrays = [tvm.runtime.tensor(v) for v in (a, np.zeros_like(a), np.zeros(512, "int32"))]
        report = executor.launch(arrays, SimOptions())
        found.append(([x.numpy().tobytes() for x in arrays], report.cycles, report.bytes))
    assert found[0] == found[1]
    assert np.array_equal(arrays[1].numpy(), np.repeat(np.array(WANT[name], "float32"), 64))

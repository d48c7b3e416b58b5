# SPDX-License-Identifier: Apache-2.0
"""Copies, loads, Mmad, Fixpipe, registers and printing: twin and LLVM path agree to the bit."""

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

CHIP = CHIPS[DEFAULT_CHIP]


@T.prim_func
def copies(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    T.func_attr({"global_symbol": "copies", "ascend.core_type": "AIV", "ascend.grid": 2})
    with T.launch_thread("blockIdx.x", 2) as bx:
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        y = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 256})
        T.ascend.data_copy_in_count(x[0], A[0], 64)
        T.ascend.set_flag("MTE2_V", 0)
        T.ascend.wait_flag("MTE2_V", 0)
        T.ascend.data_copy_ub(y[0], x[0], 4, 1, 1, 0)
        T.ascend.data_copy_ub(y[32], x[8], 4, 1, 1, 0)
        T.ascend.printf("copied\n")
        T.ascend.printf_value("core %d", bx)
        T.ascend.dump_tensor(y[0], 3, 4)
        T.ascend.set_flag("V_MTE3", 0)
        T.ascend.wait_flag("V_MTE3", 0)
        T.ascend.set_atomic_add("float32")
        T.ascend.data_copy_out(B[0], y[0], 1, 8, 0, 0)
        T.ascend.disable_dma_atomic()


@T.prim_func
def quantised(
    A: T.Buffer((32, 16), "float32"),
    B: T.Buffer((32, 48), "float32"),
    bias: T.Buffer((48,), "float32"),
    words: T.Buffer((48,), "uint64"),
    C: T.Buffer((16, 48), "int8"),
):
    """C = quantise(A^T B + bias), both operands transposed on their way."""
    T.func_attr({"global_symbol": "quantised", "ascend.core_type": "AIC", "ascend.grid": 1})
    with T.launch_thread("blockIdx.x", 1):
        a1 = T.alloc_buffer((512,), "float32", scope="shared.l1", annotations={"ascend.address": 0})
        b1 = T.alloc_buffer(
            (1536,), "float32", scope="shared.l1", annotations={"ascend.address": 2048}
        )
        v1 = T.alloc_buffer(
            (48,), "float32", scope="shared.l1", annotations={"ascend.address": 16384}
        )
        w1 = T.alloc_buffer(
            (48,), "uint64", scope="shared.l1", annotations={"ascend.address": 32768}
        )
        a2 = T.alloc_buffer((512,), "float32", scope="local.l0a", annotations={"ascend.address": 0})
        b2 = T.alloc_buffer(
            (1536,), "float32", scope="local.l0b", annotations={"ascend.address": 0}
        )
        v2 = T.alloc_buffer((48,), "float32", scope="local.bt", annotations={"ascend.address": 64})
        c1 = T.alloc_buffer((768,), "float32", scope="local.l0c", annotations={"ascend.address": 0})
        T.ascend.data_copy_nd2nz(a1[0], A[0, 0], 1, 32, 16, 0, 16, 32, 1, 0)
        T.ascend.data_copy_nd2nz(b1[0], B[0, 0], 1, 32, 48, 0, 48, 32, 1, 0)
        T.ascend.data_copy_in_count(v1[0], bias[0], 48)
        T.ascend.data_copy_in_count(w1[0], words[0], 48)
        T.ascend.set_flag("MTE2_MTE1", 0)
        T.ascend.wait_flag("MTE2_MTE1", 0)
        T.ascend.set_flag("MTE2_FIX", 0)
        T.ascend.wait_flag("MTE2_FIX", 0)
        T.ascend.set_load_data_padding_value(T.float32(0))
        T.ascend.set_fmatrix_left(1, 32, 0, 0, 0, 0)
        T.ascend.set_fmatrix_right(1, 32, 0, 0, 0, 0)
        T.ascend.load_data_3d(a2[0], a1[0], 16, True, False, 16, 32, 0, 0, 1, 1, 1, 1, 1, 1)
        T.ascend.load_data_3d(b2[0], b1[0], 48, False, True, 48, 32, 0, 0, 1, 1, 1, 1, 1, 1)
        T.ascend.data_copy_bt(v2[0], v1[0], 1, 3, 0, 0)
        T.ascend.set_flag("MTE1_M", 0)
        T.ascend.wait_flag("MTE1_M", 0)
        T.ascend.set_hf32_mode(True)
        T.ascend.set_hf32_trans_mode(True)
        T.ascend.mmad_bias(c1[0], a2[0], b2[0], v2[0], 16, 48, 32, True)
        T.ascend.set_hf32_mode(False)
        T.ascend.set_flag("M_FIX", 0)
        T.ascend.wait_flag("M_FIX", 0)
        T.ascend.fixpipe_nd_vector(
            C[0, 0], c1[0], w1[0], 48, 16, 16, 48, False, "VQF322B8_PRE", 1, 0, 0
        )


def values(name):
    rng = np.random.default_rng(1)
    if name == "copies":
        return [rng.integers(-9, 9, 64).astype("float32") for _ in range(2)]
    scale = np.full(48, 0.5, "float32").view("uint32").astype("uint64") | np.uint64(1 << 46)
    return [
        rng.integers(-4, 5, (32, 16)).astype("float32"),
        rng.integers(-4, 5, (32, 48)).astype("float32"),
        rng.integers(-9, 9, 48).astype("float32"),
        scale,
        np.zeros((16, 48), "int8"),
    ]


def run(func, name, make):
    arrays = [tvm.runtime.tensor(v) for v in values(name)]
    program = build_program(func, CHIP)
    report = make(program, len(arrays)).launch(arrays, SimOptions())
    return [a.numpy() for a in arrays], report


@pytest.fixture(scope="module", params=["copies", "quantised"])
def both(request):
    func = {"copies": copies, "quantised": quantised}[request.param]
    ours = run(
        func,
        request.param,
        lambda p, _: SimulatorExecutor(p.table, tvm.ir.save_json(p.control)),
    )
    theirs = run(
        func, request.param, lambda p, n: twin.TwinExecutor(p.table, emit(func), request.param, n)
    )
    return request.param, ours, theirs


def test_both_paths_agree(both):
    _, (ours, our_report), (theirs, their_report) = both
    assert all(a.tobytes() == b.tobytes() for a, b in zip(ours, theirs, strict=True))
    assert our_report.cycles == their_report.cycles
    assert our_report.bytes == their_report.bytes
    texts = [[p.text for p in r.printed] for r in (our_report, their_report)]
    assert texts[0] == texts[1]


def test_the_results_are_right(both):
    name, (ours, report), _ = both
    before = values(name)
    if name == "copies":
        blocks = before[0].reshape(8, 8)
        moved = np.concatenate([blocks[::2].reshape(-1), blocks[1::2].reshape(-1)])
        assert np.array_equal(ours[1], before[1] + 2 * moved)
        line = "desc=3 float32[4] at ub byte 256: " + " ".join(f"{x:g}" for x in moved[:4])
        assert [p.text for p in report.printed] == [
            *("copied\n", "core 0", line),
            *("copied\n", "core 1", line),
        ]
        assert report.printed[0].core == 0
        return
    a, b, bias, *_ = before
    want = np.clip(np.rint((a.T @ b + bias) * 0.5), -128, 127)
    assert np.array_equal(ours[4], want.astype("int8"))

# SPDX-License-Identifier: Apache-2.0
"""Kernels of both kinds of core: answers, time, and what happens without each flag."""

from __future__ import annotations

import json

import numpy as np
import pytest
from mixed_kernels import matmul_bias_relu, matmul_bias_relu_inputs, mean_of_all

from tvm_ascend import compile, dev
from tvm_ascend import language as T
from tvm_ascend.build import rebuild
from tvm_ascend.errors import (
    DeadlockError,
    FlagProtocolError,
    HazardError,
    MixedKernel,
    RaceError,
    ScopeWithoutAiCore,
    UnknownCoreScope,
    UnknownPipe,
    UnscopedStatement,
    WrongCore,
)
from tvm_ascend.options import Options, SimOptions
from tvm_ascend.transform.sync_edit import sync_statements, without_statement

SHAPES = [(64, 32, 32, 1), (200, 48, 80, 3), (33, 16, 16, 1), (320, 64, 16, 2)]


def fused(m=128, n=32, k=16, blocks=1):
    inputs, expected = matmul_bias_relu_inputs(m, n, k, blocks)
    return compile(matmul_bias_relu(m, n, k, blocks), out_idx=4), inputs, expected


@pytest.mark.parametrize(("m", "n", "k", "blocks"), SHAPES)
def test_a_matmul_with_a_vector_epilogue_is_exact(m, n, k, blocks):
    kernel, inputs, expected = fused(m, n, k, blocks)
    assert np.array_equal(kernel(*inputs), expected)
    late = kernel.run(*inputs, sim=SimOptions(dma="late"))
    assert np.array_equal(late[0][0], expected)
    assert late[1].cycles == kernel.profile(*inputs).cycles


def test_the_twin_gives_the_same_bits_and_cycles():
    kernel, inputs, expected = fused(200, 48, 80, 3)
    twin = compile(matmul_bias_relu(200, 48, 80, 3), out_idx=4, options=Options(executor="twin"))
    (answer,), report = twin.run(*inputs)
    assert np.array_equal(answer, expected)
    ours = kernel.run(*inputs)[1]
    assert (report.cycles, report.pipes) == (ours.cycles, ours.pipes)


def test_report_and_timeline_show_each_core(tmp_path):
    kernel, inputs, _ = fused(blocks=2)
    report = kernel.profile(*inputs)
    names = ["AIC 0", "AIV 0", "AIV 1", "AIC 1", "AIV 2", "AIV 3"]
    assert list(report.core_names.values()) == names
    assert {"M", "FIX"} <= set(report.pipes[0])
    assert {"V", "MTE3"} <= set(report.pipes[1]) == set(report.pipes[2])
    events = json.loads(report.trace(tmp_path / "trace.json").read_text())["traceEvents"]
    assert [e["args"]["name"] for e in events if e["name"] == "process_name"] == names
    assert {e["pid"] for e in events if e["ph"] == "X"} == set(range(6))


def test_slots_let_the_cores_overlap():
    kernel, inputs, _ = fused(m=32 * 8)
    report = kernel.profile(*inputs)
    spans = {}
    for core, _, start, end, _ in report.events:
        low, high = spans.get(core, (start, end))
        spans[core] = (min(low, start), max(high, end))
    alone = sum(high - low for high, low in ((spans[c][1], spans[c][0]) for c in (0, 1)))
    assert max(high for _, high in spans.values()) < alone


def test_every_flag_is_needed():
    kernel, inputs, _ = fused(m=128)
    proof = dev.prove_sync(kernel, *inputs)
    assert proof.holds
    assert {v.verdict for v in proof.verdicts} == {"reported"}
    between = [v for v in proof.verdicts if v.kind == "cross-core"]
    assert {v.event for v in between} == {"mode 2 FIX", "mode 2 MTE2"}
    assert all(len(v.statements) == 2 for v in between)


def test_every_single_statement_is_missed():
    """A set alone leaves a deadlock, a wait alone a race or a flag that stays up."""
    kernel, inputs, _ = fused(m=128)
    final = kernel.stages["final"]
    found = {}
    for i, statement in enumerate(sync_statements(final)):
        if "cross_core" in str(statement):
            with pytest.raises(HazardError) as caught:
                rebuild(kernel, without_statement(final, i)).run(*inputs)
            found.setdefault("set" if "set_flag" in str(statement) else "wait", []).append(
                type(caught.value)
            )
    assert found["set"] == [DeadlockError, DeadlockError]
    assert set(found["wait"]) <= {RaceError, FlagProtocolError}
    assert len(found["wait"]) == 2


def test_a_race_across_cores_names_the_flag():
    kernel, inputs, _ = fused(m=32)
    final = kernel.stages["final"]
    waits = [i for i, s in enumerate(sync_statements(final)) if "core_wait_flag(i % 2)" in str(s)]
    (wait,) = waits
    with pytest.raises(RaceError) as caught:
        rebuild(kernel, without_statement(final, wait)).run(*inputs)
    hazard = caught.value.hazard
    assert hazard.core_name == "AIV 0"
    assert hazard.fix == "CrossCoreSetFlag<2, PIPE_FIX> and CrossCoreWaitFlag"
    assert "mixed_kernels.py" in hazard.first.where
    assert "mixed_kernels.py" in hazard.second.where
    assert "of AIC 0 writes" in hazard.message


def test_a_deadlock_names_cores_lines_and_cycles():
    kernel, inputs, _ = fused(m=128)
    final = kernel.stages["final"]
    sets = [i for i, s in enumerate(sync_statements(final)) if 'set_flag("2", "MTE2"' in str(s)]
    with pytest.raises(DeadlockError, match=r"on AIC 0: AIC 0 waits forever at .*") as caught:
        rebuild(kernel, without_statement(final, sets[0])).run(*inputs)
    text = str(caught.value)
    assert "since cycle" in text
    assert "would raise it, and AIV 0 itself waits at" in text
    assert text.count("mixed_kernels.py") >= 2


def test_two_passes_with_sync_all():
    kernel = compile(mean_of_all(48, 64), out_idx=2)
    x = (np.arange(48 * 64) % 7).astype("float32").reshape(48, 64)
    work = np.zeros((48, 8), "float32")
    answer, report = kernel.run(x, work)
    assert np.array_equal(answer[0], x - x.sum())
    assert len({report.core_cycles[core] for core in report.pipes}) < 48
    assert "KERNEL_TYPE_MIX_AIV_1_0" in kernel.source
    proof = dev.prove_sync(kernel, x, work)
    assert proof.holds
    (barrier,) = (v for v in proof.verdicts if v.kind == "cross-core")
    assert (barrier.event, barrier.verdict) == ("SyncAll", "reported")


def test_both_scopes_may_stand_in_one_loop():
    @T.prim_func
    def ring(
        A: T.Tensor((4, 64), "float32"),
        W: T.Tensor((4, 64), "float32"),
        C: T.Tensor((4, 64), "float32"),
    ):
        with T.Kernel(1, is_npu=True) as (_cid, vid):
            a = T.alloc_L1((1, 64), "float32")
            u = T.alloc_ub((32,), "float32")
            for i in range(4):
                with T.Scope("C"):
                    T.ascend.data_copy_in_count(a, A[i, 0], 64)
                    T.set_flag("mte2", "mte3", 0)
                    T.wait_flag("mte2", "mte3", 0)
                    T.ascend.data_copy_l1_out_count(W[i, 0], a, 64)
                    T.set_flag("mte3", "mte2", 0)
                    T.wait_flag("mte3", "mte2", 0)
                    T.set_cross_flag("mte3", 1)
                with T.Scope("V"):
                    T.wait_cross_flag(1)
                    T.copy(W[i, vid * 32], u)
                    T.copy(u, C[i, vid * 32])

    x = np.arange(256, dtype="float32").reshape(4, 64)
    kernel = compile(ring, out_idx=2)
    assert np.array_equal(kernel(x, np.zeros_like(x)), x)
    assert kernel.source.count("for (") == 2


def kernel_of(statement, is_npu=True):
    """Compile a kernel around a macro; errors name this file."""

    @T.prim_func
    def func(A: T.Tensor((64,), "float32")):
        with T.Kernel(1, is_npu=is_npu):
            statement(A)

    return compile(func)


def test_misuse_names_the_line_and_what_to_write():
    @T.macro
    def unscoped(A):
        T.set_cross_flag("MTE3", 0)

    @T.macro
    def vector_in_cube(A):
        with T.Scope("C"):
            T.ascend.sync_all()

    @T.macro
    def scope(A):
        with T.Scope("C"):
            T.barrier_all()

    @T.macro
    def nowhere(A):
        with T.Scope("X"):
            T.barrier_all()

    @T.macro
    def no_pipe(A):
        with T.Scope("C"):
            T.set_cross_flag("MTE9", 0)

    with pytest.raises(UnscopedStatement, match=r"test_mixed.py:\d+: CrossCoreSetFlag .*T.Scope"):
        kernel_of(unscoped)
    with pytest.raises(WrongCore, match=r"test_mixed.py:\d+: SyncAll cannot run on AIC"):
        kernel_of(vector_in_cube)
    with pytest.raises(ScopeWithoutAiCore, match=r"test_mixed.py:\d+: .*is_npu=True"):
        kernel_of(scope, is_npu=False)
    with pytest.raises(UnknownCoreScope, match="use 'C' or 'V'"):
        kernel_of(nowhere)
    with pytest.raises(UnknownPipe, match="the pipes of an Ascend core are V, M"):
        kernel_of(no_pipe)


def test_a_kernel_of_both_kinds_without_scopes_says_what_to_write():
    @T.prim_func
    def both():
        with T.Kernel(1):
            a = T.alloc_L1((16, 8), "float32")
            T.ascend.fill_l1(a, 1, 2, 0, T.float32(0))
            u = T.alloc_ub((64,), "float32")
            T.fill(u, 0)

    with pytest.raises(MixedKernel, match="is_npu=True"):
        compile(both)

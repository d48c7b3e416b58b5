# SPDX-License-Identifier: Apache-2.0
"""Flags and barriers that order nothing in a run are listed, with what they cost."""

import numpy as np
import pytest

from tests.mixed_kernels import matmul_bias_relu
from tvm_ascend import Options, SimOptions, compile, dev
from tvm_ascend import language as T
from tvm_ascend.errors import OptionError
from tvm_ascend.runtime import launch

ASKED = SimOptions(redundant=True)


@T.prim_func
def with_idle_syncs(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32"),
                    C: T.Tensor((64,), "float32")):  # fmt: skip
    with T.Kernel(1):
        a = T.alloc_ub((64,), "float32")
        b = T.alloc_ub((64,), "float32")
        T.ascend.data_copy_pad_in(a[0], A[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        T.ascend.pipe_barrier("MTE2")
        T.ascend.data_copy_pad_in(b[0], B[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        T.ascend.set_flag("MTE2_V", 0)
        T.ascend.wait_flag("MTE2_V", 0)
        T.ascend.add(a[0], a[0], b[0], 64)
        T.ascend.set_flag("V_MTE3", 0)
        T.ascend.wait_flag("V_MTE3", 0)
        T.ascend.set_flag("V_MTE3", 1)
        T.ascend.wait_flag("V_MTE3", 1)
        T.ascend.data_copy_pad_out(C[0], a[0], 1, 256, 0, 0)


@T.prim_func
def in_place(A: T.Tensor((4, 256), "float32")):
    with T.Kernel(1):
        a = T.alloc_fragment((256,))
        for i in T.serial(4):
            T.copy(A[i, 0], a)
            for j in T.Parallel(256):
                a[j] = a[j] + 1.0
            T.copy(a, A[i, 0])


def texts(report):
    return [[text for text, _ in sync.statements] for sync in report.redundant]


def test_idle_syncs_are_listed_and_needed_ones_are_not():
    kernel = compile(with_idle_syncs, out_idx=2)
    inputs = [np.arange(64, dtype="float32")] * 2
    report = kernel.profile(*inputs, sim=ASKED)
    barrier, first, second = report.redundant
    assert texts(report) == [
        ['T.ascend.pipe_barrier("MTE2")'],
        ['T.ascend.set_flag("V_MTE3", 0)', 'T.ascend.wait_flag("V_MTE3", 0)'],
        ['T.ascend.set_flag("V_MTE3", 1)', 'T.ascend.wait_flag("V_MTE3", 1)'],
    ]
    assert all("test_redundant.py:" in line for _, line in barrier.statements)
    # The barrier holds the second copy until the first has come; the flags stand in for each other.
    assert barrier.cycles > max(first.cycles, second.cycles) >= 0
    assert f"redundant sync, costs {barrier}" in report.text()


def test_the_cost_is_what_the_launch_takes_less():
    kernel = compile(with_idle_syncs, out_idx=2)
    inputs = [np.arange(64, dtype="float32")] * 2
    report = kernel.profile(*inputs, sim=ASKED)
    verdicts = [v for v in dev.prove_sync(kernel, *inputs).verdicts if v.verdict == "redundant"]
    assert len(verdicts) == len(report.redundant)
    # A proof generates the code anew, without the statements: their fetch is saved too.
    assert all(s.cycles <= v.cycles for s, v in zip(report.redundant, verdicts, strict=True))


def test_every_sync_of_the_compiler_is_needed_and_tensors_stay_as_one_run_leaves_them():
    kernel = compile(in_place)
    tensor = np.zeros((4, 256), "float32")
    report = kernel.profile(tensor, sim=ASKED)
    assert len(dev.syncs(kernel)) > 0
    assert report.redundant == []
    np.testing.assert_array_equal(tensor, 1)


def test_nothing_is_listed_unless_asked_for():
    kernel = compile(with_idle_syncs, out_idx=2)
    report = kernel.profile(*[np.zeros(64, "float32")] * 2, sim=SimOptions())
    assert report.redundant == ()


def test_both_executors_agree():
    inputs = [np.arange(64, dtype="float32")] * 2
    costs = []
    for executor in ("simulator", "twin"):
        kernel = compile(with_idle_syncs, out_idx=2, options=Options(executor=executor))
        report = kernel.profile(*inputs, sim=ASKED)
        costs.append([sync.cycles for sync in report.redundant])
    assert costs[0] == costs[1]
    assert len(costs[0]) == 3


def test_flags_between_cores(rng):
    kernel = compile(matmul_bias_relu(96, 32, 32))
    a, b = (rng.integers(-3, 4, shape).astype("float16") for shape in ((96, 32), (32, 32)))
    bias, work = np.zeros(32, "float32"), np.zeros((2, 2, 32, 32), "float32")
    c = np.zeros((96, 32), "float32")
    report = kernel.profile(a, b, bias, work, c, sim=ASKED)
    np.testing.assert_array_equal(c, np.maximum(a.astype("float32") @ b.astype("float32"), 0))
    listed = {text for group in texts(report) for text in group}
    assert not any("cross_core_wait_flag(0" in text for text in listed), listed


def test_without_hazards_nothing_can_be_said():
    with pytest.raises(OptionError, match="redundant"):
        SimOptions(redundant=True, hazards=False)


def test_a_checker_that_is_blind_would_list_all(monkeypatch):
    kernel = compile(with_idle_syncs, out_idx=2)
    inputs = [np.zeros(64, "float32")] * 2
    seen = kernel.profile(*inputs, sim=ASKED).redundant
    again = launch._again

    def without_hazards(run, args, before, options):
        return again(run, args, before, {**options, "hazards": False})

    monkeypatch.setattr(launch, "_again", without_hazards)
    assert len(kernel.profile(*inputs, sim=ASKED).redundant) > len(seen)

# SPDX-License-Identifier: Apache-2.0
"""Builder and runner: artifacts in directories of their own, reasons instead of exceptions."""

from __future__ import annotations

from pathlib import Path

import pytest
from tvm.s_tir.meta_schedule.arg_info import ArgInfo
from tvm.s_tir.meta_schedule.builder import BuilderInput
from tvm.s_tir.meta_schedule.runner import RunnerInput
from tvm.s_tir.meta_schedule.utils import remove_build_dir
from tvm.target import Target

from tvm_ascend import Options, compile
from tvm_ascend.tune import measure
from tvm_ascend.tune.database import workload
from tvm_ascend.tune.measure import SimulatorBuilder, SimulatorRunner
from tvm_ascend.tune.space import Space


@pytest.fixture
def inputs(matmul, chip, scheduled):
    space, target = Space(matmul, chip), Target("ascend")
    every = [space.default, space.legal[0]]
    return [BuilderInput(scheduled(space, matmul, d).mod, target) for d in every]


def test_every_artifact_has_a_new_directory_of_its_own(inputs, tmp_path):
    built = SimulatorBuilder(tmp_path).build([*inputs, inputs[0]])
    homes = [Path(str(result.artifact_path)).parent for result in built]
    assert len(set(homes)) == 3
    assert all(home.parent == tmp_path for home in homes)
    assert all(len(list(home.iterdir())) == 1 for home in homes)


def test_clean_up_deletes_one_artifact_and_nothing_else(inputs, tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_text("keep me")
    first, second = SimulatorBuilder(tmp_path).build(inputs)
    remove_build_dir(str(first.artifact_path))
    assert not Path(str(first.artifact_path)).parent.exists()
    assert Path(str(second.artifact_path)).exists()
    assert precious.read_text() == "keep me"


def test_without_a_directory_clean_up_stays_inside_the_candidates_own(inputs):
    (built,) = SimulatorBuilder().build(inputs[:1])
    home = Path(str(built.artifact_path)).parent
    assert home.name.startswith("candidate-")
    remove_build_dir(str(built.artifact_path))
    assert not home.exists()
    assert home.parent.exists()


def test_runner_times_what_the_kernel_takes(inputs, matmul, chip, tmp_path):
    space = Space(matmul, chip)
    args = ArgInfo.from_entry_func(workload(matmul), True)
    for build_input, decisions in zip(inputs, (space.default, space.legal[0]), strict=True):
        (built,) = SimulatorBuilder(tmp_path).build([build_input])
        assert built.error_msg is None
        runs = SimulatorRunner().run([RunnerInput(built.artifact_path, "ext_dev", args)] * 2)
        first, second = (float(run.result().run_secs[0]) for run in runs)
        assert first == second
        options = Options(overrides=space.overrides(decisions), cache=False)
        kernel = compile(matmul, options=options)
        _, report = kernel.run(*zeros(kernel), sim=measure.TIMING_ONLY)
        assert round(first * chip.clock_hz) == report.cycles


def zeros(kernel):
    import numpy as np

    return [np.zeros(p.shape, p.dtype) for p in kernel.artifact.params]


def test_a_candidate_that_does_not_compile_gives_a_reason(inputs, tmp_path, monkeypatch):
    def refuse(*_):
        raise ValueError("no such tile\nsecond line")

    monkeypatch.setattr(measure, "lower", refuse)
    (built,) = SimulatorBuilder(tmp_path).build(inputs[:1])
    assert built.artifact_path is None
    assert built.error_msg == "ValueError: no such tile"
    assert list(tmp_path.iterdir()) == []


def test_an_artifact_that_does_not_run_gives_a_reason(matmul, tmp_path):
    broken = tmp_path / "program.json"
    broken.write_text("not json")
    args = ArgInfo.from_entry_func(workload(matmul), True)
    (run,) = SimulatorRunner().run([RunnerInput(str(broken), "ext_dev", args)])
    assert run.result().run_secs is None
    assert "JSONDecodeError" in run.result().error_msg

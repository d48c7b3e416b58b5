# SPDX-License-Identifier: Apache-2.0
"""MetaSchedule's builder and runner on this compiler and the simulator in timing-only mode."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import tvm
from tvm import tirx
from tvm.ir.utils import derived_object
from tvm.s_tir.meta_schedule.arg_info import TensorInfo
from tvm.s_tir.meta_schedule.builder import BuilderInput, BuilderResult, PyBuilder
from tvm.s_tir.meta_schedule.runner import PyRunner, PyRunnerFuture, RunnerInput, RunnerResult

from tvm_ascend.codegen.program import build_program
from tvm_ascend.options import SimOptions
from tvm_ascend.pipeline import lower
from tvm_ascend.runtime.simulator import SimulatorExecutor
from tvm_ascend.target import chip_of

TIMING_ONLY = SimOptions(numerics=False, hazards=False)
_FILE = "program.json"


def reason_of(error: Exception) -> str:
    """An error as one line of a table of reasons."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else 'no message'}"


@derived_object
class SimulatorBuilder(PyBuilder):
    """Compiles scheduled functions to simulator programs.

    Parameters
    ----------
    directory : where to put artifacts; default: the system's temporary directory.
    overrides : choices of passes after the schedule, by name.
    watch : called after each candidate.

    Every artifact gets a new directory of its own, because MetaSchedule's default clean-up removes
    the whole directory that holds an artifact.
    """

    def __init__(
        self,
        directory: str | Path | None = None,
        overrides: Mapping[str, int] | None = None,
        watch: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self.directory = directory
        self.overrides = dict(overrides or {})
        self.watch = watch

    def build(self, build_inputs: list[BuilderInput]) -> list[BuilderResult]:
        """One result for every input; an error becomes a reason."""
        results = []
        for build_input in build_inputs:
            results.append(self._build(build_input))
            if self.watch:
                self.watch()
        return results

    def _build(self, build_input: BuilderInput) -> BuilderResult:
        try:
            func = _only_function(build_input.mod).with_attr("target", build_input.target)
            program = build_program(lower(func, self.overrides).final, chip_of(func))
            directory = Path(tempfile.mkdtemp(prefix="candidate-", dir=self.directory))
            content = {"table": program.table, "control": tvm.ir.save_json(program.control)}
            (directory / _FILE).write_text(json.dumps(content))
        except Exception as error:  # one candidate must not end the search
            return BuilderResult(None, reason_of(error))
        return BuilderResult(str(directory / _FILE), None)


def _only_function(mod: tvm.IRModule) -> tirx.PrimFunc:
    functions = [f for f in mod.functions.values() if isinstance(f, tirx.PrimFunc)]
    assert len(functions) == 1, f"a candidate holds {len(functions)} functions"
    return functions[0]


@derived_object
class SimulatorRunner(PyRunner):
    """Times programs on the simulator; the same program takes the same time on every machine."""

    def __init__(self) -> None:
        super().__init__()
        self._tensors: dict[tuple, tvm.runtime.Tensor] = {}

    def run(self, runner_inputs: list[RunnerInput]):
        """Finished futures, one for every input."""
        return [_Finished(self._run(runner_input)) for runner_input in runner_inputs]

    def _run(self, runner_input: RunnerInput) -> RunnerResult:
        try:
            content = json.loads(Path(runner_input.artifact_path).read_text())
            executor = SimulatorExecutor(content["table"], content["control"])
            args = [self._argument(*item) for item in enumerate(runner_input.args_info)]
            report = executor.launch(args, TIMING_ONLY)
        except Exception as error:  # one candidate must not end the search
            return RunnerResult(None, reason_of(error))
        return RunnerResult([report.time_us * 1e-6], None)

    def _argument(self, position: int, info):
        """A tensor of zeros: timing does not look at values, only at which bytes are the same."""
        assert isinstance(info, TensorInfo), f"cannot make an argument for {info}"
        dtype, shape = str(info.dtype), tuple(int(extent) for extent in info.shape)
        key = (position, dtype, shape)
        if key not in self._tensors:
            self._tensors[key] = tvm.runtime.tensor(np.zeros(shape, dtype))
        return self._tensors[key]


@derived_object
class _Finished(PyRunnerFuture):
    def __init__(self, result: RunnerResult) -> None:
        super().__init__()
        self._result = result

    def done(self) -> bool:
        return True

    def result(self) -> RunnerResult:
        return self._result

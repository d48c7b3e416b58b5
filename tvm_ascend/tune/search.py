# SPDX-License-Identifier: Apache-2.0
"""One MetaSchedule search: evolutionary, with an XGBoost cost model, on a builder and a runner."""

from __future__ import annotations

import contextlib
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import tvm
from tvm import s_tir
from tvm.ir.utils import derived_object
from tvm.s_tir.meta_schedule.arg_info import ArgInfo
from tvm.s_tir.meta_schedule.builder import Builder, BuilderInput
from tvm.s_tir.meta_schedule.database import MemoryDatabase, TuningRecord
from tvm.s_tir.meta_schedule.measure_callback import (
    AddToDatabase,
    PyMeasureCallback,
    RemoveBuildArtifact,
    UpdateCostModel,
)
from tvm.s_tir.meta_schedule.runner import Runner, RunnerInput
from tvm.s_tir.meta_schedule.search_strategy import EvolutionarySearch
from tvm.s_tir.meta_schedule.tune import tune_tasks
from tvm.s_tir.meta_schedule.tune_context import TuneContext
from tvm.target import Target

from tvm_ascend.tune.cost_model import TileCostModel
from tvm_ascend.tune.moves import design_space
from tvm_ascend.tune.space import Space

BATCH = 16
_POPULATION = 48
_LEAST = 8
_GENERATIONS = 2
_MEASURED_SHARE = 0.5
_INTRINSICS = "tvm.s_tir.tensor_intrin"

Measured = Callable[[list[dict[str, int]], list[float | None], list[str | None]], None]
"""Told of every batch: decisions, seconds and errors of each candidate."""


class Search:
    """The search for one function on one builder and runner.

    Parameters
    ----------
    space : what may be decided.
    module : the function as stored in databases.
    target : passed to the builder.
    """

    def __init__(
        self, space: Space, module: tvm.IRModule, target: Target, builder: Builder, runner: Runner
    ) -> None:
        self.space, self.module, self.target = space, module, target
        self.builder, self.runner = builder, runner
        self.pruned: Counter[str] = Counter()
        self._database = MemoryDatabase()
        self._args = ArgInfo.from_entry_func(module, True)

    def measure(self, decisions: dict[str, int]) -> tuple[float | None, str | None]:
        """Build and run one candidate outside the search; the search starts from it."""
        sch = s_tir.Schedule(self.module, debug_mask=0)
        self.space.schedule(sch, decisions)
        (built,) = self.builder.build([BuilderInput(sch.mod, self.target)])
        if built.error_msg is not None:
            return None, str(built.error_msg)
        device = self.target.kind.name
        (future,) = self.runner.run([RunnerInput(built.artifact_path, device, self._args)])
        result = future.result()
        if result.error_msg is not None:
            return None, str(result.error_msg)
        seconds = float(result.run_secs[0])
        self._database.commit_tuning_record(self.record(sch.trace, seconds))
        return seconds, None

    def record(self, trace: s_tir.schedule.Trace, seconds: float) -> TuningRecord:
        """A database record of this function."""
        workload = self._database.commit_workload(self.module)
        return TuningRecord(trace, workload, [seconds], self.target, self._args)

    def run(self, trials: int, seed: int, measured: Measured) -> None:
        """Measure up to ``trials`` candidates, fewer when the search finds no more."""
        batch = min(BATCH, trials)
        population = min(_POPULATION, max(3 * trials, _LEAST), len(self.space.legal))
        with without_cuda_intrinsics(), _numpy_seed(seed):
            context = TuneContext(
                self.module,
                target=self.target,
                space_generator=design_space(self.space, self.pruned),
                search_strategy=EvolutionarySearch(
                    population_size=population,
                    init_measured_ratio=_MEASURED_SHARE,
                    genetic_num_iters=_GENERATIONS,
                    init_min_unmeasured=min(batch, population),
                ),
                rand_state=1 + seed % (2**30),
                num_threads=1,
            )
            tune_tasks(
                tasks=[context],
                task_weights=[1.0],
                work_dir="",
                max_trials_global=trials,
                num_trials_per_iter=batch,
                builder=self.builder,
                runner=self.runner,
                database=self._database,
                cost_model=TileCostModel(self.space, seed),
                measure_callbacks=[
                    _Tell(self.space, measured),
                    AddToDatabase(),
                    UpdateCostModel(),
                    RemoveBuildArtifact(),
                ],
                task_scheduler="round-robin",
            )


@derived_object
class _Tell(PyMeasureCallback):
    def __init__(self, space: Space, measured: Measured) -> None:
        super().__init__()
        self.space = space
        self.measured = measured

    def apply(self, task_scheduler, task_id, measure_candidates, builder_results, runner_results):
        decisions = [self.space.decisions(c.sch.trace) for c in measure_candidates]
        seconds = [_seconds(result) for result in runner_results]
        errors = [
            str(run.error_msg) if run.error_msg is not None else None for run in runner_results
        ]
        self.measured(decisions, seconds, errors)


def _seconds(result) -> float | None:
    return float(result.run_secs[0]) if result.error_msg is None and result.run_secs else None


@contextlib.contextmanager
def without_cuda_intrinsics() -> Iterator[None]:
    """Keep TuneContext from importing intrinsics for CUDA and others, which takes 15 seconds."""
    absent = _INTRINSICS not in sys.modules
    if absent:
        sys.modules[_INTRINSICS] = types.ModuleType(_INTRINSICS)
    try:
        yield
    finally:
        if absent:
            del sys.modules[_INTRINSICS]


@contextlib.contextmanager
def _numpy_seed(seed: int) -> Iterator[None]:
    """TVM's cost models draw random scores from numpy's global state."""
    state = np.random.get_state()
    np.random.seed(seed % 2**32)
    try:
        yield
    finally:
        np.random.set_state(state)

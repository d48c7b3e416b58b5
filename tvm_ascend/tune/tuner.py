# SPDX-License-Identifier: Apache-2.0
"""``tune``: search, check the answers, keep the best, say why it wins."""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from tvm import IRModule, s_tir, tirx
from tvm.target import Target

from tvm_ascend import cache
from tvm_ascend.build import Kernel, compile, one_function
from tvm_ascend.errors import (
    AscendError,
    EveryCandidateFailed,
    MissingPackage,
    OptionError,
    TrialCount,
)
from tvm_ascend.options import Options, SimOptions, options_or_default, require
from tvm_ascend.runtime.report import Report
from tvm_ascend.schedule.tiling import OVERRIDES
from tvm_ascend.target import as_target, chip_of
from tvm_ascend.tune.database import key, open_database, workload
from tvm_ascend.tune.interrupt import Interrupt
from tvm_ascend.tune.measure import TIMING_ONLY, SimulatorBuilder, SimulatorRunner, reason_of
from tvm_ascend.tune.progress import Progress
from tvm_ascend.tune.result import Trial, TuneResult
from tvm_ascend.tune.search import Search
from tvm_ascend.tune.space import Space
from tvm_ascend.tune.verify import Oracle

_PACKAGES = {"xgboost": "xgboost-cpu", "psutil": "psutil", "cloudpickle": "cloudpickle"}
_STORED = 8


def tune(
    func: tirx.PrimFunc | IRModule,
    target: str | Target = "ascend",
    trials: int = 64,
    work_dir: str | Path | None = None,
    options: Options | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | bool | None = None,
    keep: int = 3,
) -> TuneResult:
    """Search the fastest schedule of a function on the simulator.

    Parameters
    ----------
    func : a schedulable function (s_tir blocks) that holds one matrix multiply, or a module of one.
    target : the chip.
    trials : how many candidates to measure, at most as many as there are.
    work_dir : where the database is kept; default: ``tuning`` in the cache directory. Results found
        there are where the search starts.
    options : its ``overrides`` are choices the search must leave alone; always on the simulator.
    seed : the same seed and database give the same result.
    progress : None writes one live line to stderr, False nothing, a function gets every line.
    keep : how many of the fastest results are checked for the right answer and stored.

    Raises
    ------
    AscendError : for anything that is the caller's mistake, when the default schedule does not
        compile, and when no candidate is right.
    KeyboardInterrupt : after Ctrl-C, when the best so far is checked and stored.
    """
    _check_request(trials)
    options = options_or_default(options)
    require("seed", seed, int, "an integer")
    require("keep", keep, int, "an integer")
    _check_progress(progress)
    target = as_target(target)
    func = one_function(func).with_attr("target", target)
    session = _Session(func, target, work_dir, options)
    return session.run(trials, seed, progress, max(1, keep))


def _check_progress(show: object) -> None:
    if not (show is None or isinstance(show, bool) or callable(show)):
        raise OptionError("progress", show, "None, True, False or a function of one line")


def _check_request(trials: int) -> None:
    if not isinstance(trials, int) or isinstance(trials, bool) or trials < 1:
        raise TrialCount(trials)
    for package, install in _PACKAGES.items():
        if importlib.util.find_spec(package) is None:
            raise MissingPackage(package, install)


class _Session:
    """Everything one call of ``tune`` holds while it runs."""

    def __init__(
        self, func: tirx.PrimFunc, target: Target, work_dir: str | Path | None, options: Options
    ) -> None:
        self.func, self.target = func, target
        self.options = replace(options, executor="simulator", sim=SimOptions())
        self.chip = chip_of(target)
        self.name = str(func.attrs["global_symbol"])
        self.space = Space(func, self.chip, options.overrides)
        work_dir = cache.directory() / "tuning" if work_dir is None else work_dir
        self.database = open_database(work_dir, self.chip)
        self.work_dir = Path(work_dir)
        self.module = workload(func)
        self.seconds: dict[str, float] = {}
        self.trials: list[Trial] = []
        self.wrong: list[Trial] = []
        self.times: dict[tuple[int, ...], float] = {}
        self.stored: set[tuple[int, ...]] = set()

    def run(
        self, trials: int, seed: int, show: Callable[[str], None] | bool | None, keep: int
    ) -> TuneResult:
        trials = min(trials, len(self.space.legal))
        line, interrupt = Progress(self.name, trials, show), Interrupt()

        def built() -> None:
            line.built()
            interrupt.check()

        default_report = self._report(self.space.default)
        with tempfile.TemporaryDirectory(prefix="tvm_ascend-tune-") as artifacts:
            search = Search(
                self.space,
                self.module,
                self.target,
                SimulatorBuilder(artifacts, self._others(), built),
                SimulatorRunner(),
            )
            try:
                with self._phase("default and stored"):
                    self._start(search, line)
                with self._phase("search"), interrupt:
                    line.started()
                    search.run(trials, seed, self._listener(search, line))
            finally:
                line.close()
        with self._phase("check answers"):
            checked = self._check(search, keep, line)
        if interrupt.requested:
            raise KeyboardInterrupt
        return self._result(search, checked, default_report)

    def _others(self) -> dict[str, int]:
        """Overrides of choices that are not the schedule's."""
        return {k: v for k, v in self.options.overrides.items() if k not in OVERRIDES}

    def _start(self, search: Search, line: Progress) -> None:
        """Measure the default and what earlier searches stored."""
        stored = self.database.get_top_k(self.database.commit_workload(self.module), _STORED)
        starts = [self.space.default, *(self.space.decisions(r.trace) for r in stored)]
        self.stored = {(*self.space.decisions(r.trace).values(),) for r in stored}
        for decisions in starts:
            if tuple(decisions.values()) in self.times or self.space.misfit(decisions):
                continue
            seconds, error = search.measure(decisions)
            if seconds is not None:
                self.times[tuple(decisions.values())] = seconds
            elif decisions == self.space.default:
                self.trials.append(self._trial(decisions, None, error))
        first = self.times.get(tuple(self.space.default.values()))
        line.default = None if first is None else self._cycles(first)
        line.best = self._cycles(min(self.times.values())) if self.times else None

    def _listener(self, search: Search, line: Progress):
        def measured(
            decisions: list[dict[str, int]], seconds: list[float | None], errors: list[str | None]
        ) -> None:
            batch = []
            for each, time_, error in zip(decisions, seconds, errors, strict=True):
                batch.append(self._trial(each, time_, error))
                if time_ is not None:
                    self.times[tuple(each.values())] = time_
            self.trials += batch
            line.measured([trial.cycles for trial in batch], sum(search.pruned.values()))

        return measured

    def _check(self, search: Search, keep: int, line: Progress) -> list[dict[str, int]]:
        """Run the fastest with every check on; store those that are right, fastest first."""
        oracle = Oracle(self.func)
        right: list[dict[str, int]] = []
        for values, seconds in sorted(self.times.items(), key=lambda item: item[1]):
            if len(right) == keep:
                break
            decisions = dict(zip(self.space.options, values, strict=True))
            line.say(f"checking the answer of number {len(right) + len(self.wrong) + 1}")
            problem = self._disagreement(oracle, decisions)
            if problem is not None:
                self.wrong.append(self._trial(decisions, seconds, problem))
                continue
            right.append(decisions)
            if values not in self.stored:
                self._store(search, decisions, seconds)
        line.close()
        if not right:
            reasons: dict[str, int] = {}
            for trial in [*self.trials, *self.wrong]:
                if trial.error:
                    reasons[trial.error] = reasons.get(trial.error, 0) + 1
            raise EveryCandidateFailed(self.name, len(self.trials), {**reasons, **search.pruned})
        return right

    def _disagreement(self, oracle: Oracle, decisions: Mapping[str, int]) -> str | None:
        try:
            return oracle.disagreement(self._compile(decisions))
        except AscendError as error:
            return reason_of(error)

    def _store(self, search: Search, decisions: dict[str, int], seconds: float) -> None:
        sch = s_tir.Schedule(self.module, debug_mask=0)
        self.space.schedule(sch, decisions)
        self.database.commit_workload(self.module)
        self.database.commit_tuning_record(search.record(sch.trace, seconds))

    def _compile(self, decisions: Mapping[str, int]) -> Kernel:
        overrides = {**self.options.overrides, **self.space.overrides(decisions)}
        return compile(self.func, self.target, options=replace(self.options, overrides=overrides))

    def _report(self, decisions: Mapping[str, int]) -> Report:
        kernel = self._compile(decisions)
        args = [np.zeros(p.shape, p.dtype) for p in kernel.artifact.params]
        return kernel.profile(*args, sim=TIMING_ONLY)

    def _result(
        self, search: Search, right: list[dict[str, int]], default_report: Report
    ) -> TuneResult:
        return TuneResult(
            kernel=self.name,
            chip=self.chip.name,
            overrides=self.space.overrides(right[0]),
            default_overrides=self.space.overrides(self.space.default),
            report=self._report(right[0]),
            default_report=default_report,
            trials=tuple(self.trials),
            pruned=dict(search.pruned),
            wrong=tuple(self.wrong),
            checked=len(right),
            work_dir=self.work_dir,
            database=self.work_dir / key(self.chip),
            seconds=dict(self.seconds),
        )

    def _trial(
        self, decisions: Mapping[str, int], seconds: float | None, error: str | None
    ) -> Trial:
        cycles = None if seconds is None else self._cycles(seconds)
        return Trial(overrides=self.space.overrides(decisions), cycles=cycles, error=error)

    def _cycles(self, seconds: float) -> int:
        return round(seconds * self.chip.clock_hz)

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start

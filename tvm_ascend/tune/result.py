# SPDX-License-Identifier: Apache-2.0
"""What a search found, and why it is faster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tvm_ascend.runtime.report import Report
from tvm_ascend.tune.explain import comparison, why


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One measured candidate: its choices, and its cycles or the reason it has none."""

    overrides: Mapping[str, int]
    cycles: int | None
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class TuneResult:
    """The outcome of one search.

    Attributes
    ----------
    overrides : the best choices; ``compile(func, options=Options(overrides=...))`` takes them.
    default_overrides : what the default schedule chooses.
    report, default_report : timing of both, from the simulator.
    trials : every measured candidate in order.
    pruned : candidates dropped before building, by reason.
    wrong : candidates that were fast and gave a wrong answer or a hazard; they are not stored.
    checked : how many results were run with every check on and agree with TVM's CPU result.
    work_dir : where the database is; ``best(work_dir, func)`` reads it in another process.
    database : the directory of this chip and these versions in ``work_dir``.
    seconds : wall time by phase.
    """

    kernel: str
    chip: str
    overrides: Mapping[str, int]
    default_overrides: Mapping[str, int]
    report: Report = field(repr=False)
    default_report: Report = field(repr=False)
    trials: Sequence[Trial] = field(repr=False)
    pruned: Mapping[str, int]
    wrong: Sequence[Trial]
    checked: int
    work_dir: Path
    database: Path
    seconds: Mapping[str, float]

    @property
    def cycles(self) -> int:
        """Cycles with the best choices."""
        return self.report.cycles

    @property
    def default_cycles(self) -> int:
        """Cycles of the default schedule."""
        return self.default_report.cycles

    @property
    def speedup(self) -> float:
        """Default cycles over tuned cycles."""
        return self.default_cycles / self.cycles

    @property
    def failures(self) -> dict[str, int]:
        """How many candidates could not be compiled or run, by reason."""
        count: dict[str, int] = {}
        for trial in self.trials:
            if trial.error is not None:
                count[trial.error] = count.get(trial.error, 0) + 1
        return count

    def why(self) -> str:
        """One sentence: what the best choices do differently, by the numbers of both reports."""
        if self.overrides == self.default_overrides:
            return "nothing that was tried is faster than the default schedule"
        return why(self.default_report, self.report)

    def text(self) -> str:
        """A few lines for people."""
        choices = [_change(n, self.default_overrides[n], v) for n, v in self.overrides.items()]
        counts = (
            f"{len(self.trials)} trials, {sum(self.failures.values())} failed, "
            f"{sum(self.pruned.values())} pruned before building, "
            f"{self.checked} checked bit by bit, {len(self.wrong)} wrong"
        )
        cycles = f"{self.default_cycles:,} -> {self.cycles:,} cycles ({self.speedup:.2f}x)"
        lines = [
            f"{self.kernel} on {self.chip}: {cycles} in {sum(self.seconds.values()):.1f} s",
            f"  {counts}",
            f"  choices: {', '.join(choices)}",
            *(f"  {line}" for line in comparison(self.default_report, self.report)),
            f"  why: {self.why()}",
        ]
        lines += [f"  failed {n} x {reason}" for reason, n in self.failures.items()]
        lines += [f"  pruned {n} x {reason}" for reason, n in self.pruned.items()]
        lines += [f"  WRONG {dict(t.overrides)}: {t.error}" for t in self.wrong]
        lines.append(f"  database {self.database}")
        return "\n".join(lines)


def _change(name: str, before: int, after: int) -> str:
    return f"{name} {after}" if before == after else f"{name} {before} -> {after}"

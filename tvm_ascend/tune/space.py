# SPDX-License-Identifier: Apache-2.0
"""The search space of a function: named decisions, their values, and the schedule they give."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product

from tvm import s_tir, tirx
from tvm.s_tir.schedule import Trace

from tvm_ascend.errors import NothingToTune
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.schedule.default import apply_default_schedule, is_scheduled
from tvm_ascend.schedule.depth import GRID_STAGES, depth_of
from tvm_ascend.schedule.matmul import find_matmul, problem_of, schedule_matmul
from tvm_ascend.schedule.tile_model import Model, Tile
from tvm_ascend.schedule.tiling import (
    CHOICES,
    OVERRIDES,
    candidates,
    choose_tiling,
    misfit,
    unmet,
)
from tvm_ascend.transform.lower_blocks import has_blocks

SAMPLE = "SampleCategorical"
_SHARPNESS = 8.0


def _name(func: tirx.PrimFunc) -> str:
    return str(func.attrs.get("global_symbol", "main")) if func.attrs else "main"


def _rule(func: tirx.PrimFunc, chip: ChipSpec) -> str:
    """Who schedules a function that has no search space."""
    if not has_blocks(func):
        return "it is no loop nest of blocks but says itself how it is tiled"
    if is_scheduled(func):
        return "it is scheduled already"
    _, rule, _ = apply_default_schedule(func, chip, {})
    return f"its schedule rule is {rule!r}, which has no search space"


class Space:
    """The decisions of a matrix multiply and the schedule they give.

    Parameters
    ----------
    func : a schedulable function that one rule with decisions accepts.
    chip : the chip to tune for.
    fixed : decisions that the search may not change, by override name.
    """

    rule = "matmul"

    def __init__(
        self, func: tirx.PrimFunc, chip: ChipSpec, fixed: Mapping[str, int] | None = None
    ) -> None:
        found = find_matmul(func, chip)
        if found is None:
            raise NothingToTune(_name(func), _rule(func, chip))
        self.chip = chip
        fixed = dict(fixed or {})
        self.fixed = {k: v for k, v in fixed.items() if k in OVERRIDES}
        self.problem = problem_of(found[1])
        self._model = Model(self.problem, chip, depth_of(fixed, GRID_STAGES))
        self.default: dict[str, int] = self._names_only(
            choose_tiling(self.problem, chip, fixed).chosen
        )
        options = candidates(self.problem, chip)
        self.options: dict[str, list[int]] = {
            name: [self.fixed[name]]
            if name in self.fixed
            else sorted({*values, self.default[name]})
            for name, values in options.items()
        }

    def schedule(self, sch: s_tir.Schedule, decisions: Mapping[str, int] | None = None) -> None:
        """Apply the rule; every decision is a sampling instruction of the trace.

        Parameters
        ----------
        decisions : what the sampling instructions decide; None leaves it to the schedule's seed.
        """

        def sample(name: str, _: Sequence[int]):
            values = self.options[name]
            index = None if decisions is None else values.index(decisions[name])
            return sch.sample_categorical(values, self.weights[name], index)

        schedule_matmul(sch, sample, self.chip)

    def misfit(self, decisions: Mapping[str, int]) -> str | None:
        """Why these decisions give no legal kernel, or None; arithmetic only."""
        tile = Tile(**decisions)
        return unmet(tile, self.problem, self.fixed) or misfit(tile, self.problem, self.chip)

    def estimate(self, decisions: Mapping[str, int]) -> float:
        """Cycles by the closed form that the default schedule is chosen with."""
        return self._model.estimate(Tile(**decisions)).cycles

    def overrides(self, decisions: Mapping[str, int]) -> dict[str, int]:
        """The same decisions under the names that ``Options.overrides`` takes."""
        named = Tile(**decisions).settled(self.problem).decisions()
        return {name: named[name] for name in CHOICES}

    def decisions(self, trace: Trace) -> dict[str, int]:
        """What the sampling instructions of a trace decided, by name."""
        samples = [inst for inst in trace.insts if inst.kind.name == SAMPLE]
        assert len(samples) == len(self.options), (len(samples), list(self.options))
        return {
            name: int(inst.attrs[0][int(trace.get_decision(inst))])
            for name, inst in zip(self.options, samples, strict=True)
        }

    @cached_property
    def legal(self) -> list[dict[str, int]]:
        """Every combination that fits."""
        every = (
            dict(zip(self.options, values, strict=True))
            for values in product(*self.options.values())
        )
        return [decisions for decisions in every if self.misfit(decisions) is None]

    @cached_property
    def weights(self) -> dict[str, list[float]]:
        """How often to sample each value: half by its share of all legal combinations, half by its
        share of those that are fast by the closed form.

        Uniform sampling would spend most schedules on tiles that overflow or are hopelessly slow.
        """
        fastest = self.estimate(self.default)
        favour = [math.exp(-_SHARPNESS * self.estimate(d) / fastest) for d in self.legal]
        shares = [0.5 / len(favour) + 0.5 * f / sum(favour) for f in favour]
        total: dict[tuple[str, int], float] = defaultdict(float)
        for decisions, share in zip(self.legal, shares, strict=True):
            for choice in decisions.items():
                total[choice] += share
        return {name: [total[name, v] for v in values] for name, values in self.options.items()}

    def _names_only(self, tile: Tile) -> dict[str, int]:
        named = tile.decisions()
        return {name: named[name] for name in candidates(self.problem, self.chip)}

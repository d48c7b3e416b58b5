# SPDX-License-Identifier: Apache-2.0
"""The stage list and the passes between stages, the one place that says what runs when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import tvm
from tvm import tirx

from tvm_ascend.errors import UnknownOverrideError, compiling
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.schedule.default import apply_default_schedule
from tvm_ascend.schedule.tiling import Tiling
from tvm_ascend.target import chip_of
from tvm_ascend.transform.bools_as_bytes import BoolsAsBytes
from tvm_ascend.transform.check_bounds import CheckBounds
from tvm_ascend.transform.check_chip import CheckChip
from tvm_ascend.transform.check_kernel import check_kernel, name_of
from tvm_ascend.transform.choices import decisions_of, with_overrides
from tvm_ascend.transform.clean_cache import CleanCache
from tvm_ascend.transform.clip_tiles import ClipTiles
from tvm_ascend.transform.drop_unused import DropUnused
from tvm_ascend.transform.expand_math import ExpandMath
from tvm_ascend.transform.fold_fill import FoldFill
from tvm_ascend.transform.hoist_copies import HoistCopies
from tvm_ascend.transform.infer_layout import InferLayout
from tvm_ascend.transform.infer_scope import InferScope
from tvm_ascend.transform.insert_sync import InsertSync
from tvm_ascend.transform.issue_ahead import IssueAhead
from tvm_ascend.transform.keep_padding_out import KeepPaddingOut
from tvm_ascend.transform.legalize import Legalize
from tvm_ascend.transform.lower_blocks import has_blocks, lower_schedule
from tvm_ascend.transform.map_cores import MapCores
from tvm_ascend.transform.name_depths import NameDepths
from tvm_ascend.transform.pipeline_loops import Pipeline
from tvm_ascend.transform.plan_memory import PlanMemory
from tvm_ascend.transform.select_instructions import SelectInstructions
from tvm_ascend.transform.sink_tiles import SinkTiles
from tvm_ascend.transform.split_cores import SplitCores
from tvm_ascend.transform.stage_operands import StageOperands
from tvm_ascend.transform.unit_steps import UnitSteps

STAGES: dict[str, tuple[Callable[[], tvm.ir.transform.Pass], ...]] = {
    "input": (),
    "tiled": (
        NameDepths,
        DropUnused,
        CheckBounds,
        KeepPaddingOut,
        SinkTiles,
        MapCores,
        HoistCopies,
    ),
    "scoped": (StageOperands, InferScope),
    "fractal": (FoldFill, ClipTiles, InferLayout),
    "vectorized": (ExpandMath, SelectInstructions, BoolsAsBytes),
    "pipelined": (Pipeline,),
    "split": (SplitCores,),
    "planned": (PlanMemory,),
    "synced": (InsertSync, IssueAhead, CleanCache),
    "final": (Legalize, CheckChip),
}
"""Stage name -> the passes that lead to it from the stage before."""


@dataclass(frozen=True)
class Lowered:
    """One function at every stage, the rule that scheduled it and the choices taken on the way.

    ``decisions`` are the choices an override can replace; ``tiling`` says why the tile was chosen.
    """

    stages: dict[str, tirx.PrimFunc]
    rule: str
    decisions: Mapping[str, int] = field(default_factory=dict)
    tiling: Tiling | None = None

    @property
    def final(self) -> tirx.PrimFunc:
        """The function that both code generators read."""
        return self.stages["final"]


def lower(func: tirx.PrimFunc, overrides: Mapping[str, int] | None = None) -> Lowered:
    """Take one function with an Ascend target through every stage.

    Parameters
    ----------
    func : schedulable TIR (blocks), a tile-language kernel, or plain loops; carries ``target``.
    overrides : automatic choices replaced by name.

    Raises
    ------
    AscendError : for anything the chip cannot do, naming the user's line.
    """
    with compiling(name_of(func)):
        return _lower(func, dict(overrides or {}))


def _lower(func: tirx.PrimFunc, overrides: dict[str, int]) -> Lowered:
    check_kernel(func)
    chip: ChipSpec = chip_of(func)
    stages = {"input": func}
    func = _run(UnitSteps(), func)
    rule, decisions = "", {}
    if has_blocks(func):
        func, rule, decisions = apply_default_schedule(func, chip, overrides)
        func = lower_schedule(func)
    func = with_overrides(func, overrides, decisions)
    for stage, passes in STAGES.items():
        for make in passes:
            func = _run(make(), func)
        if stage != "input":
            stages[stage] = func
    tiling = decisions.pop("tiling", None)
    decisions = {**decisions_of(func), **decisions}
    unknown = sorted(set(overrides) - set(decisions))
    if unknown:
        raise UnknownOverrideError(unknown[0], decisions)
    return Lowered(stages, rule, decisions, tiling)


def _run(transform: tvm.ir.transform.Pass, func: tirx.PrimFunc) -> tirx.PrimFunc:
    return transform(tvm.IRModule({"main": func}))["main"]

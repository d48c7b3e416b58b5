# SPDX-License-Identifier: Apache-2.0
"""The list of default rules: the first that takes a function schedules it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import tvm
import tvm_ffi
from tvm import s_tir, tirx

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.schedule.elementwise import elementwise_rule
from tvm_ascend.schedule.matmul import matmul_rule
from tvm_ascend.schedule.row_reduction import row_reduction_rule
from tvm_ascend.schedule.scalar import scalar_schedule

Rule = Callable[[tirx.PrimFunc, ChipSpec, Mapping[str, int]], "tuple[s_tir.Schedule, dict] | None"]

RULES: tuple[tuple[str, Rule], ...] = (
    ("matmul", matmul_rule),
    ("elementwise", elementwise_rule),
    ("row_reduction", row_reduction_rule),
)


def is_scheduled(func: tirx.PrimFunc) -> bool:
    """Whether somebody already decided how a function runs: it says so, or binds blockIdx.x."""
    if func.attrs and "tirx.is_scheduled" in func.attrs and bool(func.attrs["tirx.is_scheduled"]):
        return True
    found: list = []

    def bound(loop: tirx.For) -> None:
        if loop.kind == tirx.ForKind.THREAD_BINDING:
            found.append(loop)

    tvm_ffi.structural_walk(func.body, [(tirx.For, bound)])
    return bool(found)


def apply_default_schedule(
    func: tirx.PrimFunc | tvm.IRModule, chip: ChipSpec, overrides: Mapping[str, int]
) -> tuple[tirx.PrimFunc, str, dict]:
    """Schedule a function by the first rule that takes it.

    Returns the function, the name of the rule (``"scheduled"`` when the user already did it,
    ``"scalar"`` when no rule applies) and the decisions taken.
    """
    if isinstance(func, tvm.IRModule):
        func = func["main"]
    if is_scheduled(func):
        return func, "scheduled", {}
    for name, rule in RULES:
        found = rule(func, chip, overrides)
        if found is not None:
            schedule, decisions = found
            return schedule.mod["main"].with_attr("tirx.is_scheduled", True), name, decisions
    return scalar_schedule(func), "scalar", {}

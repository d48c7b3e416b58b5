# SPDX-License-Identifier: Apache-2.0
"""Change one choice of the compiler at a time, from outside the kernel, and log what it did."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tvm import IRModule, tirx
from tvm.target import Target

from tvm_ascend.build import Kernel, compile
from tvm_ascend.errors import StagesNotReached, UnknownOverrideError
from tvm_ascend.options import Options, options_or_default, require
from tvm_ascend.runtime.report import Report
from tvm_ascend.transform.plan_memory import memory_map


@dataclass(frozen=True)
class Change:
    """One logged change: a name, its values, and what the kernel did before and after.

    ``same`` tells whether the outputs are equal to the ones before, bit by bit. ``others`` are the
    choices that could not stay, with their values before and after; None where there is no such
    choice.
    """

    name: str
    value_before: Any
    value_after: Any
    cycles_before: int
    cycles_after: int
    bytes_before: int
    bytes_after: int
    same: bool
    others: Mapping[str, tuple[int | None, int | None]]

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.value_before} -> {self.value_after}; "
            f"cycles {self.cycles_before} -> {self.cycles_after} "
            f"({self.cycles_after / self.cycles_before - 1:+.1%}); "
            f"on-chip bytes {self.bytes_before} -> {self.bytes_after}; "
            f"outputs {'unchanged' if self.same else 'CHANGED'}"
            + "".join(f"; {name} {old} -> {new}" for name, (old, new) in self.others.items())
        )


class Workbench:
    """A kernel with inputs, recompiled and rerun at each change; every other choice stays pinned.

    A choice that a change takes away, or a depth that its loop has no room for any more, is chosen
    anew and named in the log.

    Parameters
    ----------
    func, target, out_idx, options : as for ``tvm_ascend.compile``.
    inputs : the arguments of every run, numpy arrays or torch tensors; each run gets copies.
    """

    def __init__(
        self,
        func: tirx.PrimFunc | IRModule,
        inputs: Sequence,
        *,
        target: str | Target = "ascend",
        out_idx: int | Sequence[int] | None = None,
        options: Options | None = None,
    ) -> None:
        self._func, self._target, self._out_idx = func, target, out_idx
        require("inputs", inputs, (list, tuple), "a list or tuple of the arguments of a run")
        self._inputs = tuple(inputs)
        self._options = options_or_default(options)
        self.log: list[Change] = []
        self.kernel, self.report, self.outputs = self._run(dict(self._options.overrides))

    @property
    def choices(self) -> dict[str, Any]:
        """Every choice that can be changed, with its value now."""
        return dict(self.kernel.artifact.decisions)

    def set(self, name: str, value: int) -> Change:
        """Change one choice and rerun; raises and keeps the state when the value is not legal."""
        before = self.choices
        cycles, size, outputs = self.report.cycles, on_chip_bytes(self.kernel), self.outputs
        kernel, report, after = self._pinned({**before, name: value}, name)
        self.kernel, self.report, self.outputs = kernel, report, after
        change = Change(
            name=name,
            value_before=before.get(name),
            value_after=self.choices[name],
            cycles_before=cycles,
            cycles_after=report.cycles,
            bytes_before=size,
            bytes_after=on_chip_bytes(kernel),
            same=all(np.array_equal(a, b) for a, b in zip(outputs, after, strict=True)),
            others=_differences(before, self.choices, name),
        )
        self.log.append(change)
        return change

    def _pinned(
        self, overrides: dict[str, int], changed: str
    ) -> tuple[Kernel, Report, list[np.ndarray]]:
        """Run with every pin that the changed choice leaves possible."""
        try:
            return self._run(overrides)
        except (UnknownOverrideError, StagesNotReached) as refused:
            if refused.name == changed:
                raise
            left = {name: value for name, value in overrides.items() if name != refused.name}
        return self._pinned(left, changed)

    def _run(self, overrides: dict[str, int]) -> tuple[Kernel, Report, list[np.ndarray]]:
        options = replace(self._options, overrides=overrides)
        kernel = compile(self._func, self._target, self._out_idx, options)
        inputs = [copy.deepcopy(x) for x in self._inputs]
        outputs, report = kernel.run(*inputs)
        params = kernel.artifact.params
        passed = [p for i, p in enumerate(params) if i not in kernel.out_idx]
        outputs += [x for x, p in zip(inputs, passed, strict=True) if p.written]
        return kernel, report, [np.array(o) for o in outputs]


def _differences(
    before: Mapping[str, int], after: Mapping[str, int], changed: str
) -> dict[str, tuple[int | None, int | None]]:
    """The choices but ``changed`` that differ, with both values."""
    names = dict.fromkeys([*before, *after])
    pairs = {name: (before.get(name), after.get(name)) for name in names if name != changed}
    return {name: (old, new) for name, (old, new) in pairs.items() if old != new}


def on_chip_bytes(kernel: Kernel) -> int:
    """Bytes of on-chip memory that the plan uses, over all memories of one core."""
    top: dict[str, int] = {}
    for entry in memory_map(kernel.stages["planned"]):
        top[entry.space] = max(top.get(entry.space, 0), entry.address + entry.bytes)
    return sum(top.values())

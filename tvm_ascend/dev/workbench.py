# SPDX-License-Identifier: Apache-2.0
"""Change one choice of the compiler at a time, from outside the kernel, and log what it did."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tvm import IRModule, tirx
from tvm.target import Target

from tvm_ascend.build import Kernel, compile
from tvm_ascend.options import Options, options_or_default, require
from tvm_ascend.runtime.report import Report
from tvm_ascend.transform.plan_memory import memory_map


@dataclass(frozen=True)
class Change:
    """One logged change: a name, its values, and what the kernel did before and after.

    ``same`` tells whether the outputs are equal to the ones before, bit by bit.
    """

    name: str
    value_before: Any
    value_after: Any
    cycles_before: int
    cycles_after: int
    bytes_before: int
    bytes_after: int
    same: bool

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.value_before} -> {self.value_after}; "
            f"cycles {self.cycles_before} -> {self.cycles_after} "
            f"({self.cycles_after / self.cycles_before - 1:+.1%}); "
            f"on-chip bytes {self.bytes_before} -> {self.bytes_after}; "
            f"outputs {'unchanged' if self.same else 'CHANGED'}"
        )


class Workbench:
    """A kernel with inputs, recompiled and rerun at each change; every other choice stays pinned.

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
        kernel, report, after = self._run({**before, name: value})
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
        )
        self.log.append(change)
        return change

    def _run(self, overrides: dict[str, int]) -> tuple[Kernel, Report, list[np.ndarray]]:
        options = replace(self._options, overrides=overrides)
        kernel = compile(self._func, self._target, self._out_idx, options)
        inputs = [copy.deepcopy(x) for x in self._inputs]
        outputs, report = kernel.run(*inputs)
        params = kernel.artifact.params
        passed = [p for i, p in enumerate(params) if i not in kernel.out_idx]
        outputs += [x for x, p in zip(inputs, passed, strict=True) if p.written]
        return kernel, report, [np.array(o) for o in outputs]


def on_chip_bytes(kernel: Kernel) -> int:
    """Bytes of on-chip memory that the plan uses, over all memories of one core."""
    top: dict[str, int] = {}
    for entry in memory_map(kernel.stages["planned"]):
        top[entry.space] = max(top.get(entry.space, 0), entry.address + entry.bytes)
    return sum(top.values())

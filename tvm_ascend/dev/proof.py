# SPDX-License-Identifier: Apache-2.0
"""Prove the synchronisation of a kernel: every flag pair and barrier is needed, or known not to be.

Two judges that know nothing of each other look at the kernel without one sync: the simulator, by
exact bytes of one run, and the happens-before analysis of the compiler, over all loops and cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from tvm import tirx

from tvm_ascend.build import Kernel, rebuild
from tvm_ascend.codegen.text import stmt_text
from tvm_ascend.dev.given import a_kernel
from tvm_ascend.dev.syncs import syncs
from tvm_ascend.errors import HazardError
from tvm_ascend.isa.instr import Pipe
from tvm_ascend.options import SimOptions
from tvm_ascend.runtime.report import Hazard
from tvm_ascend.transform.sync.tree import build, steps
from tvm_ascend.transform.sync.written import both_ways, unordered
from tvm_ascend.transform.sync_edit import SyncInfo, without_sync

REPORTED, REDUNDANT, FAILURE = "reported", "redundant", "FAILURE"


@dataclass(frozen=True)
class Verdict:
    """What became of a kernel without one sync.

    ``between`` are the instructions around the sync, ``hazard`` the kind that was reported,
    ``statements`` the two that the report names, ``cycles`` what a redundant sync costs.
    """

    index: int
    kind: str
    event: str
    between: tuple[str, str]
    verdict: str
    why: str
    hazard: str = ""
    statements: tuple[str, ...] = ()
    cycles: int | None = None


@dataclass(frozen=True)
class SyncProof:
    """One verdict for every sync; ``cycles`` of the kernel as it is."""

    kernel: str
    cycles: int
    verdicts: Sequence[Verdict]

    @property
    def holds(self) -> bool:
        """Whether no sync is left unexplained."""
        return all(v.verdict != FAILURE for v in self.verdicts)

    def as_dict(self) -> dict:
        """Plain values for JSON."""
        return asdict(self) | {"holds": self.holds}

    def text(self) -> str:
        """The table for people."""
        counts = {k: sum(v.verdict == k for v in self.verdicts) for k in _ORDER}
        summary = ", ".join(f"{n} {kind}" for kind, n in counts.items() if n) or "no syncs"
        lines = [f"{self.kernel}: {self.cycles} cycles; {summary}"]
        for v in self.verdicts:
            lines.append(f"{v.index:>4}  {v.kind:<12}{v.event:<14}{v.verdict:<10} {v.why}")
            lines += [f"{'':45}{statement}" for statement in v.statements or v.between]
        return "\n".join(lines)


_ORDER = (REPORTED, REDUNDANT, FAILURE)


def prove_sync(kernel: Kernel, *inputs: Any) -> SyncProof:
    """Delete each flag pair, barrier and flag between cores of a compiled kernel in turn.

    Returns
    -------
    A verdict for each. ``reported``: the simulator names both statements that lost their order.
    ``redundant``: it finds nothing, and the happens-before analysis shows that every conflicting
    pair stays ordered, on the way of every core where its number and loop counters decide it; for
    flags between cores the run itself has to cover every case. Anything else is a ``FAILURE``.

    Raises
    ------
    HazardError : of the intact kernel.
    """
    cycles = a_kernel("dev.prove_sync", kernel).profile(*inputs, sim=SimOptions()).cycles
    verdicts = [
        _verdict(kernel, index, info, cycles, inputs) for index, info in enumerate(syncs(kernel))
    ]
    return SyncProof(kernel.artifact.name, cycles, verdicts)


def _verdict(
    kernel: Kernel, index: int, info: SyncInfo, cycles: int, inputs: Sequence[Any]
) -> Verdict:
    final = without_sync(kernel.stages["final"], index)
    between = (_text(info.first), _text(info.second))
    place = (index, info.kind, info.event, between)
    try:
        saved = cycles - rebuild(kernel, final).profile(*inputs, sim=SimOptions()).cycles
    except HazardError as error:
        return Verdict(*place, *_reported(error.hazard, info.kind))
    if info.kind == "cross-core":
        return Verdict(*place, *_between_cores(final, saved))
    try:
        open_pair = unordered(final)
    except AssertionError as error:  # hand-written flags may be of a kind InsertSync never makes
        return Verdict(*place, FAILURE, f"the run reports nothing; no analysis: {error}")
    if open_pair is not None:
        reason = both_ways(final)
        why = f"the run reports nothing, yet nothing orders {open_pair.text}"
        why += f"; {reason}; try inputs that take the other one" if reason else ""
        return Verdict(*place, FAILURE, why)
    why = f"every conflicting pair is ordered without it; it costs {saved} cycles"
    return Verdict(*place, REDUNDANT, why, cycles=saved)


def _between_cores(final: tirx.PrimFunc, saved: int) -> tuple:
    """The verdict on a flag between cores whose run without it reports nothing.

    The order of accesses that the simulator computes is that of every schedule of the cores. So one
    run says it all when nothing that is issued depends on data.
    """
    loads = [s for s in steps(build(final.body)) if any(a.pipe is Pipe.S for a in s.accesses)]
    if loads or not all(tirx.is_buffer_var(p) for p in final.params):
        return FAILURE, "the run reports nothing, but other data may issue other instructions"
    why = f"every conflicting pair of the run is ordered without it; it costs {saved} cycles"
    return REDUNDANT, why, "", (), saved


def _reported(hazard: Hazard, kind: str) -> tuple:
    """The verdict on a hazard; one between cores may be about a single wait, set or read."""
    sides = tuple(str(side) for side in (hazard.first, hazard.second) if side is not None)
    if len(sides) < 2 and kind != "cross-core":
        why = f"{hazard.kind} names one statement only: {hazard.message}"
        return FAILURE, why, hazard.kind, sides
    why = hazard.kind + (f" in {hazard.space}" if hazard.space else "")
    return REPORTED, why, hazard.kind, sides


def _text(stmt: Any) -> str:
    return "" if stmt is None else stmt_text(stmt)


def random_inputs(kernel: Kernel, seed: int = 0) -> tuple[Any, ...]:
    """Arguments for a call: small random numbers in every tensor, 1 for scalars."""
    rng = np.random.default_rng(seed)
    expected = [p for i, p in enumerate(kernel.artifact.params) if i not in kernel.out_idx]
    return tuple(1 if p.shape is None else _tensor(p.dtype, p.shape, rng) for p in expected)


def _tensor(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    if name == "bfloat16":
        import ml_dtypes

        return rng.integers(-4, 5, shape).astype(ml_dtypes.bfloat16)
    low, high = (0, 2) if name == "bool" else (0, 5) if name.startswith("u") else (-4, 5)
    return rng.integers(low, high, shape).astype(name)

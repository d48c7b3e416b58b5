# SPDX-License-Identifier: Apache-2.0
"""Two timings of one kernel side by side, and in one sentence why one is faster."""

from __future__ import annotations

from tvm_ascend.runtime.report import Report

_CUBE = "M"
_NOTABLE = 0.02
_SYNC = {"set_flag", "wait_flag", "pipe_barrier"}


def comparison(before: Report, after: Report) -> list[str]:
    """A small table: cycles, cores, bytes by path and busy share by pipe."""
    rows = [("", "default", "tuned")]
    rows.append(("cycles", f"{before.cycles:,}", f"{after.cycles:,}"))
    rows.append(("cores", str(len(before.pipes)), str(len(after.pipes))))
    rows += [
        (path, _megabytes(before.bytes.get(path, 0)), _megabytes(after.bytes.get(path, 0)))
        for path in _joined(before.bytes, after.bytes)
    ]
    rows += [
        (_label(pipe), f"{_busy(before, pipe):.0%}", f"{_busy(after, pipe):.0%}")
        for pipe in _joined(before.busy_share, after.busy_share)
    ]
    return [f"{name:<12}{first:>12}{second:>12}" for name, first, second in rows]


def why(before: Report, after: Report) -> str:
    """What the faster one does differently, from the numbers of both."""
    moved = [
        _less(path, before.bytes.get(path, 0), after.bytes.get(path, 0))
        for path in _joined(before.bytes, after.bytes)
    ]
    parts = [text for text in moved if text is not None] or ["it moves the same bytes"]
    for name in _joined(before.instructions, after.instructions):
        counts = before.instructions.get(name, 0), after.instructions.get(name, 0)
        if name not in _SYNC and _differ(*counts):
            parts.append(f"{counts[1]:,} {name} instead of {counts[0]:,}")
    if len(before.pipes) != len(after.pipes):
        parts.append(f"{len(after.pipes)} cores work instead of {len(before.pipes)}")
    overlap = _overlap(before), _overlap(after)
    if _differ(*overlap):
        more = "more" if overlap[1] > overlap[0] else "less"
        parts.append(
            f"pipes overlap {more} ({overlap[1]:.2f} busy at a time, was {overlap[0]:.2f})"
        )
    if _busy(before, _CUBE) or _busy(after, _CUBE):
        parts.append(
            f"the Cube is busy {_busy(after, _CUBE):.1%} of the time instead of "
            f"{_busy(before, _CUBE):.1%}"
        )
    if before.bound != after.bound:
        parts.append(f"it is bound by {after.bound} instead of {before.bound}")
    return "; ".join(parts)


def _joined(first, second) -> list[str]:
    return sorted({*first, *second})


def _label(pipe: str) -> str:
    return "Cube busy" if pipe == _CUBE else f"{pipe} busy"


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.2f} MB"


def _busy(report: Report, pipe: str) -> float:
    return report.busy_share.get(pipe, 0.0)


def _overlap(report: Report) -> float:
    """How many pipes of the slowest core are busy at a time, on average."""
    slowest = max(report.core_cycles, key=lambda core: report.core_cycles[core])
    return sum(report.pipes[slowest].values()) / max(report.core_cycles[slowest], 1)


def _differ(before: float, after: float) -> bool:
    return abs(after - before) > _NOTABLE * max(before, after)


def _less(path: str, before: int, after: int) -> str | None:
    """``12% fewer bytes on gm_to_l1 (8.40 to 7.40 MB)``, or None when about the same."""
    if not _differ(before, after):
        return None
    share = "" if not before else f"{abs(after / before - 1):.0%} "
    more = "fewer" if after < before else "more"
    return f"{share}{more} bytes on {path} ({_megabytes(before)} to {_megabytes(after)})"

# SPDX-License-Identifier: Apache-2.0
"""What the demonstration checked, and the table of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One computed claim: what was checked, whether it held, and the figures."""

    name: str
    passed: bool
    detail: str


def table(checks: list[Check]) -> str:
    """A plain text table, one line a check."""
    width = max(len(c.name) for c in checks)
    lines = [f"{'pass' if c.passed else 'FAIL'}  {c.name:<{width}}  {c.detail}" for c in checks]
    failed = sum(not c.passed for c in checks)
    return "\n".join([*lines, f"{len(checks)} checks, {failed} failed"])

# SPDX-License-Identifier: Apache-2.0
"""Choices that overrides replace, kept on the function from pass to pass."""

from __future__ import annotations

from collections.abc import Mapping

from tvm import tirx

_OPTIONS = "ascend.options"
_RULED = "ascend.ruled"
_DECISIONS = "ascend.decisions"


def with_overrides(
    func: tirx.PrimFunc, overrides: Mapping[str, int], ruled: Mapping[str, object]
) -> tirx.PrimFunc:
    """Return the function with the overrides that are left to the passes.

    ``ruled`` are the choices that the schedule took: no pass that knows the same name takes one
    once more.
    """
    left = {k: v for k, v in overrides.items() if k not in ruled}
    return func.with_attr({_OPTIONS: left, _RULED: sorted(ruled)})


def overrides_of(func: tirx.PrimFunc) -> dict[str, int]:
    """The overrides that passes answer to."""
    found = func.attrs.get(_OPTIONS, {}) if func.attrs else {}
    return {str(k): int(v) for k, v in found.items()}


def is_ruled(func: tirx.PrimFunc, name: str) -> bool:
    """Whether the schedule took a choice."""
    return name in [str(n) for n in (func.attrs.get(_RULED, ()) if func.attrs else ())]


def decisions_of(func: tirx.PrimFunc) -> dict[str, int]:
    """What the passes chose, by the names that overrides take."""
    found = func.attrs.get(_DECISIONS, {}) if func.attrs else {}
    return {str(k): int(v) for k, v in found.items()}


def decide(func: tirx.PrimFunc, **decisions: int) -> tirx.PrimFunc:
    """Return the function with choices added."""
    return func.with_attr(_DECISIONS, {**decisions_of(func), **decisions})

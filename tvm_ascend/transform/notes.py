# SPDX-License-Identifier: Apache-2.0
"""Decisions a pass tells the user about, kept on the function as ``ascend.notes``."""

from __future__ import annotations

from tvm import tirx

NOTES = "ascend.notes"


def notes_of(func: tirx.PrimFunc) -> list[str]:
    """Return the notes of a function, oldest first."""
    return [str(n) for n in (func.attrs.get(NOTES, ()) if func.attrs else ())]


def note(func: tirx.PrimFunc, *texts: str) -> tirx.PrimFunc:
    """Return the function with notes appended; a note it already has is not repeated."""
    notes = notes_of(func)
    fresh = [t for t in dict.fromkeys(texts) if t not in notes]
    return func.with_attr(NOTES, [*notes, *fresh]) if fresh else func

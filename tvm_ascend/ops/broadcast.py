# SPDX-License-Identifier: Apache-2.0
"""Shapes of an element-wise operator with neighbouring dimensions merged where that is free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tvm_ascend.ops.op import Shape


@dataclass(frozen=True)
class Broadcast:
    """The result's merged shape, and for each operand which of its dimensions it has.

    Neighbouring dimensions that every operand has, or lacks, are one. An operand's tensor has the
    extents of its own dimensions only.
    """

    shape: Shape
    axes: tuple[tuple[int, ...], ...]

    def own(self, operand: int) -> Shape:
        """Extents of an operand."""
        return tuple(self.shape[axis] for axis in self.axes[operand])


def broadcast(shapes: Sequence[Shape], result: Shape) -> Broadcast | None:
    """Merge the dimensions of operands that broadcast to ``result``; None when they do not."""
    padded = [(1,) * (len(result) - len(s)) + tuple(s) for s in shapes]
    if any(len(s) != len(result) for s in padded):
        return None
    merged: list[int] = []
    patterns: list[tuple[bool, ...]] = []
    for axis, extent in enumerate(result):
        if any(s[axis] not in (1, extent) for s in padded):
            return None
        if extent == 1:
            continue
        pattern = tuple(s[axis] == extent for s in padded)
        if patterns and patterns[-1] == pattern:
            merged[-1] *= extent
        else:
            merged.append(extent)
            patterns.append(pattern)
    if not merged:
        merged, patterns = [1], [(True,) * len(shapes)]
    axes = tuple(
        tuple(axis for axis, pattern in enumerate(patterns) if pattern[operand])
        for operand in range(len(shapes))
    )
    assert all(prod(merged[a] for a in own) == prod(s) for own, s in zip(axes, shapes, strict=True))
    return Broadcast(tuple(merged), axes)

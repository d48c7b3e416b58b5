# SPDX-License-Identifier: Apache-2.0
"""Which part of a tile holds elements of tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Range, TensorRegion

from tvm_ascend import sym
from tvm_ascend.isa.instr import Space
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.match import variables
from tvm_ascend.transform.tile_args import is_const, proves


@dataclass(frozen=True, eq=False)
class Held:
    """Along every axis of ``limits`` elements end there, or at an unknown place where it is None.

    ``span`` is the line of the copy that ran past its tensor.
    """

    limits: Mapping[int, tvm.ir.Expr | None] = field(default_factory=dict)
    span: tvm.ir.Span | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Held) or set(self.limits) != set(other.limits):
            return False
        return all(_equal(limit, other.limits[axis]) for axis, limit in self.limits.items())

    __hash__ = None  # type: ignore[assignment]

    def without(self, var: tvm.ir.Var) -> Held:
        """What is known outside the scope of a variable."""
        limits = {
            axis: None if limit is not None and var in variables(limit) else limit
            for axis, limit in self.limits.items()
        }
        return Held(limits, self.span)

    def joined(self, other: Held) -> Held:
        """What is known where either may be so."""
        limits = {
            axis: self.limits[axis] if self._agrees(other, axis) else None
            for axis in {**self.limits, **other.limits}
        }
        return Held(limits, self.span or other.span)

    def _agrees(self, other: Held, axis: int) -> bool:
        both = axis in self.limits and axis in other.limits
        return both and _equal(self.limits[axis], other.limits[axis])


WHOLE = Held()


def join(first: dict, second: dict) -> dict:
    """Join what every tile holds; a tile that only one side wrote is as that side says."""
    return {
        b: first[b].joined(second[b]) if b in first and b in second else (first | second)[b]
        for b in first | second
    }


def _equal(a: tvm.ir.Expr | None, b: tvm.ir.Expr | None) -> bool:
    if a is None or b is None:
        return a is b
    return tvm_ffi.structural_equal(a, b)


class Tiles:
    """What every tile holds at one point of a function, and what can be shown there."""

    def __init__(self) -> None:
        self.analyzer = sym.Analyzer()
        self.ranges: dict[tvm.ir.Var, Range] = {}
        self.held: dict[tvm.ir.Var, Held] = {}

    def bind(self, var: tvm.ir.Var, range_: Range) -> None:
        if var not in self.ranges:
            self.ranges[var] = range_
            self.analyzer.bind(var, range_)

    def trimmed(self, buffer: tvm.ir.Var, held: Held) -> Held:
        """What a tile holds without limits that its shape already sets."""
        limits = {
            axis: limit
            for axis, limit in held.limits.items()
            if limit is None or not proves(self.analyzer, limit >= buffer.ty.shape[axis])
        }
        return Held(limits, held.span) if limits else WHOLE

    def write(self, dst: TensorRegion, new: Held) -> None:
        """Note that a region was written, as far as ``new`` says."""
        buffer = dst.source
        if space_of(buffer) is Space.GM:
            return
        old, cut = self.held.get(buffer), self.cut_axes(dst)
        if old is None or not cut:
            self.held[buffer] = new
        elif new is WHOLE and self.covers_padding(dst, cut, old):
            self.held[buffer] = WHOLE
        elif new is not WHOLE or not self.inside(dst, old):
            self.held[buffer] = old.joined(new)

    def cut_axes(self, region: TensorRegion) -> list[int]:
        """The axes along which a region is not all of its buffer."""
        return [
            axis
            for axis, (r, n) in enumerate(zip(region.region, region.source.ty.shape, strict=True))
            if not (is_const(r.min, 0) and self.analyzer.can_prove_equal(r.extent, n))
        ]

    def covers_padding(self, dst: TensorRegion, cut: list[int], old: Held) -> bool:
        """Whether a region that is cut along one axis has all that an old limit left out."""
        if len(cut) > 1 or set(old.limits) != set(cut) or old.limits[cut[0]] is None:
            return False
        part, size = dst.region[cut[0]], dst.source.ty.shape[cut[0]]
        reaches_end = self.shows(part.min + part.extent >= size)
        return reaches_end and self.shows(part.min <= old.limits[cut[0]])

    def inside(self, region: TensorRegion, held: Held) -> bool:
        return all(
            limit is not None
            and self.shows(region.region[a].min + region.region[a].extent <= limit)
            for a, limit in held.limits.items()
        )

    def shows(self, condition: tvm.ir.Expr) -> bool:
        return proves(self.analyzer, condition)

    def leaves_elements(self, indices: list, old: Held, guard: tvm.ir.Expr) -> bool:
        """Whether what a guard leaves unwritten are elements of the tensor."""
        elsewhere = sym.Analyzer()
        for var, range_ in self.ranges.items():
            elsewhere.bind(var, range_)
        with elsewhere.constraint_scope(tirx.Not(guard)):
            return all(
                limit is not None and proves(elsewhere, indices[axis] < limit)
                for axis, limit in old.limits.items()
            )

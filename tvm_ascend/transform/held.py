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
        """Note that a region was written, as far as ``new`` says.

        What a tile lacks stays left out until all of the tile is written, or just what it lacks.
        """
        buffer = dst.source
        if space_of(buffer) is Space.GM:
            return
        old, cut = self.held.get(buffer), self.cut_axes(dst)
        if old is None or not cut:
            self.held[buffer] = new
        elif new is not WHOLE:
            self.held[buffer] = self.extended(dst, cut, old, new)
        else:
            self.held[buffer] = self.refilled(dst, cut, old)

    def extended(self, dst: TensorRegion, cut: list[int], old: Held, new: Held) -> Held:
        """What a whole tile holds of which the last part was written, up to a limit."""
        limit = new.limits.get(cut[0])
        if old is not WHOLE or len(cut) > 1 or set(new.limits) != set(cut) or limit is None:
            return old.joined(new)
        part, size = dst.region[cut[0]], dst.source.ty.shape[cut[0]]
        last = self.shows(part.min + part.extent >= size) and self.shows(part.min <= limit)
        return new if last else old.joined(new)

    def refilled(self, dst: TensorRegion, cut: list[int], old: Held) -> Held:
        """What a tile holds after a write of elements that exist to part of it."""
        for axis, limit in old.limits.items():
            part, size = dst.region[axis], dst.source.ty.shape[axis]
            if limit is None or self.shows(part.min < limit):
                continue
            # Perhaps nothing else was written along this axis than what the tile lacks.
            every = set(old.limits) == set(cut) == {axis}
            every = every and self.shows(tirx.EQ(part.min, limit))
            return self.filled(old, axis, every and self.shows(part.min + part.extent >= size))
        return old

    def masked(self, dst: TensorRegion, indices: list, old: Held, guard: tvm.ir.Expr) -> Held:
        """What a tile holds after a write of elements that exist to where a guard holds."""
        for axis, limit in old.limits.items():
            if limit is None:
                continue
            first = self.analyzer.const_int_bound(indices[axis]).min_value
            if self.shows(first < limit) and not self.shows(indices[axis] >= limit):
                continue
            only = len(old.limits) == 1 and not self.cut_axes(dst)
            every = only and self.shows(indices[axis] >= limit)
            return self.filled(
                old, axis, every and self.shows_without(guard, indices[axis] < limit)
            )
        return old

    @staticmethod
    def filled(old: Held, axis: int, every: bool) -> Held:
        """A tile after a write to what it may lack along an axis: to just all of that, or not."""
        return WHOLE if every else Held({**old.limits, axis: None}, old.span)

    def cut_axes(self, region: TensorRegion) -> list[int]:
        """The axes along which a region is not all of its buffer."""
        return [
            axis
            for axis, (r, n) in enumerate(zip(region.region, region.source.ty.shape, strict=True))
            if not (is_const(r.min, 0) and self.analyzer.can_prove_equal(r.extent, n))
        ]

    def shows(self, condition: tvm.ir.Expr) -> bool:
        return proves(self.analyzer, condition)

    def shows_without(self, condition: tvm.ir.Expr, result: tvm.ir.Expr) -> bool:
        """Whether something holds wherever a condition does not."""
        elsewhere = sym.Analyzer()
        for var, range_ in self.ranges.items():
            elsewhere.bind(var, range_)
        with elsewhere.constraint_scope(tirx.Not(condition)):
            return proves(elsewhere, result)

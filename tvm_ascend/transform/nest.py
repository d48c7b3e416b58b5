# SPDX-License-Identifier: Apache-2.0
"""Parallel element loops split into what one instruction covers and the loops around it."""

from __future__ import annotations

from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import tirx

from tvm_ascend.isa.instr import Space
from tvm_ascend.transform.access import Access, constant, itemsize, substitute
from tvm_ascend.transform.selection import NotVectorizable, Selection
from tvm_ascend.transform.tile_view import View, product

Loop = tuple[tvm.ir.Var, object]

ROW, LANE = "row", "lane"
UNIT = frozenset()
ROWS = frozenset({ROW})
LANES = frozenset({LANE})
TILE = frozenset({ROW, LANE})


@dataclass(frozen=True)
class Nest:
    """Loops of one store, outermost first: serial ones, at most one over rows, those of a run.

    The loops of a run are one contiguous stretch in every UB buffer that moves with them.
    """

    outer: tuple[Loop, ...]
    row: Loop | None
    lanes: tuple[Loop, ...]

    @property
    def count(self) -> object:
        """Elements of one run."""
        return product([e for _, e in self.lanes])

    @property
    def rows(self) -> object:
        """Number of rows."""
        return self.row[1] if self.row else 1

    @property
    def tile_loops(self) -> list[Loop]:
        """Loops over rows and elements, outermost first."""
        return ([self.row] if self.row else []) + list(self.lanes)

    @property
    def lanes_at_zero(self) -> dict:
        """Substitution to the first element of a run."""
        return {v: tirx.const(0, str(v.ty.dtype)) for v, _ in self.lanes}

    @property
    def all_at_zero(self) -> dict:
        """Substitution to the first element of the first row."""
        return {v: tirx.const(0, str(v.ty.dtype)) for v, _ in self.tile_loops}

    def domain(self, access: Access) -> frozenset:
        """Which of rows and lanes an access moves along; a partial or strided run is refused."""
        moves = [access.stride(v) for v, _ in self.lanes]
        dims = set()
        if any(constant(s) != 0 for s in moves):
            expected: object = 1
            for (_, extent), stride in zip(reversed(self.lanes), reversed(moves), strict=True):
                if access.space is not Space.GM and not _equal(stride, expected):
                    raise NotVectorizable(f"`{access.buffer.name}` is accessed with a stride")
                expected = expected * extent
            if not _equal(moves[-1] if self.lanes else 1, 1):
                raise NotVectorizable(f"`{access.buffer.name}` is accessed with a stride")
            dims.add(LANE)
        if self.row and constant(access.stride(self.row[0])) != 0:
            dims.add(ROW)
        return frozenset(dims)


def _equal(a: object, b: object) -> bool:
    left, right = constant(a), constant(b)
    if left is not None and right is not None:
        return left == right
    return (
        tvm_ffi.structural_equal(a, b)
        if not isinstance(a, int) and not isinstance(b, int)
        else False
    )


def _merges(ctx: Selection, access: Access, outer: Loop, inner: list[Loop]) -> bool:
    """Whether a loop continues the run of the loops inside it for one access."""
    first, last = inner[0], inner[-1]
    step, below = access.stride(outer[0]), access.stride(first[0])
    if constant(step) == 0 or constant(below) == 0:
        return constant(step) == 0 and constant(below) == 0
    if access.space is Space.GM:
        size = constant(last[1])
        return size is not None and size * itemsize(access.dtype) % ctx.chip.block_bytes == 0
    return bool(ctx.analyzer.can_prove_equal(step, below * first[1]))


def split_nest(ctx: Selection, loops: list[Loop], accesses: list[Access], fixed: set) -> Nest:
    """Choose the run, the row loop and the serial loops of a store.

    ``fixed`` are the loops over which the store accumulates; a run is all inside or all outside.
    """
    lanes = loops[-1:]
    rest = loops[:-1]
    while rest and lanes:
        outer = rest[-1]
        if (outer[0] in fixed) != (lanes[0][0] in fixed):
            break
        if not all(_merges(ctx, a, outer, lanes) for a in accesses):
            break
        lanes = [outer, *lanes]
        rest = rest[:-1]
    row = rest[-1] if rest else None
    return Nest(tuple(rest[:-1]), row, tuple(lanes))


def gm_view(access: Access, loops: list[Loop]) -> tuple[View, list]:
    """Return the tile of global memory that an access covers, with its extents."""
    axes, steps, extents = [], [], []
    for var, extent in loops:
        if constant(access.stride(var)) == 0:
            continue
        axis, step = _axis(access, var)
        axes.append(axis)
        steps.append(step)
        extents.append(extent)
    zero = {v: tirx.const(0, str(v.ty.dtype)) for v, _ in loops}
    mins = tuple(substitute(i, zero) for i in access.indices)
    return View(access.buffer, mins, tuple(axes), tuple(steps)), extents


def _axis(access: Access, var: tvm.ir.Var) -> tuple[int, object]:
    """Return the axis a loop variable moves and by how much per iteration."""
    found = [(k, f) for k, f in enumerate(access.factors(var)) if constant(f) != 0]
    if len(found) != 1:
        raise NotVectorizable(f"`{access.buffer.name}` is accessed along a diagonal")
    return found[0]

# SPDX-License-Identifier: Apache-2.0
"""Regions of buffers as tiles: merging dimensions into runs, looping over the rest."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import tvm
from tvm import tirx
from tvm.ir import TensorLoad, TensorRegion

from tvm_ascend.isa.instr import Space
from tvm_ascend.layout.scope import space_of
from tvm_ascend.transform.access import ZERO, constant, divides, dtype_of, itemsize, strides_of
from tvm_ascend.transform.selection import NotVectorizable, Selection
from tvm_ascend.transform.tile_args import sequence


@dataclass(frozen=True)
class View:
    """A tile inside a buffer: dimension ``d`` moves axis ``axes[d]`` by ``steps[d]`` per element.

    Steps are 1 where ``steps`` is empty.
    """

    buffer: tvm.ir.Var
    mins: tuple
    axes: tuple[int, ...]
    steps: tuple = ()

    @property
    def dtype(self) -> str:
        """Element dtype."""
        return dtype_of(self.buffer)

    @property
    def space(self) -> Space | None:
        """Memory of the buffer."""
        return space_of(self.buffer)

    def stride(self, dim: int) -> object:
        """Elements between neighbours along a dimension of the tile."""
        return strides_of(self.buffer)[self.axes[dim]] * self.step(dim)

    def step(self, dim: int) -> object:
        """Index step per element of a dimension."""
        return self.steps[dim] if self.steps else 1

    def at(self, values: list) -> TensorLoad:
        """Return the address of a tile element; dimensions past ``values`` are at 0."""
        indices = list(self.mins)
        for dim, (axis, value) in enumerate(zip(self.axes, values, strict=False)):
            if constant(value) != 0:
                indices[axis] = indices[axis] + value * self.step(dim)
        return tirx.BufferLoad(self.buffer, indices)


def is_unit(extent: object) -> bool:
    """Whether an extent is the literal 1."""
    return constant(extent) == 1


def view_of(region: TensorRegion | TensorLoad) -> tuple[View, list]:
    """Return a region as a tile of its dimensions longer than 1, with their extents."""
    if isinstance(region, TensorLoad):
        return View(region.source, tuple(region.indices), ()), []
    ranges = list(region.region)
    axes = tuple(k for k, r in enumerate(ranges) if not is_unit(r.extent))
    mins = tuple(r.min for r in ranges)
    return View(region.source, mins, axes), [ranges[k].extent for k in axes]


def whole_view(buffer: tvm.ir.Var, dims: int) -> View:
    """Return a temporary as a tile of ``dims`` dimensions that are its last axes."""
    rank = len(buffer.ty.shape)
    return View(buffer, (ZERO,) * rank, tuple(range(rank - dims, rank)))


def lane_dims(ctx: Selection, extents: list, views: list[View]) -> int:
    """Count the trailing dimensions that are one contiguous run in every view."""
    if not extents:
        return 0
    last = len(extents) - 1
    if any(constant(v.stride(last)) != 1 for v in views):
        raise NotVectorizable("neighbouring elements of a row are not neighbours in memory")
    merged = 1
    while merged < len(extents):
        inner = last - merged + 1
        dense = all(
            ctx.analyzer.can_prove_equal(v.stride(inner - 1), v.stride(inner) * extents[inner])
            for v in views
        )
        if not dense:
            break
        merged += 1
    return merged


def product(extents: list) -> object:
    """Number of elements."""
    return functools.reduce(lambda a, b: a * b, extents) if extents else 1


def loop_over(
    ctx: Selection, extents: list, body: Callable[[list], list[tirx.Stmt]]
) -> list[tirx.Stmt]:
    """Nest serial loops over ``extents`` around the statements made for the loop variables."""
    variables = [tirx.Var(f"r{k}", "int32") for k in range(len(extents))]
    for var, extent in zip(variables, extents, strict=True):
        ctx.analyzer.bind(var, tvm.ir.Range(0, extent))
    stmts = body(variables)
    for var, extent in zip(reversed(variables), reversed(extents), strict=True):
        inner = sequence(stmts)
        stmts = [tirx.For(var, 0, extent, tirx.ForKind.SERIAL, inner, span=ctx.span)]
    return stmts


def for_each_run(
    ctx: Selection,
    extents: list,
    views: list[View],
    make: Callable[[list[TensorLoad], object], list[tirx.Stmt]],
) -> list[tirx.Stmt]:
    """Call ``make(addresses, count)`` for every contiguous run of a tile, inside loops over runs.

    Every run starts on a block of UB, else the tile is not vectorizable.
    """
    merged = lane_dims(ctx, extents, views)
    outer = extents[: len(extents) - merged]
    for view in views:
        check_aligned(ctx, view, len(outer))
    count = product(extents[len(extents) - merged :])
    return loop_over(ctx, outer, lambda at: make([v.at(at) for v in views], count))


def check_aligned(ctx: Selection, view: View, outer: int) -> None:
    """Refuse a UB tile whose rows do not start on a 32-byte block."""
    if view.space is not Space.UB:
        return
    size = itemsize(view.dtype)
    strides = strides_of(view.buffer)
    base = ZERO
    for index, stride in zip(view.mins, strides, strict=True):
        base = base + index * stride
    steps = [base, *(view.stride(d) for d in range(outer))]
    if not all(divides(ctx.chip.block_bytes, step * size, ctx.analyzer) for step in steps):
        raise NotVectorizable(f"`{view.buffer.name}` is not accessed at 32-byte boundaries")

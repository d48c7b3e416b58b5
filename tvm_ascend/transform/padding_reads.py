# SPDX-License-Identifier: Apache-2.0
"""Which reads of an expression may meet what lies past a tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend.isa.instr import Space
from tvm_ascend.language.loops import is_parallel
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.match import variables
from tvm_ascend.transform.held import WHOLE, Tiles
from tvm_ascend.transform.tile_tail import tail_start

CHOICE = "prim.if_then_else"


@dataclass(frozen=True, eq=False)
class OpenRead:
    """A read that exists where ``index < limit``; where it ends is unknown if that is None.

    ``span`` is the line that fills the tile past its tensor.
    """

    index: tvm.ir.Expr
    limit: tvm.ir.Expr | None
    tile: tvm.ir.Var
    span: tvm.ir.Span | None

    @property
    def exists(self) -> tvm.ir.Expr:
        """The condition that an element is read."""
        return self.index < self.limit


def choice(expr: tvm.ir.Expr) -> tuple | None:
    """The condition and the two sides of a choice between values."""
    if isinstance(expr, tirx.Select):
        return expr.condition, expr.true_value, expr.false_value
    if isinstance(expr, tvm.ir.Call) and isinstance(expr.op, tvm.ir.Op) and expr.op.name == CHOICE:
        return tuple(expr.args)
    return None


def same_element(load: tvm.ir.Expr, buffer: tvm.ir.Var, indices: list) -> bool:
    """Whether an expression is the read of this very element."""
    return (
        isinstance(load, TensorLoad)
        and load.source.same_as(buffer)
        and all(tvm_ffi.structural_equal(a, b) for a, b in zip(load.indices, indices, strict=True))
    )


class Reads(Tiles):
    """What the tiles hold inside loops and under conditions."""

    def __init__(self) -> None:
        super().__init__()
        self.loops: list[tirx.For] = []
        # What names, and variables of one iteration, are made of.
        self.bound: dict[tvm.ir.Var, list[OpenRead]] = {}
        # How many loops are around the allocation of a tile.
        self.depth: dict[tvm.ir.Var, int] = {}

    @contextmanager
    def where(self, conditions: list) -> Iterator[None]:
        """Prove things where conditions hold."""
        with ExitStack() as stack:
            for condition in conditions:
                stack.enter_context(self.analyzer.constraint_scope(condition))
            yield

    def needs(self, value: tvm.ir.Expr, ignore: Callable = lambda _: False) -> list[OpenRead]:
        """Return the reads of a value that may meet padding.

        The sides of a choice count alike, unless it separates just the elements from the padding:
        what else is chosen says nothing about elements that do not exist.
        """
        found: list[OpenRead] = []

        chosen: list = []

        def add(reads: Iterable[OpenRead]) -> None:
            found.extend(r for r in reads if not self.sorted_out(r, chosen))

        def load(expr: TensorLoad, mutator: object) -> TensorLoad:
            if not ignore(expr):
                add(self.open_reads(expr))
            return mutator.default_mutate(expr)

        def name(var: tirx.Var) -> tirx.Var:
            add(self.open_names(var))
            return var

        def choose(expr: tvm.ir.Expr, mutator: object) -> tvm.ir.Expr:
            parts = choice(expr)
            if parts is None:
                return mutator.default_mutate(expr)
            mutator.mutate(parts[0])
            for side, holds in ((parts[1], parts[0]), (parts[2], tirx.Not(parts[0]))):
                chosen.append(holds)
                mutator.mutate(side)
                chosen.pop()
            return expr

        tvm_ffi.structural_mutate(
            value,
            [
                (TensorLoad, load),
                (tirx.Var, lambda v, _m: name(v)),
                (tirx.Select, choose),
                (tvm.ir.Call, choose),
            ],
        )
        return found

    def sorted_out(self, read: OpenRead, chosen: list) -> bool:
        """Whether the choices around a read leave out just the padding."""
        if read.limit is None or not chosen:
            return False
        with self.where(chosen):
            if not self.shows(read.exists):
                return False
        if space_of(read.tile) is Space.GM:  # then this is no tile that runs past its tensor
            return True
        return any(self.shows_without(c, read.index >= read.limit) for c in chosen)

    def open_reads(self, expr: TensorLoad) -> Iterator[OpenRead]:
        """The axes along which a read may meet padding."""
        if space_of(expr.source) is Space.GM:
            elements = [x for x in self.loops if is_parallel(x)]
            for index, size in zip(expr.indices, expr.source.ty.shape, strict=True):
                tile = tail_start(self.analyzer, index, elements)
                if tile is not None and not self.shows(index < size):
                    yield OpenRead(index, size, expr.source, expr.span)
            return
        yield from self.open_names(expr.source)
        held = self.held.get(expr.source, WHOLE)
        for axis, limit in held.limits.items():
            if limit is None or not self.shows(expr.indices[axis] < limit):
                yield OpenRead(expr.indices[axis], limit, expr.source, held.span)

    def open_names(self, var: tvm.ir.Var) -> Iterator[OpenRead]:
        """What a name is made of that may meet padding here."""
        for read in self.bound.get(var, ()):
            if read.limit is None or not self.shows(read.exists):
                yield read

    def counted(self, buffer: tvm.ir.Var, indices: list, reads: list[OpenRead]) -> list[OpenRead]:
        """The reads that go over elements while a store stays at one."""
        moving = set().union(*(variables(i) for i in indices))
        inner = {x.loop_var for x in self.loops[self.depth.get(buffer, 0) :]}
        return [r for r in reads if variables(r.index) & inner - moving]

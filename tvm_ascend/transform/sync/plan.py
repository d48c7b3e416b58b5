# SPDX-License-Identifier: Apache-2.0
"""One flag pair or barrier: where its statements go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from tvm_ascend.isa.instr import Pipe
from tvm_ascend.transform.sync.machine import NUMBER, Action, Placed
from tvm_ascend.transform.sync.tree import Loop, Node, Seq, Step


@dataclass(frozen=True, eq=False)
class Sync:
    """Orders ``first`` before ``second``.

    A barrier (``source`` is ``target``) stands before ``wait_at``; that of the scalar unit joins
    every pipe. A flag is set after ``set_at``
    and waited for before ``wait_at``, both in one sequence. With ``carried`` the wait comes first
    and consumes what an earlier iteration set: ids are raised before ``outer``, the outermost loop,
    and drained behind it, which keeps the count balanced for every trip count and never drains the
    pipes in between. ``loop`` names the loop whose iteration picks one of ``ids`` ids. With
    ``around`` the set stands before its node and the wait behind its own: it orders syncs there.
    """

    source: Pipe
    target: Pipe
    first: Step
    second: Step
    set_at: Node
    wait_at: Node
    carried: bool = False
    ids: int = 1
    loop: Loop | None = None
    base: int = 0
    around: bool = False

    @property
    def is_barrier(self) -> bool:
        """Whether it is a PipeBarrier."""
        return self.source is self.target

    @property
    def event(self) -> str:
        """The HardEvent name."""
        return f"{self.source.value}_{self.target.value}"

    @property
    def outer(self) -> Node:
        """The outermost loop around a carried flag."""
        return self.seq.loops()[0]

    @property
    def seq(self) -> Seq:
        """The sequence that holds its statements."""
        return self.wait_at.home

    @property
    def place(self) -> tuple:
        """What makes two syncs the same."""
        pair = self.source, self.target, self.set_at, self.wait_at
        return *pair, self.carried, self.around, self.ids

    def at(self, base: int) -> Sync:
        """The same flag with other ids."""
        return replace(self, base=base)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Every statement it consists of."""
        source, target = NUMBER[self.source], NUMBER[self.target]
        if self.is_barrier:
            kind = "barrier_all" if self.source is Pipe.S else "barrier"
            return (Statement(Action(kind, source, target, self), self.wait_at, True, 3),)
        depth = self.seq.loops().index(self.loop) if self.loop is not None else -1
        pair = Action("set", source, target, self, self.base, self.ids, depth)
        ranks = (5, -1) if self.around else (0, 2)
        out = [
            Statement(pair, self.set_at, self.around, ranks[0]),
            Statement(replace(pair, kind="wait"), self.wait_at, not self.around, ranks[1]),
        ]
        for i in range(self.ids if self.carried else 0):
            preset = Action("set", source, target, self, self.base + i)
            out.append(Statement(preset, self.outer, True, 1))
            out.append(Statement(replace(preset, kind="wait"), self.outer, False, 1))
        return tuple(out)


@dataclass(frozen=True)
class Statement:
    """One statement of a sync: the action, and before or after which node it stands."""

    action: Action
    node: Node
    before: bool
    rank: int


def placed(syncs: list[Sync]) -> tuple[Placed, Placed]:
    """The actions of a set of syncs before and after every node, in the order they are emitted.

    At one place sets come first: they tell other pipes to go on, waits and barriers hold this one.
    """
    found: dict[tuple[Node, bool], list[Statement]] = {}
    for sync in syncs:
        for statement in sync.statements:
            found.setdefault((statement.node, statement.before), []).append(statement)
    before: Placed = {}
    after: Placed = {}
    for (node, is_before), items in found.items():
        items.sort(key=lambda s: s.rank)
        (before if is_before else after)[node] = [s.action for s in items]
    return before, after

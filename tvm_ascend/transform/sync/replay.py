# SPDX-License-Identifier: Apache-2.0
"""The way that one core takes through a program, where loop counters and its number decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tvm_ascend.errors import where
from tvm_ascend.transform.sync.affine import SCALAR_CALLS, Form
from tvm_ascend.transform.sync.program import Counter, Program
from tvm_ascend.transform.sync.tree import Branch, Loop, Node, Seq, bodies

_MOST_BLOCKS = 64
_MOST_WAYS = 256

Place = tuple[Branch, tuple[int, ...]]


class CoreReplay:
    """What one core does at every branch and loop whose loops around are looked at in full.

    ``chosen`` are the sides of branches that depend on something else.
    """

    def __init__(
        self, program: Program, block: int | None, chosen: Mapping[Place, int] | None = None
    ) -> None:
        self.program = program
        self.block = block
        self.chosen = chosen or {}

    def side(self, branch: Branch, point: tuple[int, ...]) -> int | None:
        """The side of a branch that runs at a point."""
        if (branch, point) in self.chosen:
            return self.chosen[branch, point]
        value = self._value(self.program.conditions[branch], branch, point)
        return None if value is None else int(not value)

    def trips(self, loop: Loop, point: tuple[int, ...]) -> int | None:
        """How often a loop runs at a point."""
        counter = self.program.counters[loop]
        if loop.jump is not None or not counter.exact:
            return None
        value = self._value(self.program.extents[counter.number], loop, point)
        return None if value is None else max(value, 0)

    def _value(self, form: Form, node: Node, point: tuple[int, ...]) -> int | None:
        nest = self.program.nest_of[node]
        if not is_known(self.program, form, nest):
            return None
        values = {f"v{c.number}": k for c, k in zip(nest, point, strict=True)}
        if self.block is not None:
            values[f"v{self.program.block}"] = self.block
        return int(eval(form.text, SCALAR_CALLS, values))


def is_known(program: Program, form: Form, nest: tuple[Counter, ...]) -> bool:
    """Whether the core and iterations that are looked at one by one decide a value."""
    known = {c.number for c in nest if c.exact} | ({program.block} - {None})
    return bool(form.text) and form.uses <= known


def ways(program: Program) -> Iterator[CoreReplay]:
    """A replay for every way that some core takes or may take.

    Where there are too many, one replay goes both ways at the branches that nothing decides.
    """
    count = 1
    if program.block is not None:
        extent = program.extents[program.block]
        count = extent.const if extent.is_const else 0
    if not 0 < count <= _MOST_BLOCKS:
        yield CoreReplay(program, None)
        return
    seen: set[tuple] = set()
    for block in range(count):
        replay = CoreReplay(program, None if program.block is None else block)
        way = tuple(_way(replay, program.tree, ()))
        if way not in seen:
            seen.add(way)
            yield from _choices(replay) or [replay]


def undecided(program: Program) -> str:
    """Why the analysis takes more ways as possible than there may be; empty when it does not."""
    for replay in ways(program):
        for node, point, decision in _way(replay, program.tree, ()):
            if decision is None and isinstance(node, Branch):
                return (
                    f"it takes both sides of the branch in {where(node.stmt.span)} as possible in "
                    "any iteration, since the branch depends on data or arguments, or the loop "
                    f"around it is long (iteration {point})"
                )
    return ""


def _choices(replay: CoreReplay) -> list[CoreReplay]:
    """The ways of one core with a side chosen at every branch; empty if they are too many."""
    done, left = [], [replay]
    while left:
        replay = left.pop()
        place = _open_branch(replay)
        if place is None:
            done.append(replay)
            continue
        sides = [{**replay.chosen, place: side} for side in (0, 1)]
        left += [CoreReplay(replay.program, replay.block, chosen) for chosen in sides]
        if len(done) + len(left) > _MOST_WAYS:
            return []
    return done


def _open_branch(replay: CoreReplay) -> Place | None:
    """The first branch on a way that may go either way, in iterations that stand for themselves."""
    for node, point, decision in _way(replay, replay.program.tree, ()):
        exact = all(counter.exact for counter in replay.program.nest_of[node])
        if decision is None and exact and isinstance(node, Branch):
            return node, point
    return None


def _way(
    replay: CoreReplay, seq: Seq, point: tuple[int, ...]
) -> Iterator[tuple[Node, tuple[int, ...], int | None]]:
    """The decisions on the way, each with its place."""
    for child in seq.children:
        if isinstance(child, Branch):
            side = replay.side(child, point)
            yield child, point, side
            for body in child.sides if side is None else child.sides[side : side + 1]:
                yield from _way(replay, body, point)
        elif isinstance(child, Loop):
            trips = replay.trips(child, point)
            yield child, point, trips
            for k in range(replay.program.counters[child].cut if trips is None else trips):
                yield from _way(replay, child.body, (*point, k))
        else:
            for body in bodies(child):
                yield from _way(replay, body, point)

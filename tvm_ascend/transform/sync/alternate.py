# SPDX-License-Identifier: Apache-2.0
"""Whether every flag of a function is set before its wait, and waited for before its next set."""

from __future__ import annotations

import itertools

from tvm import tirx

from tvm_ascend.transform.sync.program import Program, read_structure
from tvm_ascend.transform.sync.tree import Branch, Loop, Seq, Step, build


def flags_alternate(func: tirx.PrimFunc) -> bool:
    """Whether sets and waits of every flag take turns in program order, however often loops run.

    Branches that do not ask whether a loop goes on are taken to run both sides.
    """
    tree = build(func.body)
    program = read_structure(tree)
    loops = list(program.counters)
    trips = itertools.product(*(program.counters[loop].exits for loop in loops))
    return all(_Run(program, dict(zip(loops, t, strict=True))).alternates(tree, ()) for t in trips)


class _Run:
    """One run of the cut program in which every loop has a fixed number of trips."""

    def __init__(self, program: Program, trips: dict[Loop, int]) -> None:
        self.program = program
        self.trips = trips
        self.up: set[tuple] = set()

    def alternates(self, seq: Seq, point: tuple[int, ...]) -> bool:
        """Run a sequence; False as soon as a flag is out of turn."""
        for child in seq.children:
            if isinstance(child, Step):
                good = self._flag(child, point)
            elif isinstance(child, Loop):
                trips = range(self.trips[child])
                good = all(self.alternates(child.body, (*point, k)) for k in trips)
            else:
                taken = self._taken(child, point)
                good = all(self.alternates(body, point) for body in taken)
            if not good:
                return False
        return True

    def _taken(self, node: object, point: tuple[int, ...]) -> list[Seq]:
        if node not in self.program.going_on:
            return self.program.taken(node, point)  # type: ignore[arg-type]
        assert isinstance(node, Branch)
        counter, depth = self.program.going_on[node]
        side = int(point[depth] + 1 == self.trips[counter.loop])
        return node.sides[side : side + 1]

    def _flag(self, step: Step, point: tuple[int, ...]) -> bool:
        if step.sync not in ("set_flag", "wait_flag"):
            return True
        token = (str(step.stmt.value.args[0].value), self.program.flag_id(step, point))
        if (token in self.up) == (step.sync == "set_flag"):
            return False
        self.up ^= {token}
        return True

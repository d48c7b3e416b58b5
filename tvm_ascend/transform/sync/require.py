# SPDX-License-Identifier: Apache-2.0
"""Which instance of a statement must have finished before which other one starts."""

from __future__ import annotations

from dataclasses import dataclass, field

from tvm_ascend.isa.instr import Pipe
from tvm_ascend.transform.sync.overlap import Overlap
from tvm_ascend.transform.sync.places import Point
from tvm_ascend.transform.sync.program import Program, Rows
from tvm_ascend.transform.sync.tree import Branch, Loop, Seq, Step

_WAITLESS = (Pipe.S,)


@dataclass(eq=False)
class Instance:
    """A step in one iteration of the cut program; ``after`` must have finished before it starts.

    ``after`` holds, per pipe, the last instance that conflicts: pipes run in order, so when that
    one has finished the earlier ones have too.
    """

    step: Step
    point: Point
    number: int
    after: tuple[Instance, ...] = ()


@dataclass
class Requirements:
    """Finds the instances of a program and what they wait for."""

    program: Program
    mmad_elements: int
    instances: list[Instance] = field(default_factory=list)
    by_place: dict[tuple[Step, Point], Instance] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.overlap = Overlap(self.program)
        self._earlier: dict[Step, list[Instance]] = {}
        self._rivals: dict[Step, list[tuple[Step, list[tuple[Rows, Rows]]]]] = {}
        self._walk(self.program.tree, ())

    def contended(self, first: Instance, second: Instance) -> list[tuple[Rows, Rows]]:
        """The accesses of two instances that conflict."""
        points = (first.point, second.point)
        pairs = dict(self._rivals_of(second.step)).get(first.step, [])
        return [(a, b) for a, b in pairs if self.overlap.at(a, b, points)]

    def _walk(self, seq: Seq, point: Point) -> None:
        for child in seq.children:
            if isinstance(child, Step):
                if child.pipe is not None:
                    self._add(child, point)
            elif isinstance(child, Loop):
                for k in self.program.iterations(child, point):
                    self._walk(child.body, (*point, k))
            else:
                for body in self.program.taken(child, point):
                    self._walk(body, point)

    def _add(self, step: Step, point: Point) -> None:
        instance = Instance(step, point, len(self.instances))
        latest: dict[Pipe, Instance] = {}
        for rival, pairs in self._rivals_of(step):
            known = latest.get(rival.queue)
            found = self._last_conflict(rival, pairs, instance, known.number if known else -1)
            if found is not None:
                latest[rival.queue] = found
        instance.after = tuple(latest.values())
        self.instances.append(instance)
        self.by_place[step, point] = instance
        self._earlier.setdefault(step, []).append(instance)

    def _rivals_of(self, step: Step) -> list[tuple[Step, list[tuple[Rows, Rows]]]]:
        """The steps that may conflict with a step, with the pairs of accesses that do."""
        if step not in self._rivals:
            rows = self.program.rows
            pairs = [(other, self._pairs(other, step)) for other in rows if other.pipe is not None]
            self._rivals[step] = [(other, found) for other, found in pairs if found]
        return self._rivals[step]

    def _pairs(self, first: Step, second: Step) -> list[tuple[Rows, Rows]]:
        rows = self.program.rows
        return [
            (a, b)
            for a in rows[first]
            for b in rows[second]
            if self._matters(a, b) and self.overlap.ever(a, b)
        ]

    def _matters(self, a: Rows, b: Rows) -> bool:
        """Whether the order of two overlapping accesses has to be enforced."""
        x, y = a.access, b.access
        if x.pipe is not y.pipe:
            return x.writes or y.writes
        # One pipe starts its instructions in order, so a later write never passes an earlier read.
        if x.pipe in _WAITLESS or not x.writes:
            return False
        return x.pipe is not Pipe.M or not self._queue_up(a, b)

    def _queue_up(self, a: Rows, b: Rows) -> bool:
        """Whether the Cube itself orders two Mmads: long ones into the same tile of L0C."""
        if a.start != b.start or a.length != b.length:
            return False
        least = self.mmad_elements * a.access.itemsize
        return min(self.overlap.least_length(rows) for rows in (a, b)) >= least

    def _last_conflict(
        self, rival: Step, pairs: list[tuple[Rows, Rows]], instance: Instance, beyond: int
    ) -> Instance | None:
        nests = (self.program.nests[rival], self.program.nests[instance.step])
        excluded = exclusive(rival, instance.step)
        shared = len(common_loops(nests))
        for earlier in reversed(self._earlier.get(rival, ())):
            if earlier.number <= beyond:
                return None
            points = (earlier.point, instance.point)
            if excluded and points[0][:shared] == points[1][:shared]:
                continue
            if any(self.overlap.at(a, b, points) for a, b in pairs):
                return earlier
        return None


def common_loops(nests: tuple) -> list:
    """The loops around both of two statements."""
    found = []
    for x, y in zip(*nests, strict=False):
        if x is not y:
            break
        found.append(x)
    return found


def exclusive(a: Step, b: Step) -> bool:
    """Whether the two are on different sides of one branch."""
    sides = {seq.owner: seq for seq in a.home.chain() if isinstance(seq.owner, Branch)}
    return any(sides.get(seq.owner, seq) is not seq for seq in b.home.chain())

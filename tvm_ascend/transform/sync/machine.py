# SPDX-License-Identifier: Apache-2.0
"""Runs the cut program with a set of syncs and says which requirement nothing enforces.

Every pipe has a clock: how many entries of each pipe it knows to be finished. A flag carries the
clock of the pipe that set it, with everything issued there so far; a barrier makes a pipe know its
own. The scalar unit issues everything, so what it knows holds for every later instruction.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tvm import tirx

from tvm_ascend.isa.instr import Pipe
from tvm_ascend.transform.sync.program import Program
from tvm_ascend.transform.sync.require import Instance, Requirements
from tvm_ascend.transform.sync.tree import Branch, Loop, Node, Seq, Step, bodies

PIPES = tuple(Pipe)
NUMBER = {pipe: i for i, pipe in enumerate(PIPES)}
_S = NUMBER[Pipe.S]
_N = len(PIPES)

Point = tuple[int, ...]


@dataclass(frozen=True)
class Action:
    """One sync statement at a place: ``kind`` is set, wait or barrier, ``owner`` who put it there.

    ``token`` is (event, id): equal tokens share a hardware flag. The id is ``base`` plus the
    iteration of the loop at depth ``depth`` modulo ``ids``, or ``base`` alone.
    """

    kind: str
    source: int
    target: int
    owner: object
    base: int = 0
    ids: int = 1
    depth: int = -1

    def token(self, point: Point) -> tuple[int, int, int]:
        """The flag that this is about in an iteration."""
        place = point[self.depth] % self.ids if self.ids > 1 else 0
        return self.source, self.target, self.base + place


@dataclass(frozen=True)
class Violation:
    """``first`` is not known to be finished where ``second`` starts.

    Both are instances; for the flag protocol they are the actions of a wait and of the next set of
    the same flag, with their points.
    """

    first: Instance | Action
    second: Instance | Action
    points: tuple[Point, Point]

    @property
    def text(self) -> str:
        """The two statements in words."""
        sides = (self.first, self.second)
        names = [x.kind if isinstance(x, Action) else _line(x.step.stmt) for x in sides]
        lines = [f"{n} at {p}" for n, p in zip(names, self.points, strict=True)]
        return " before ".join(lines)


def _line(stmt: tirx.Stmt) -> str:
    """The statement without the declarations that TVMScript prints before it."""
    return str(stmt).splitlines()[-1]


Placed = dict[Node, list[Action]]


@dataclass
class _State:
    """What is known on one path: clocks, raised flags, and the last wait of every flag."""

    seen: list[list[int]]
    tokens: dict[tuple, list[int]] = field(default_factory=dict)
    waits: dict[tuple, tuple] = field(default_factory=dict)

    def copy(self) -> _State:
        tokens = {k: list(v) for k, v in self.tokens.items()}
        return _State([list(r) for r in self.seen], tokens, dict(self.waits))


class Machine:
    """One run over the cut program; ``before`` and ``after`` place the syncs."""

    def __init__(self, requirements: Requirements, before: Placed, after: Placed) -> None:
        self.program: Program = requirements.program
        self.instances = requirements.by_place
        self.before, self.after = before, after
        self.issued = [0] * _N
        self.position: dict[Instance, int] = {}
        self.state = _State([[0] * _N for _ in range(_N)])
        self.ending: set[Loop] = set()
        self.violation: Violation | None = None

    def run(self) -> Violation | None:
        """The first requirement that is not enforced, in program order."""
        self._sequence(self.program.tree, ())
        return self.violation

    def _sequence(self, seq: Seq, point: Point) -> None:
        for child in seq.children:
            for action in self.before.get(child, ()):
                self._act(action, point)
            self._node(child, point)
            if self.violation is not None:
                return
            for action in self.after.get(child, ()):
                self._act(action, point)

    def _node(self, node: Node, point: Point) -> None:
        if isinstance(node, Step):
            if node.pipe is not None:
                self._instruction(self.instances[node, point])
        elif isinstance(node, Loop):
            self._loop(node, point)
        elif isinstance(node, Branch):
            self._branch(node, point)
        else:
            for body in bodies(node):
                self._sequence(body, point)

    def _instruction(self, instance: Instance) -> None:
        pipe = NUMBER[instance.step.queue]
        seen = self._issue(pipe)
        for earlier in instance.after:
            queue = NUMBER[earlier.step.queue]
            # One that this path leaves out stands for those before it, the last at worst.
            if seen[queue] <= self.position.get(earlier, self.issued[queue] - 1):
                self._report(earlier, instance, (earlier.point, instance.point))
                return
        self.position[instance] = self.issued[pipe]
        self.issued[pipe] += 1

    def _issue(self, pipe: int) -> list[int]:
        """The clock of a pipe at its next entry, which starts after all the scalar unit knows."""
        seen = self.state.seen[pipe]
        _join(seen, self.state.seen[_S])
        return seen

    def _act(self, action: Action, point: Point) -> None:
        if self.violation is None:
            getattr(self, f"_{action.kind}")(action, point)

    def _barrier(self, action: Action, point: Point) -> None:
        pipe = action.source
        self._issue(pipe)
        self.state.seen[pipe][pipe] = self.issued[pipe]

    def _barrier_all(self, action: Action, point: Point) -> None:
        self.state.seen = [list(self.issued) for _ in PIPES]

    def _set(self, action: Action, point: Point) -> None:
        token, state = action.token(point), self.state
        self._issue(action.source)
        known = list(state.seen[action.source])
        last = state.waits.get(token)
        if last is not None and action.target != _S:
            waiter, where, position, knowers = last
            if action.source not in knowers and known[waiter.target] <= position:
                self._report(waiter, action, (where, point))
                return
        assert token not in state.tokens, f"flag {token} is set twice in a row"
        known[action.source] = self.issued[action.source]
        state.tokens[token] = known
        self.issued[action.source] += 1

    def _wait(self, action: Action, point: Point) -> None:
        token, state = action.token(point), self.state
        assert token in state.tokens, f"nothing sets flag {token}"
        self._issue(action.target)
        _join(state.seen[action.target], state.tokens.pop(token))
        state.waits[token] = (action, point, self.issued[action.target], frozenset())
        self.issued[action.target] += 1

    def _report(self, first: object, second: object, points: tuple[Point, Point]) -> None:
        if self.violation is None:
            self.violation = Violation(first, second, points)  # type: ignore[arg-type]

    def _loop(self, loop: Loop, point: Point) -> None:
        if self.program.trips(loop, point) is not None:
            for k in self.program.iterations(loop, point):
                self._sequence(loop.body, (*point, k))
                if self.violation is not None:
                    return
            return
        counter = self.program.counters[loop]
        asked = any(counter is asked for asked, _ in self.program.going_on.values())
        left = []
        for k in range(counter.cut):
            if k in counter.exits and not (asked and k):
                left.append((self.state.copy(), list(self.issued)))
            if asked and k + 1 in counter.exits and k + 1 < counter.cut:
                left.append(self._last(loop, (*point, k)))
            if self.violation is None:
                self._sequence(loop.body, (*point, k))
            if self.violation is not None:
                return
        for state, issued in left:
            self._meet(state, issued)

    def _last(self, loop: Loop, point: Point) -> tuple[_State, list[int]]:
        """The path on which this iteration is the last one, though the loop may go on after it."""
        start, issued = self.state.copy(), list(self.issued)
        self.ending.add(loop)
        self._sequence(loop.body, point)
        self.ending.remove(loop)
        done, between = self.state, list(self.issued)
        _skip(start, issued, between)
        self.state = start
        return done, between

    def _branch(self, branch: Branch, point: Point) -> None:
        side = self.program.side(branch, point)
        if side is not None:
            for body in branch.sides[side : side + 1]:
                self._sequence(body, point)
            return
        if branch in self.program.going_on:
            self._going_on(branch, point)
            return
        start, issued = self.state.copy(), list(self.issued)
        self._sequence(branch.sides[0], point)
        if self.violation is not None:
            return
        done, between = self.state, list(self.issued)
        _skip(start, issued, between)
        self.state = start
        if len(branch.sides) > 1:
            self._sequence(branch.sides[1], point)
        if self.violation is None:
            self._meet(done, between)

    def _going_on(self, branch: Branch, point: Point) -> None:
        """The one side that runs on this path, where the loop may end or go on."""
        side = int(self.program.going_on[branch][0].loop in self.ending)
        for body in branch.sides[side : side + 1]:
            self._sequence(body, point)

    def _meet(self, other: _State, issued: list[int]) -> None:
        """Keep what is known both now and on a path that left when ``issued`` were issued."""
        state = self.state
        waits = {}
        for token in {**state.waits, **other.waits}:
            both = [s.waits[token] for s in (state, other) if token in s.waits]
            knowers = [
                _knowers(s, s.waits[token]) if token in s.waits else frozenset(range(_N))
                for s in (state, other)
            ]
            waits[token] = (*both[0][:3], knowers[0] & knowers[1])
        _skip(other, issued, self.issued)
        state.waits = waits
        for pipe in range(_N):
            _least(state.seen[pipe], other.seen[pipe])
        assert state.tokens.keys() == other.tokens.keys(), "a flag is raised on one path only"
        for token, known in state.tokens.items():
            _least(known, other.tokens[token])


def _knowers(state: _State, wait: tuple) -> frozenset[int]:
    """The pipes that know a wait to be over."""
    action, _, position, knowers = wait
    fresh = (p for p in range(_N) if state.seen[p][action.target] > position)
    return knowers.union(fresh)


def _skip(state: _State, issued: list[int], now: list[int]) -> None:
    """Account for entries of ``issued`` to ``now`` that a path did not run."""
    for known in (*state.seen, *state.tokens.values()):
        for pipe in range(_N):
            if known[pipe] >= issued[pipe]:
                known[pipe] = now[pipe]


def _join(known: list[int], other: list[int]) -> None:
    for pipe in range(_N):
        if other[pipe] > known[pipe]:
            known[pipe] = other[pipe]


def _least(known: list[int], other: list[int]) -> None:
    for pipe in range(_N):
        if other[pipe] < known[pipe]:
            known[pipe] = other[pipe]

# SPDX-License-Identifier: Apache-2.0
"""List the flags and barriers of a function, and take them out one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tvm import tirx

from tvm_ascend.isa.cross_core import FLAGS
from tvm_ascend.isa.instr import Pipe
from tvm_ascend.language.core_sides import scope_of
from tvm_ascend.transform.sync.access import instruction
from tvm_ascend.transform.sync.program import Program, read_structure
from tvm_ascend.transform.sync.tree import (
    Branch,
    Loop,
    Node,
    Seq,
    Step,
    Wrap,
    bodies,
    build,
    rebuild,
)

SET, WAIT = FLAGS


@dataclass(frozen=True)
class SyncInfo:
    """One flag pair or barrier, or one flag between cores.

    ``kind`` is ``"flag"``, ``"barrier"`` or ``"cross-core"``, ``event`` the HardEvent, the pipe, or
    the mode and pipe of a cross-core flag. ``statements`` are all that set it or wait for it (or
    the one barrier) in program order, ``first`` and ``second`` the instructions before the set and
    behind the wait.
    """

    kind: str
    event: str
    statements: tuple[tirx.Stmt, ...]
    first: tirx.Stmt | None
    second: tirx.Stmt | None


def list_syncs(func: tirx.PrimFunc) -> list[SyncInfo]:
    """Every flag pair and barrier, in program order of their first statement."""
    return [group.info for group in _groups(func)]


def without_sync(func: tirx.PrimFunc, index: int) -> tirx.PrimFunc:
    """The function without the ``index``-th of ``list_syncs``: all its statements are gone."""
    tree, groups = _read(func)
    return _without(func, tree, set(groups[index].steps))


def sync_statements(func: tirx.PrimFunc) -> list[tirx.Stmt]:
    """Every single statement that sets a flag, waits for one or is a barrier, in program order."""
    return [step.stmt for step in _sync_steps(build(func.body))]


def without_statement(func: tirx.PrimFunc, index: int) -> tirx.PrimFunc:
    """The function without the ``index``-th of ``sync_statements``."""
    tree = build(func.body)
    return _without(func, tree, {_sync_steps(tree)[index]})


def _without(func: tirx.PrimFunc, tree: Seq, gone: set[Step]) -> tirx.PrimFunc:
    _drop(tree, gone)
    return func.with_body(rebuild(tree, {}, {}), func.span)


def _drop(seq: Seq, gone: set[Step]) -> None:
    seq.children = [c for c in seq.children if c not in gone]
    for child in seq.children:
        for body in bodies(child):
            _drop(body, gone)


def _sync_steps(tree: Seq) -> list[Step]:
    return [step for step in _all_steps(tree) if step.sync or step.cross_core]


def _all_steps(seq: Seq) -> Iterator[Step]:
    for child in seq.children:
        if isinstance(child, Step):
            yield child
        for body in bodies(child):
            yield from _all_steps(body)


def event_of(step: Step) -> str:
    """The event of a flag statement, the pipe of a barrier."""
    return str(step.stmt.value.args[0].value)


@dataclass
class _Group:
    steps: list[Step]
    info: SyncInfo = field(init=False)


def _groups(func: tirx.PrimFunc) -> list[_Group]:
    return _read(func)[1]


def _read(func: tirx.PrimFunc) -> tuple[Seq, list[_Group]]:
    """Flag statements belong together that hand each other a flag in some iteration."""
    tree = build(func.body)
    matcher = _Matcher(read_structure(tree))
    matcher.sequence(tree, ())
    matcher.join_cores()
    order = {step: i for i, step in enumerate(_all_steps(tree))}
    found: dict[Step, _Group] = {}
    for step in _sync_steps(tree):
        root = matcher.root(step)
        found.setdefault(root, _Group([])).steps.append(step)
    for group in found.values():
        group.info = _info(group.steps, order)
    return tree, sorted(found.values(), key=lambda g: order[g.steps[0]])


def _info(group: list[Step], order: dict[Step, int]) -> SyncInfo:
    if group[0].cross_core:
        return _cross_core_info(group, order)
    event = event_of(group[0])
    sources, targets = (event, event) if "_" not in event else event.split("_")
    sets = [s for s in group if s.sync == "set_flag"]
    waits = [s for s in group if s.sync == "wait_flag"]
    # Presets and drains stand outside of every loop that the pair itself is in.
    inner_set = max(sets or group, key=_depth)
    inner_wait = max(waits or group, key=_depth)
    first = _nearest(order, inner_set, sources, -1)
    second = _nearest(order, inner_wait, targets, 1)
    kind = "barrier" if group[0].sync == "pipe_barrier" else "flag"
    return SyncInfo(kind, event, tuple(s.stmt for s in group), first, second)


def _cross_core_info(group: list[Step], order: dict[Step, int]) -> SyncInfo:
    sets = [s for s in group if s.cross_core == SET]
    waits = [s for s in group if s.cross_core == WAIT]
    if sets:
        mode, pipe = (str(a.value) for a in sets[0].stmt.value.args[:2])
        event = f"mode {mode} {pipe}"
    else:
        pipe, event = "ALL", instruction(group[0].stmt).name
    first = _nearest(order, (sets or group)[0], pipe, -1)
    second = _nearest(order, (waits or group)[0], "ALL", 1)
    return SyncInfo("cross-core", event, tuple(s.stmt for s in group), first, second)


def _scope(step: Step) -> Wrap | None:
    """The scope of a mixed kernel that a step is in."""
    owners = (seq.owner for seq in step.home.chain())
    return next((o for o in owners if o is not None and scope_of(o.stmt) is not None), None)


def _depth(step: Step) -> int:
    return len(step.home.loops())


def _nearest(order: dict[Step, int], at: Step, pipe: str, way: int) -> tirx.Stmt | None:
    """The closest instruction of a pipe (or of ALL) before (-1) or behind (1) a step."""
    pipes = list(Pipe) if pipe == "ALL" else [Pipe(pipe)]
    near = [s for s in order if (order[s] - order[at]) * way > 0 and _scope(s) is _scope(at)]
    rivals = [s for s in near if s.pipe in pipes and not s.cross_core]
    return min(rivals, key=lambda s: abs(order[s] - order[at])).stmt if rivals else None


class _Matcher:
    """Runs the cut program and joins the statements that handle one flag."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.up: dict[tuple, Step] = {}
        self.parent: dict[Step, Step] = {}
        self.raised: dict[Step, set] = {}

    def root(self, step: Step) -> Step:
        while step in self.parent:
            step = self.parent[step]
        return step

    def sequence(self, seq: Seq, point: tuple[int, ...]) -> None:
        for child in seq.children:
            self._node(child, point)

    def _node(self, node: Node, point: tuple[int, ...]) -> None:
        if isinstance(node, Step) and node.sync in ("set_flag", "wait_flag"):
            self._flag(node, point)
        elif isinstance(node, Step) and node.cross_core in (SET, WAIT):
            self.raised.setdefault(node, set()).add(self.program.flag_id(node, point))
        elif isinstance(node, Wrap):  # the scopes of a mixed kernel have flags of their own
            up, self.up = self.up, {}
            self.sequence(node.body, point)
            self.up = up
        elif isinstance(node, Loop):
            for k in range(self.program.counters[node].cut):
                self.sequence(node.body, (*point, k))
        elif isinstance(node, Branch):
            before = dict(self.up)
            taken = self.program.taken(node, point)
            # Where the loop may end or go on, this run goes on.
            for side in taken[:1] if node in self.program.going_on else taken:
                self.up = dict(before)
                self.sequence(side, point)
        else:
            for body in bodies(node):
                self.sequence(body, point)

    def _flag(self, step: Step, point: tuple[int, ...]) -> None:
        token = (event_of(step), self.program.flag_id(step, point))
        other = self.up.pop(token, None)
        if step.sync == "set_flag":
            self.up[token] = step
        elif other is not None:
            self._join(other, step)

    def join_cores(self) -> None:
        """Join the statements of flags between cores that share an id."""
        sets = [s for s in self.raised if s.cross_core == SET]
        for step in (s for s in self.raised if s.cross_core == WAIT):
            for other in sets:
                crosses = str(other.stmt.value.args[0].value) == "2"
                hears = (_scope(other) is not _scope(step)) == crosses
                if hears and self.raised[other] & self.raised[step]:
                    self._join(other, step)

    def _join(self, one: Step, other: Step) -> None:
        a, b = self.root(one), self.root(other)
        if a is not b:
            self.parent[b] = a

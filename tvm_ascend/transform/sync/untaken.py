# SPDX-License-Identifier: Apache-2.0
"""Flags without partner on ways that a run may leave out: sides of branches, loops that do not run.

A function is followed statement by statement on one core, flags only. What data or arguments decide
is decided once each way; conditions that follow from one that was decided go with it. A branch that
only one way of another leads to is decided both ways there. Not looked at are faults that need two
decisions, of which neither leads to the other, to be unusual at once; branches and loops decided by
memory that the kernel wrote with anything but a scalar store; loops that run more often than twice
where nothing else fixes their length; where the number of a core decides about flags, cores beyond
the first 64, and where it only picks elements, all but the first three and the last; and what is
left after ``MOST_WAYS`` ways or the ``Work`` for one program.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend.isa.instr import Space
from tvm_ascend.language.core_sides import is_mixed, programs
from tvm_ascend.schedule.match import loads, variables
from tvm_ascend.transform.sync.flag_way import (
    FLAGS,
    USUAL_TRIPS,
    Core,
    Decisions,
    FlagWay,
    Work,
    event_of,
    grid_extent,
    jump_of,
    key_of_row,
    parts_of,
    writes_of,
)

_MOST_FORKS = 4
_MOST_CORES = 64
MOST_WAYS = 400
"""How many ways through a program are followed, of all cores together; each takes milliseconds."""


@dataclass(frozen=True)
class UnmatchedFlag:
    """A flag statement that finds no partner where ``branch`` goes a certain ``way``.

    ``problem`` is ``"set"`` (no wait lowers it) or ``"wait"`` (nothing raises it), ``partner`` the
    nearest statement of the same event that could have been it. A run went that way if it reached
    any of ``side``; if that is empty nothing tells.
    """

    problem: str
    statement: tirx.Stmt
    partner: tirx.Stmt | None
    branch: tirx.Stmt
    way: str
    side: Sequence[tirx.Stmt]


def unmatched_flags(func: tirx.PrimFunc) -> list[UnmatchedFlag]:
    """Every flag without partner that depends on the way of one branch or loop."""
    if not _depends(func):
        return []
    return [found for program in programs(func) for found in _of_program(program)]


def _depends(func: tirx.PrimFunc) -> bool:
    """Whether anything decides about ways but the number of the core and counters of loops."""
    scalars = {p for p in func.params if not tirx.is_buffer_var(p)}
    return any(loads(expr) or variables(expr) & scalars for expr in _decisions(func.body))


def _leaves(body: tirx.Stmt) -> list[tirx.Stmt]:
    """The statements that do something themselves."""
    found: list[tirx.Stmt] = []
    tvm_ffi.structural_walk(body, [((tirx.Evaluate, tirx.BufferStore), found.append)])
    return found


def _decisions(body: tirx.Stmt) -> list[tvm.ir.Expr]:
    """Conditions, lengths of loops, and what has a name that they may be made of."""
    found: list[tvm.ir.Expr] = []
    rules = [
        (tirx.IfThenElse, lambda s: found.append(s.condition)),
        (tirx.For, lambda s: found.append(s.extent)),
        (tirx.While, lambda s: found.append(s.condition)),
        (tirx.Bind, lambda s: found.append(s.value)),
    ]
    tvm_ffi.structural_walk(body, rules)
    return found


def _of_program(func: tirx.PrimFunc) -> Iterator[UnmatchedFlag]:
    plan = _Plan(func)
    if not plan.flags:
        return
    for core in plan.cores:
        yield from _of_core(plan, core, {}, set())


def _of_core(
    plan: _Plan, core: Core, base: Decisions, seen: set[tirx.Stmt]
) -> Iterator[UnmatchedFlag]:
    """What is unmatched where the decisions of ``base`` lead, at branches not ``seen`` before."""
    if plan.ended():
        return
    way = plan.way(core, base, ())
    way.run()
    fresh = [branch for branch in way.open if branch not in seen]
    seen.update(fresh)
    for branch in fresh:
        yield from _of_branch(plan, core, base, branch)
    for branch in fresh:
        for decision in _ways(branch):
            yield from _of_core(plan, core, {**base, branch: decision}, seen)


def _ways(branch: tirx.Stmt) -> tuple[int, ...]:
    return (0, 1) if isinstance(branch, tirx.IfThenElse) else (0, 1, USUAL_TRIPS)


def _of_branch(
    plan: _Plan, core: Core, base: Decisions, branch: tirx.Stmt
) -> Iterator[UnmatchedFlag]:
    """What is unmatched one way and not the other."""
    if plan.ended():
        return
    loop = not isinstance(branch, tirx.IfThenElse)
    ways = _ways(branch)
    results = {way: _problems(plan, core, {**base, branch: way}) for way in ways}
    if any(result is None for result in results.values()):
        return
    for way in ways:
        for key, statement in results[way].items():
            anyway = all(key in result for result in results.values())
            also_later = way == 1 and loop and key in results[USUAL_TRIPS]
            if anyway or also_later or plan.told(branch, way, key):
                continue
            partner, side = plan.partner(statement), plan.side(branch, way)
            yield UnmatchedFlag(key[0], statement, partner, branch, _text(branch, way), side)


def _text(branch: tirx.Stmt, way: int) -> str:
    if isinstance(branch, tirx.IfThenElse):
        return "is not taken" if way else "is taken"
    return ("does not run", "runs once", "runs")[way]


def _problems(plan: _Plan, core: Core, forced: Decisions) -> dict | None:
    """The unmatched flags of a way, whatever related conditions are; None if that is too much."""
    found: list[dict] = []
    forks: list[tuple[int, ...]] = [()]
    while forks:
        fork = forks.pop()
        way = plan.way(core, forced, fork)
        if not way.run():
            return None
        if way.related > len(fork):
            if len(fork) >= _MOST_FORKS:
                return None
            forks += [(*fork, 0), (*fork, 1)]
        else:
            found.append(way.problems)
    first, *rest = found
    return {key: stmt for key, stmt in first.items() if all(key in other for other in rest)}


def _without_loads(expr: tvm.ir.Expr) -> tvm.ir.Expr:
    rules = [(TensorLoad, lambda load, _m: tirx.const(0, str(load.ty.dtype)))]
    return tvm_ffi.structural_mutate(expr, rules)


class _Plan:
    """What is known of a program before it is followed."""

    def __init__(self, func: tirx.PrimFunc) -> None:
        self.body = func.body
        self.flags: list[tirx.Stmt] = []
        self.relevant: set[tirx.Stmt] = set()
        self.decisions = _decisions(func.body)
        self.asked = {load.source for expr in self.decisions for load in loads(expr)}
        self.followed = 0
        self.work = Work()
        self._told: set[tuple] = set()
        self._find(func.body)
        self.cores = self._cores()
        several = len(self.cores) > 1 or is_mixed(func)
        self.shared = self._written() if several else set()

    def way(self, core: Core, forced: Decisions, fork: Sequence[int]) -> FlagWay:
        """A way that is to be followed."""
        self.followed += 1
        return FlagWay(self.relevant, self.body, core, forced, fork, self.shared, self.work)

    def ended(self) -> bool:
        """Whether no more ways are followed."""
        return self.followed >= MOST_WAYS or self.work.left < 0

    def told(self, branch: tirx.Stmt, way: int, key: tuple) -> bool:
        """Whether another core said so already."""
        known = (branch, way, *key) in self._told
        self._told.add((branch, way, *key))
        return known

    def partner(self, statement: tirx.Stmt) -> tirx.Stmt | None:
        """The nearest statement of the other kind with the same event."""
        at = next(i for i, flag in enumerate(self.flags) if flag.same_as(statement))
        rivals = [
            (abs(i - at), flag)
            for i, flag in enumerate(self.flags)
            if event_of(flag) == event_of(statement) and key_of_row(flag) != key_of_row(statement)
        ]
        return min(rivals, key=lambda rival: rival[0])[1] if rivals else None

    def side(self, branch: tirx.Stmt, way: int) -> list[tirx.Stmt]:
        """The statements that only run on that way."""
        if isinstance(branch, tirx.IfThenElse):
            body = branch.else_case if way else branch.then_case
        else:
            body = branch.body if way else None
        return [] if body is None else _leaves(body)

    def _cores(self) -> list[Core]:
        """The cores that may differ in their ways."""
        grid: dict[tirx.Var, int] = {}

        def axis(stmt: tirx.AttrStmt) -> None:
            if isinstance(stmt.node, tirx.IterVar):
                grid[stmt.node.var] = grid_extent(stmt)

        tvm_ffi.structural_walk(self.body, [(tirx.AttrStmt, axis)])
        ids = [flag.value.args[1] for flag in self.flags]
        decides: set[tirx.Var] = set()
        for expr in [*self.decisions, *ids]:
            decides |= variables(_without_loads(expr))
        # An index alone tells elements apart: the same one, another, and the outermost are enough.
        points = [
            range(n) if v in decides else {0, 1, 2, n - 1} & {*range(n)} for v, n in grid.items()
        ]
        every = itertools.product(*map(sorted, points))
        return [
            dict(zip(grid, point, strict=True)) for point in itertools.islice(every, _MOST_CORES)
        ]

    def _written(self) -> set[tirx.Var]:
        """The tensors in GM that some core writes."""
        writes = [access for stmt in _leaves(self.body) for access in writes_of(stmt)]
        return {access.buffer for access in writes if access.space is Space.GM}

    def _find(self, stmt: tirx.Stmt) -> bool:
        parts = [self._find(part) for part in parts_of(stmt)]
        if key_of_row(stmt) in FLAGS:
            self.flags.append(stmt)
        own = key_of_row(stmt) in FLAGS or jump_of(stmt) or isinstance(stmt, tirx.Bind)
        own = own or any(access.buffer in self.asked for access in writes_of(stmt))
        if own or any(parts):
            self.relevant.add(stmt)
            return True
        return False

# SPDX-License-Identifier: Apache-2.0
"""One way through the flags of a program, with what data or arguments decide decided on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend.sym import Analyzer
from tvm_ascend.transform.sync.access import Access, accesses_of, instruction
from tvm_ascend.transform.sync.tree import JUMPS
from tvm_ascend.transform.tile_args import proves

FLAGS = ("set_flag", "wait_flag")
USUAL_TRIPS = 2
"""How often a loop runs of which nothing else is known."""
_MOST_STEPS = 5000

Decision = tuple[tirx.Stmt, int]


@dataclass
class FlagWay:
    """One run over the flags of a program, with one decision forced.

    ``fork`` are the sides taken at branches whose condition may or may not follow from others.
    """

    relevant: set[tirx.Stmt]
    body: tirx.Stmt
    block: int
    forced: Decision | None
    fork: Sequence[int]
    problems: dict[tuple, tirx.Stmt] = field(default_factory=dict)
    open: list[tirx.Stmt] = field(default_factory=list)
    related: int = 0

    def __post_init__(self) -> None:
        self.analyzer = Analyzer()
        self.values: dict[tirx.Var, tvm.ir.Expr] = {}
        self.facts: list[tvm.ir.Expr] = []
        self.versions: dict[tvm.ir.Var, int] = {}
        self.names: dict[tuple, tirx.Var] = {}
        self.up: dict[tuple, tirx.Stmt] = {}
        self.steps = 0

    def run(self) -> bool:
        """Follow the program; False if it is too long."""
        try:
            self._stmt(self.body)
        except _TooLong:
            return False
        for stmt in self.up.values():
            self.problems["set", stmt] = stmt
        return True

    def _stmt(self, stmt: tirx.Stmt) -> None:
        if stmt not in self.relevant:
            return
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise _TooLong
        if isinstance(stmt, tirx.AttrStmt):
            if isinstance(stmt.node, tirx.IterVar):
                self.values[stmt.node.var] = tirx.IntImm(
                    "int32", min(self.block, grid_extent(stmt) - 1)
                )
            self._stmt(stmt.body)
        elif isinstance(stmt, tirx.IfThenElse):
            self._branch(stmt)
        elif isinstance(stmt, (tirx.For, tirx.While)):
            self._loop(stmt)
        elif isinstance(stmt, tirx.Bind):
            self.values[stmt.var] = self._expr(stmt.value)
        elif key_of_row(stmt) in FLAGS:
            self._flag(stmt)
        elif jump_of(stmt):
            raise _Jump(jump_of(stmt))
        else:
            for access in writes_of(stmt):
                self.versions[access.buffer] = self.versions.get(access.buffer, 0) + 1
            for part in parts_of(stmt):
                self._stmt(part)

    def _flag(self, stmt: tirx.Stmt) -> None:
        token = (event_of(stmt), str(self._expr(stmt.value.args[1])))
        before = self.up.pop(token, None)
        if key_of_row(stmt) == "set_flag":
            self.up[token] = stmt
            if before is not None:
                self.problems["set", before] = before
        elif before is None:
            self.problems["wait", stmt] = stmt

    def _branch(self, stmt: tirx.IfThenElse) -> None:
        condition = self._expr(stmt.condition)
        side = self._decide(stmt, condition)
        body = stmt.else_case if side else stmt.then_case
        if body is not None:
            self._stmt(body)

    def _decide(self, stmt: tirx.IfThenElse, condition: tvm.ir.Expr) -> int:
        if isinstance(condition, tirx.IntImm):
            return int(not condition.value)
        with self._knowing():
            for side, holds in enumerate((condition, tirx.Not(condition))):
                if proves(self.analyzer, holds):
                    return side
        side = self._choose(stmt, condition)
        self.facts.append(tirx.Not(condition) if side else condition)
        return side

    def _choose(self, stmt: tirx.Stmt, condition: tvm.ir.Expr) -> int:
        if self.forced is not None and stmt.same_as(self.forced[0]):
            return self.forced[1]
        self._note_open(stmt)
        if self._is_related(condition):
            self.related += 1
            return self.fork[self.related - 1] if self.related <= len(self.fork) else 0
        return 0

    def _is_related(self, condition: tvm.ir.Expr) -> bool:
        """Whether a condition is about the same data as one that was decided."""
        known = {root for fact in self.facts for root in self._roots(fact)}
        return bool(known & self._roots(condition))

    def _roots(self, expr: tvm.ir.Expr) -> set:
        named = {var: key[0] for key, var in self.names.items()}
        return {named.get(var, var) for var in tirx.analysis.undefined_vars(expr, [])}

    def _loop(self, stmt: tirx.For | tirx.While) -> None:
        trips = self._trips(stmt)
        low = self._expr(stmt.min) if isinstance(stmt, tirx.For) else None
        for k in range(trips):
            if isinstance(stmt, tirx.For):
                self.values[stmt.loop_var] = self.analyzer.simplify(low + k * (stmt.step or 1))
            try:
                self._stmt(stmt.body)
            except _Jump as jump:
                if jump.name == JUMPS[0]:
                    break

    def _trips(self, stmt: tirx.For | tirx.While) -> int:
        counted = isinstance(stmt, tirx.For)
        extent = self._expr(stmt.extent if counted else stmt.condition)
        if isinstance(extent, tirx.IntImm) and (counted or not extent.value):
            return max(int(extent.value), 0)
        forced = self.forced is not None and stmt.same_as(self.forced[0])
        wanted = [self.forced[1]] if forced and self.forced else []
        if not counted:
            self._note_open(stmt)
            return next(iter([*wanted, USUAL_TRIPS]))
        counts = (*wanted, USUAL_TRIPS, 1, 0)
        with self._knowing():
            sure = next((t for t in counts if proves(self.analyzer, _runs(extent, t))), None)
            may = [t for t in counts if not proves(self.analyzer, tirx.Not(_runs(extent, t)))]
        if sure is not None:
            return sure
        self._note_open(stmt)
        trips = next(iter([*may, USUAL_TRIPS]))
        self.facts.append(_runs(extent, trips))
        return trips

    @contextmanager
    def _knowing(self) -> Iterator[None]:
        """Prove things by what was decided."""
        with ExitStack() as scopes:
            for fact in self.facts:
                scopes.enter_context(self.analyzer.constraint_scope(fact))
            yield

    def _note_open(self, stmt: tirx.Stmt) -> None:
        if not any(stmt.same_as(known) for known in self.open):
            self.open.append(stmt)

    def _expr(self, expr: tvm.ir.Expr) -> tvm.ir.Expr:
        """An expression in numbers, arguments, and a name for each element that is read."""

        def load(node: TensorLoad, mutator: object) -> tirx.Var:
            at = [str(mutator.mutate(index)) for index in node.indices]
            key = (node.source, *at, self.versions.get(node.source, 0))
            if key not in self.names:
                self.names[key] = tirx.Var("element", str(node.ty.dtype))
            return self.names[key]

        rules = [(TensorLoad, load), (tirx.Var, lambda v, _m: self.values.get(v, v))]
        return self.analyzer.simplify(tvm_ffi.structural_mutate(expr, rules))


def _runs(extent: tvm.ir.Expr, trips: int) -> tvm.ir.Expr:
    """The condition that a loop of that extent runs so often."""
    return tirx.EQ(extent, trips) if trips else extent <= 0


class _TooLong(Exception):
    """The program has more statements than are followed."""


class _Jump(Exception):
    """A break or a continue."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def parts_of(stmt: tirx.Stmt) -> list[tirx.Stmt]:
    """The statements directly inside another."""
    if isinstance(stmt, tirx.SeqStmt):
        return list(stmt.seq)
    if isinstance(stmt, tirx.IfThenElse):
        return [case for case in (stmt.then_case, stmt.else_case) if case is not None]
    return [stmt.body] if isinstance(stmt, (tirx.For, tirx.While, tirx.AttrStmt)) else []


def writes_of(stmt: tirx.Stmt) -> list[Access]:
    """What an instruction or a store writes."""
    leaf = isinstance(stmt, (tirx.Evaluate, tirx.BufferStore))
    return [access for access in accesses_of(stmt) if access.writes] if leaf else []


def key_of_row(stmt: tirx.Stmt) -> str:
    """The key of an instruction, or nothing."""
    row = instruction(stmt) if isinstance(stmt, tirx.Evaluate) else None
    return row.key if row is not None else ""


def event_of(stmt: tirx.Stmt) -> str:
    """The event of a flag statement."""
    return str(stmt.value.args[0].value)


def jump_of(stmt: tirx.Stmt) -> str:
    """The name of a break or continue, or nothing."""
    if isinstance(stmt, tirx.Evaluate) and isinstance(stmt.value, tvm.ir.Call):
        op = stmt.value.op
        return op.name if isinstance(op, tvm.ir.Op) and op.name in JUMPS else ""
    return ""


def grid_extent(stmt: tirx.AttrStmt) -> int:
    """How many cores a part of the grid has; 1 of anything else."""
    if not isinstance(stmt.node, tirx.IterVar) or not isinstance(stmt.value, tirx.IntImm):
        return 1
    return int(stmt.value)

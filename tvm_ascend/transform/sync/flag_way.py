# SPDX-License-Identifier: Apache-2.0
"""One way through the flags of a program, with what data or arguments decide decided on the way."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend.sym import Analyzer
from tvm_ascend.transform.sync.access import Access, accesses_of, instruction
from tvm_ascend.transform.sync.flag_memory import Memory
from tvm_ascend.transform.sync.tree import JUMPS
from tvm_ascend.transform.tile_args import proves

FLAGS = ("set_flag", "wait_flag")
USUAL_TRIPS = 2
"""How often a loop runs of which nothing else is known."""
_MOST_NODES = 64
"""Of an expression whose value is followed; a larger one has an unknown value."""

_LINEAR = (
    *(tirx.Add, tirx.Sub, tirx.And, tirx.Or),
    *(tirx.EQ, tirx.NE, tirx.LT, tirx.LE, tirx.GT, tirx.GE),
)

Decisions = Mapping[tirx.Stmt, int]
Core = Mapping[tirx.Var, int]
"""Where in the grid a core is: the value of each variable that says so."""


@dataclass
class Work:
    """How much is still done for one program: statements, expressions, and facts at decisions."""

    left: int = 10_000

    def spend(self, much: int) -> None:
        """Give up where nothing is left."""
        self.left -= much
        if self.left < 0:
            raise _GivenUp


@dataclass
class FlagWay:
    """One run over the flags of a program, with some decisions forced.

    ``fork`` are the sides taken at branches whose condition may or may not follow from others, or
    that ask for memory that the kernel wrote with an unknown value. ``shared`` are the tensors that
    other cores write too.
    """

    relevant: set[tirx.Stmt]
    body: tirx.Stmt
    core: Core
    forced: Decisions
    fork: Sequence[int]
    shared: Container[tirx.Var] = ()
    work: Work = field(default_factory=Work)
    problems: dict[tuple, tirx.Stmt] = field(default_factory=dict)
    open: list[tirx.Stmt] = field(default_factory=list)
    related: int = 0

    def __post_init__(self) -> None:
        self.analyzer = Analyzer()
        self.values: dict[tirx.Var, tvm.ir.Expr] = {}
        self.facts: list[tvm.ir.Expr] = []
        self.memory = Memory(self.shared)
        self.up: dict[tuple, tirx.Stmt] = {}

    def run(self) -> bool:
        """Follow the program; False if it cannot be judged."""
        try:
            self._stmt(self.body)
        except _GivenUp:
            return False
        for stmt in self.up.values():
            self.problems["set", stmt] = stmt
        return True

    def _stmt(self, stmt: tirx.Stmt) -> None:
        if stmt not in self.relevant:
            return
        self.work.spend(1)
        if isinstance(stmt, tirx.AttrStmt):
            if isinstance(stmt.node, tirx.IterVar):
                var = stmt.node.var
                self.values[var] = tirx.IntImm("int32", self.core.get(var, 0))
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
        elif isinstance(stmt, tirx.BufferStore):
            at = [self._expr(index) for index in stmt.indices]
            self.memory.store(stmt.buffer, at, self._expr(stmt.value))
        else:
            for access in writes_of(stmt):
                self.memory.overwrite(access.buffer)
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
        if self.memory.is_unknown(condition):
            return self._choose(stmt, condition)
        with self._knowing():
            for side, holds in enumerate((condition, tirx.Not(condition))):
                if proves(self.analyzer, holds):
                    return side
        side = self._choose(stmt, condition)
        self.facts.append(tirx.Not(condition) if side else condition)
        return side

    def _choose(self, stmt: tirx.Stmt, condition: tvm.ir.Expr) -> int:
        unknown = self.memory.is_unknown(condition)
        if not unknown and stmt in self.forced:
            return self.forced[stmt]
        if not unknown:
            self._note_open(stmt)
        if unknown or self._is_related(condition):
            self.related += 1
            return self.fork[self.related - 1] if self.related <= len(self.fork) else 0
        return 0

    def _is_related(self, condition: tvm.ir.Expr) -> bool:
        """Whether a condition may follow from one that was decided although no proof was found.

        Of linear arithmetic on integers the prover finds every proof.
        """
        roots = self._roots(condition)
        facts = [fact for fact in self.facts if roots & self._roots(fact)]
        return bool(facts) and not all(map(_is_linear, [condition, *facts]))

    def _roots(self, expr: tvm.ir.Expr) -> set:
        return {self.memory.root(var) for var in tirx.analysis.undefined_vars(expr, [])}

    def _loop(self, stmt: tirx.For | tirx.While) -> None:
        turns = self._counted(stmt) if isinstance(stmt, tirx.For) else self._turns(stmt)
        for _ in turns:
            if self._breaks(stmt.body):
                break

    def _breaks(self, body: tirx.Stmt) -> bool:
        """Whether an iteration ends its loop."""
        try:
            self._stmt(body)
        except _Jump as jump:
            return jump.name == JUMPS[0]
        return False

    def _counted(self, stmt: tirx.For) -> Iterator[int]:
        low = self._expr(stmt.min)
        for k in range(self._trips(stmt)):
            self.values[stmt.loop_var] = self.analyzer.simplify(low + k * (stmt.step or 1))
            yield k

    def _turns(self, stmt: tirx.While) -> Iterator[int]:
        """Iterations as the condition says; as many as are wanted where it depends on data."""
        wanted = self.forced.get(stmt, USUAL_TRIPS)
        for k in itertools.count():
            condition = self._judged(stmt.condition)
            if isinstance(condition, tirx.IntImm):
                goes_on = bool(condition.value)
            else:
                self._note_open(stmt)
                goes_on = k < wanted
            if not goes_on:
                return
            yield k

    def _trips(self, stmt: tirx.For) -> int:
        extent = self._judged(stmt.extent)
        if isinstance(extent, tirx.IntImm):
            return max(int(extent.value), 0)
        wanted = [self.forced[stmt]] if stmt in self.forced else []
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

    def _judged(self, expr: tvm.ir.Expr) -> tvm.ir.Expr:
        """What decides about a loop; where nothing is known of it the way is given up."""
        value = self._expr(expr)
        if self.memory.is_unknown(value):
            raise _GivenUp
        return value

    @contextmanager
    def _knowing(self) -> Iterator[None]:
        """Prove things by what was decided."""
        self.work.spend(len(self.facts))
        with ExitStack() as scopes:
            for fact in self.facts:
                scopes.enter_context(self.analyzer.constraint_scope(fact))
            yield

    def _note_open(self, stmt: tirx.Stmt) -> None:
        if stmt not in self.open and stmt not in self.forced:
            self.open.append(stmt)

    def _expr(self, expr: tvm.ir.Expr) -> tvm.ir.Expr:
        """An expression in numbers, arguments, and what each element that is read holds."""

        nodes = _nodes(expr)

        def counted(value: tvm.ir.Expr) -> tvm.ir.Expr:
            nonlocal nodes
            nodes += _nodes(value)
            return value

        def load(node: TensorLoad, mutator: object) -> tvm.ir.Expr:
            at = [mutator.mutate(index) for index in node.indices]
            return counted(self.memory.load(node, at))

        rules = [(TensorLoad, load), (tirx.Var, lambda v, _m: counted(self.values.get(v, v)))]
        value = tvm_ffi.structural_mutate(expr, rules)
        self.work.spend(1)
        # Unsimplified, for a value made twice of the last one doubles with every iteration.
        if nodes > _MOST_NODES:
            return self.memory.unknown(str(expr.ty.dtype))
        return self.analyzer.simplify(value)


def _nodes(expr: tvm.ir.Expr) -> int:
    """How large an expression is."""
    count = 0

    def node(_: object) -> None:
        nonlocal count
        count += 1

    tvm_ffi.structural_walk(expr, [(tvm.ir.Expr, node)])
    return count


def _is_linear(expr: tvm.ir.Expr) -> bool:
    if isinstance(expr, (tirx.Var, tirx.IntImm)):
        return True
    if isinstance(expr, tirx.Mul):
        by_number = isinstance(expr.a, tirx.IntImm) or isinstance(expr.b, tirx.IntImm)
        return by_number and _is_linear(expr.a) and _is_linear(expr.b)
    if isinstance(expr, tirx.Not):
        return _is_linear(expr.a)
    return isinstance(expr, _LINEAR) and _is_linear(expr.a) and _is_linear(expr.b)


def _runs(extent: tvm.ir.Expr, trips: int) -> tvm.ir.Expr:
    """The condition that a loop of that extent runs so often."""
    return tirx.EQ(extent, trips) if trips else extent <= 0


class _GivenUp(Exception):
    """There is too much to follow, or memory of unknown values decides about a loop."""


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

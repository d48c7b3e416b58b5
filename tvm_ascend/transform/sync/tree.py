# SPDX-License-Identifier: Apache-2.0
"""Instruction TIR as a tree of sequences, steps, loops and branches, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import tvm
from tvm import tirx
from tvm.ir import Op

from tvm_ascend import sym
from tvm_ascend.errors import LoopConditionOnChip
from tvm_ascend.isa import cross_core, sync
from tvm_ascend.isa.instr import Pipe, Space
from tvm_ascend.transform.sync.access import Access, accesses_of, instruction

SYNC_KEYS = tuple(row.key for row in sync.ROWS)
CROSS_CORE_KEYS = tuple(row.key for row in cross_core.ROWS)
JUMPS = ("tirx.break_loop", "tirx.continue_loop")


@dataclass(eq=False)
class Node:
    """One statement; ``parent`` is the sequence that holds it, ``index`` its place there."""

    stmt: tirx.Stmt
    parent: Seq | None = None
    index: int = 0

    @property
    def home(self) -> Seq:
        """The sequence that holds it."""
        assert self.parent is not None
        return self.parent


@dataclass(eq=False)
class Step(Node):
    """A statement without a body.

    ``sync`` is the key of a set_flag, wait_flag or pipe_barrier, ``cross_core`` that of a row which
    orders cores.
    """

    accesses: list[Access] = field(default_factory=list)
    pipe: Pipe | None = None
    sync: str = ""
    cross_core: str = ""

    @property
    def queue(self) -> Pipe:
        """The pipe of a step that does something."""
        assert self.pipe is not None
        return self.pipe


@dataclass(eq=False)
class Loop(Node):
    """A loop; ``var`` is None for a while loop, ``jump`` is a break or continue inside it."""

    var: tirx.Var | None = None
    jump: tirx.Stmt | None = None
    body: Seq = field(default_factory=lambda: Seq())


@dataclass(eq=False)
class Branch(Node):
    """A conditional of one or two sequences."""

    sides: list[Seq] = field(default_factory=list)


@dataclass(eq=False)
class Wrap(Node):
    """An attribute around a body, such as the grid."""

    body: Seq = field(default_factory=lambda: Seq())


@dataclass(eq=False)
class Seq:
    """Statements in order; ``owner`` is the node whose body it is."""

    owner: Node | None = None
    children: list[Node] = field(default_factory=list)

    def chain(self) -> list[Seq]:
        """This sequence and those around it, innermost first."""
        found, at = [self], self.owner
        while at is not None:
            found.append(at.home)
            at = at.home.owner
        return found

    def loops(self) -> list[Loop]:
        """The loops around this sequence, outermost first."""
        owners = [seq.owner for seq in self.chain()]
        return [o for o in reversed(owners) if isinstance(o, Loop)]


def build(body: tirx.Stmt) -> Seq:
    """Read a function body."""
    return _sequence(body, None)


def nodes(seq: Seq) -> Iterator[Node]:
    """Every node in program order, one with a body before what is in it."""
    for child in seq.children:
        yield child
        for inner in bodies(child):
            yield from nodes(inner)


def steps(seq: Seq) -> Iterator[Step]:
    """Every step in program order."""
    return (node for node in nodes(seq) if isinstance(node, Step))


def bodies(node: Node) -> list[Seq]:
    """The sequences directly inside a node."""
    if isinstance(node, Branch):
        return node.sides
    return [node.body] if isinstance(node, (Loop, Wrap)) else []


def rebuild(seq: Seq, before: dict[Node, list], after: dict[Node, list]) -> tirx.Stmt:
    """Write the tree back with statements inserted before and after nodes."""
    out: list[tirx.Stmt] = []
    for child in seq.children:
        out += [*before.get(child, ()), _node(child, before, after), *after.get(child, ())]
    return tirx.SeqStmt(out) if len(out) > 1 else next(iter(out), tirx.Evaluate(0))


def _node(node: Node, before: dict, after: dict) -> tirx.Stmt:
    stmt = node.stmt
    inner = [rebuild(body, before, after) for body in bodies(node)]
    if isinstance(node, Branch):
        other = inner[1] if len(inner) > 1 else None
        return tirx.IfThenElse(stmt.condition, inner[0], other, stmt.span)
    if isinstance(node, Wrap):
        return tirx.AttrStmt(stmt.node, stmt.attr_key, stmt.value, inner[0], stmt.span)
    if isinstance(stmt, tirx.While):
        return tirx.While(stmt.condition, inner[0], stmt.span)
    if isinstance(node, Loop):
        return with_loop_body(stmt, inner[0])
    return stmt


def continues(loop: tirx.For) -> tvm.ir.Expr:
    """The condition that an iteration is not the last one."""
    last = sym.Analyzer().simplify(loop.min + loop.extent)
    return loop.loop_var + 1 < last


def with_loop_body(loop: tirx.For, body: tirx.Stmt, **changes: Any) -> tirx.For:
    """The loop around another body."""
    annotations = changes.get("annotations", loop.annotations)
    return tirx.For(
        loop.loop_var,
        loop.min,
        loop.extent,
        loop.kind,
        body,
        loop.thread_binding,
        annotations,
        loop.step,
        loop.span,
    )


def _sequence(stmt: tirx.Stmt, owner: Node | None) -> Seq:
    seq = Seq(owner)
    for child in stmt.seq if isinstance(stmt, tirx.SeqStmt) else [stmt]:
        node = _read(child)
        node.parent, node.index = seq, len(seq.children)
        seq.children.append(node)
    return seq


def _jump_of(body: tirx.Stmt) -> tirx.Stmt | None:
    """A break or continue that belongs to the loop around ``body``."""
    if isinstance(body, tirx.SeqStmt):
        return next((j for j in map(_jump_of, body.seq) if j is not None), None)
    if isinstance(body, tirx.IfThenElse):
        cases = [c for c in (body.then_case, body.else_case) if c is not None]
        return next((j for j in map(_jump_of, cases) if j is not None), None)
    if isinstance(body, tirx.Evaluate) and isinstance(body.value, tvm.ir.Call):
        op = body.value.op
        return body if isinstance(op, Op) and op.name in JUMPS else None
    return None


def _read(stmt: tirx.Stmt) -> Node:
    if isinstance(stmt, tirx.For):
        loop = Loop(stmt, var=stmt.loop_var, jump=_jump_of(stmt.body))
        loop.body = _sequence(stmt.body, loop)
        return loop
    if isinstance(stmt, tirx.While):
        if any(a.space is not Space.GM for a in accesses_of(stmt)):
            raise LoopConditionOnChip(stmt.span)
        loop = Loop(stmt, jump=_jump_of(stmt.body))
        loop.body = _sequence(stmt.body, loop)
        return loop
    if isinstance(stmt, tirx.IfThenElse):
        branch = Branch(stmt)
        cases = [c for c in (stmt.then_case, stmt.else_case) if c is not None]
        branch.sides = [_sequence(case, branch) for case in cases]
        return branch
    if isinstance(stmt, tirx.AttrStmt):
        wrap = Wrap(stmt)
        wrap.body = _sequence(stmt.body, wrap)
        return wrap
    return _step(stmt)


def _step(stmt: tirx.Stmt) -> Step:
    row = instruction(stmt)
    if row is not None and row.key in SYNC_KEYS:
        return Step(stmt, sync=row.key)
    if row is not None:
        between = row.key if row.key in CROSS_CORE_KEYS else ""
        return Step(stmt, accesses=accesses_of(stmt), pipe=row.pipe, cross_core=between)
    accesses = accesses_of(stmt)
    return Step(stmt, accesses=accesses, pipe=Pipe.S if accesses else None)

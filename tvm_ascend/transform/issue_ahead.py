# SPDX-License-Identifier: Apache-2.0
"""Issue the loads of a pipelined loop's next iteration before the work of this one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend import sym
from tvm_ascend.errors import IssueAheadValue
from tvm_ascend.isa.instr import CoreType, Pipe, Space
from tvm_ascend.language.core_sides import CORE_TYPE
from tvm_ascend.language.loops import NUM_STAGES
from tvm_ascend.transform.choices import decide, overrides_of
from tvm_ascend.transform.fresh_copy import fresh_copy
from tvm_ascend.transform.insert_sync import OWN_FLAGS
from tvm_ascend.transform.notes import note
from tvm_ascend.transform.sync.alternate import flags_alternate
from tvm_ascend.transform.sync.program import Program, read_structure
from tvm_ascend.transform.sync.tree import (
    Loop,
    Node,
    Seq,
    Step,
    bodies,
    build,
    continues,
    rebuild,
    steps,
)
from tvm_ascend.transform.sync_edit import list_syncs, without_sync

AHEAD = "issue_ahead"
"""The override: 0 leaves the loads where they are."""

_FOLDED = (tirx.Add, tirx.Sub, tirx.Mul, tirx.FloorDiv, tirx.FloorMod, tirx.Min, tirx.Max)


@prim_func_pass(opt_level=0, name="ascend.IssueAhead")
class IssueAhead:
    """Move the loads of L1 tiles, with their flags, one iteration ahead.

    Before::

        for k in T.serial(8, annotations={"ascend.num_stages": 2}):
            T.ascend.wait_flag("MTE1_MTE2", k % 2)
            T.ascend.data_copy_nd2nz(a[k % 2, 0], A[0, k * 64], ...)
            T.ascend.set_flag("MTE2_MTE1", k % 2)
            work(k)

    After::

        T.ascend.data_copy_nd2nz(a[0, 0], A[0, 0], ...)
        T.ascend.set_flag("MTE2_MTE1", 0)
        for k in T.serial(8, annotations={"ascend.num_stages": 2}):
            if k + 1 < 8:
                T.ascend.wait_flag("MTE1_MTE2", (k + 1) % 2)
                T.ascend.data_copy_nd2nz(a[(k + 1) % 2, 0], A[0, k * 64 + 64], ...)
                T.ascend.set_flag("MTE2_MTE1", (k + 1) % 2)
            work(k)

    The scalar unit issues in program order and stops at a full queue, and the work on one L1 tile
    fills that of MTE1: loads behind it reach MTE2 late. The last iteration issues the loads of
    the first one of the loop's next run, if it stands in a loop, with what that one loads first.

    Every queue gets the same entries in the same order as before, and every wait the same set (but
    for flags raised in advance, which the first loads need no more), so what is ordered stays
    ordered. That takes a set in front of every wait: a loop in which the loads wait for work of the
    same iteration is left alone, with a note. So are flags of the kernel's author. Runs after
    InsertSync. The override ``issue_ahead=0`` turns it off; where nothing can move there is no such
    choice.

    Raises
    ------
    IssueAheadValue : for any other value but 1.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        if func.attrs[CORE_TYPE] != CoreType.AIC.value or OWN_FLAGS in func.attrs:
            return func
        wanted = overrides_of(func).get(AHEAD, 1)
        if wanted not in (0, 1):
            raise IssueAheadValue(wanted)
        moved, text = _moved(func)
        if moved is None:
            return note(func, f"IssueAhead: {text}") if text else func
        return decide(note(moved, f"IssueAhead: {text}") if wanted else func, **{AHEAD: wanted})


def _moved(func: tirx.PrimFunc) -> tuple[tirx.PrimFunc | None, str]:
    """The function with its loads as far ahead as they can be shown to be safe, and a note.

    None where no load moves; the note then says why, or is empty where there is none to move.
    """
    levels = len(_loads(func).levels)
    for count in range(levels, 0, -1):
        loads = _loads(func)
        moved = _without_idle(loads.moved(func, count))
        names = [f"`{level.loop.var.name}`" for level in loads.levels]
        if flags_alternate(moved):
            beyond = "".join(f" and from one {name} to the next" for name in names[1:count])
            text = f"loads of loop {names[0]} are issued one iteration ahead{beyond}"
            return moved, text
    if levels:
        return None, f"loads of loop {names[0]} stay, ahead they would not be safe"
    return None, ""


def _without_idle(func: tirx.PrimFunc) -> tirx.PrimFunc:
    """Leave out flags that nothing precedes: the first loads find their tiles free."""
    syncs = enumerate(list_syncs(func))
    idle = [i for i, sync in syncs if sync.kind == "flag" and sync.first is None]
    for index in reversed(idle):
        func = without_sync(func, index)
    return func


@dataclass
class _Level:
    """A loop and what moves of its body: the statements that only the queue of MTE2 sees.

    In a loop around another that loads they stand before that one.
    """

    loop: Loop
    group: list[Node]


@dataclass
class _Loads:
    """The loops whose loads can move together, innermost first."""

    tree: Seq
    levels: list[_Level]

    def moved(self, func: tirx.PrimFunc, count: int) -> tirx.PrimFunc:
        """The function with the loads of ``count`` loops one iteration ahead."""
        levels = self.levels[:count]
        allocs: list[tirx.Stmt] = []
        for level in reversed(levels):
            body = level.loop.body
            own = [c for c in body.children if _allocates(c, level.group)]
            allocs += [c.stmt for c in own]
            body.children = [c for c in body.children if c not in (*level.group, *own)]
        before: dict[Node, list] = {levels[0].loop.body.children[0]: [_ahead(levels, 0)]}
        first = _statements(levels, {v: s.min for v, s in _loops(levels)})
        before[levels[-1].loop] = [*allocs, *first]
        return func.with_body(rebuild(self.tree, before, {}), func.span)


def _ahead(levels: list[_Level], at: int) -> tirx.Stmt:
    """The loads of the iteration that follows: of this loop, or of one around it if it ends."""
    loop = levels[at].loop.stmt
    values = {v: s.min for v, s in _loops(levels[:at])} | {loop.loop_var: loop.loop_var + 1}
    other = _ahead(levels, at + 1) if at + 1 < len(levels) else None
    loads = _sequence(_statements(levels[: at + 1], values))
    return tirx.IfThenElse(continues(loop), loads, other, loop.span)


def _loops(levels: list[_Level]) -> list[tuple[tirx.Var, tirx.For]]:
    return [(level.loop.stmt.loop_var, level.loop.stmt) for level in levels]


def _statements(levels: list[_Level], values: dict) -> list[tirx.Stmt]:
    """The loads of some loops, outermost first, in another iteration."""
    simplify = [(_FOLDED, sym.Analyzer().simplify)]
    nodes = [node for level in reversed(levels) for node in level.group]
    copies = [fresh_copy(node.stmt, values) for node in nodes]
    return [tvm_ffi.structural_map(stmt, simplify, order="post") for stmt in copies]


def _allocates(node: Node, group: list[Node]) -> bool:
    """Whether a node allocates what a group loads into."""
    used = {a.buffer for s in _steps(group) for a in s.accesses}
    return isinstance(node.stmt, tirx.AllocBuffer) and node.stmt.buffer in used


def _sequence(stmts: list[tirx.Stmt]) -> tirx.Stmt:
    return tirx.SeqStmt(stmts) if len(stmts) > 1 else stmts[0]


def _loads(func: tirx.PrimFunc) -> _Loads:
    """The innermost pipelined loop that loads L1 tiles, and those around it that may join."""
    tree = build(func.body)
    program = read_structure(tree)
    for loop in reversed(list(program.counters)):
        levels = [_Level(loop, _group(loop, program))]
        if not levels[0].group:
            continue
        while (around := _around(levels[-1].loop, program)) is not None:
            levels.append(around)
        return _Loads(tree, levels)
    return _Loads(tree, [])


def _group(loop: Loop, program: Program) -> list[Node]:
    """The loads of a loop's body and their flags; empty if it has none that can move."""
    if not _runs(loop, program) or int(loop.stmt.annotations.get(NUM_STAGES, 1)) < 2:
        return []
    children = loop.body.children
    group = [c for c in children if _is_load(c)]
    stays = [c for c in children if c not in group]
    if any(_touches_mte2(s) for s in _steps(stays)):
        return []
    into_l1 = any(a.space is Space.L1 and a.writes for s in _steps(group) for a in s.accesses)
    works = any(s.pipe is not None for s in _steps(stays))
    return group if into_l1 and works else []


def _around(loop: Loop, program: Program) -> _Level | None:
    """The loop around, if whatever it loads stands before ``loop``."""
    around = loop.home.owner
    if not isinstance(around, Loop) or not _runs(around, program):
        return None
    beside = [c for c in around.body.children if c is not loop]
    group = [c for c in beside if _is_load(c) and c.index < loop.index]
    stays = [c for c in beside if c not in group]
    return None if any(_touches_mte2(s) for s in _steps(stays)) else _Level(around, group)


def _runs(loop: Loop, program: Program) -> bool:
    """Whether a loop runs at least once, twice perhaps, and the scalar unit only issues in it."""
    counter = program.counters[loop]
    counted = isinstance(loop.stmt, tirx.For) and counter.least >= 1 and counter.most >= 2
    return counted and not _scalar(loop.body)


def _steps(nodes: list[Node]) -> Iterator[Step]:
    for node in nodes:
        if isinstance(node, Step):
            yield node
        for body in bodies(node):
            yield from steps(body)


def _is_load(node: Node) -> bool:
    """Whether everything in a node waits in the queue of MTE2."""
    inside = list(_steps([node]))
    return bool(inside) and all(_queue(s) is Pipe.MTE2 for s in inside)


def _queue(step: Step) -> Pipe | None:
    """The queue that an instruction or flag waits in."""
    if step.sync in ("set_flag", "wait_flag"):
        source, target = str(step.stmt.value.args[0].value).split("_")
        return Pipe(source if step.sync == "set_flag" else target)
    if step.sync:
        name = str(step.stmt.value.args[0].value)
        return None if name == "ALL" else Pipe(name)
    return step.pipe


def _touches_mte2(step: Step) -> bool:
    return _queue(step) is Pipe.MTE2 or (bool(step.sync) and _queue(step) is None)


def _scalar(seq: Seq) -> bool:
    """Whether the scalar unit computes or waits: then what it issues later depends on when."""
    return any(
        isinstance(step.stmt, tirx.Bind)
        or _queue(step) is Pipe.S
        or any(a.pipe is Pipe.S for a in step.accesses)
        for step in steps(seq)
    )

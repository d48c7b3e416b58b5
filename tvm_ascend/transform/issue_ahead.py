# SPDX-License-Identifier: Apache-2.0
"""Issue the loads of a pipelined loop's next iteration before the work of this one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import sym, tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.errors import IssueAheadValue
from tvm_ascend.isa.instr import CoreType, Pipe, Space
from tvm_ascend.language.core_sides import CORE_TYPE
from tvm_ascend.language.loops import NUM_STAGES
from tvm_ascend.transform.fresh_copy import fresh_copy
from tvm_ascend.transform.insert_sync import OWN_FLAGS
from tvm_ascend.transform.map_cores import DECISIONS, OPTIONS
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
    fills that of MTE1: loads behind it reach MTE2 late. The last iteration issues the loads of the
    first one of the next tile where the loop stands in a loop over tiles.

    Every queue gets the same entries in the same order as before, and every wait the same set (but
    for flags raised in advance, which the first loads need no more), so what is ordered stays
    ordered. That takes a set in front of every wait: a loop in which the loads wait for work of the
    same iteration is left alone, with a note. So are flags of the kernel's author. Runs after
    InsertSync. The override ``issue_ahead=0`` turns it off.

    Raises
    ------
    IssueAheadValue : for any other value but 1.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        if func.attrs[CORE_TYPE] != CoreType.AIC.value or OWN_FLAGS in func.attrs:
            return func
        wanted = int(func.attrs.get(OPTIONS, {}).get(AHEAD, 1))
        if wanted not in (0, 1):
            raise IssueAheadValue(wanted)
        func = func.with_attr(DECISIONS, {**func.attrs.get(DECISIONS, {}), AHEAD: wanted})
        return _moved(func) if wanted else func


def _moved(func: tirx.PrimFunc) -> tirx.PrimFunc:
    """The function with its loads as far ahead as they can be shown to be safe, and a note."""
    name = ""
    for across in (True, False):
        loads = _loads(func)
        if loads is None:
            return func
        name = loads.loop.var.name
        if not across:
            loads.tiles = None
        elif loads.tiles is None:
            continue
        moved = _without_idle(loads.moved(func))
        if flags_alternate(moved):
            where = f" and from one `{loads.tiles.var.name}` to the next" if across else ""
            text = f"loads of loop `{name}` are issued one iteration ahead{where}"
            return note(moved, f"IssueAhead: {text}")
    return note(func, f"IssueAhead: loads of loop `{name}` stay, ahead they would not be safe")


def _without_idle(func: tirx.PrimFunc) -> tirx.PrimFunc:
    """Leave out flags that nothing precedes: the first loads find their tiles free."""
    syncs = enumerate(list_syncs(func))
    idle = [i for i, sync in syncs if sync.kind == "flag" and sync.first is None]
    for index in reversed(idle):
        func = without_sync(func, index)
    return func


@dataclass
class _Loads:
    """What moves: ``group`` are the statements of ``loop`` that only the queue of MTE2 sees.

    ``tiles`` is the loop around, if the last iteration may load for its next one.
    """

    tree: Seq
    loop: Loop
    group: list[Node]
    tiles: Loop | None

    def moved(self, func: tirx.PrimFunc) -> tirx.PrimFunc:
        """The function with the loads one iteration ahead."""
        loop, tiles = self.loop.stmt, self.tiles.stmt if self.tiles else None
        body = self.loop.body
        allocs = [c for c in body.children if self._allocates(c)]
        body.children = [c for c in body.children if c not in (*self.group, *allocs)]
        start = {loop.loop_var: loop.min}
        other = None
        if tiles is not None:
            following = self._at({**start, tiles.loop_var: tiles.loop_var + 1})
            other = tirx.IfThenElse(continues(tiles), _sequence(following), None, loop.span)
            start[tiles.loop_var] = tiles.min
        ahead = self._at({loop.loop_var: loop.loop_var + 1})
        ahead = tirx.IfThenElse(continues(loop), _sequence(ahead), other, loop.span)
        outermost = self.tiles or self.loop
        before: dict[Node, list] = {body.children[0]: [ahead]}
        before[outermost] = [*(c.stmt for c in allocs), *self._at(start)]
        return func.with_body(rebuild(self.tree, before, {}), func.span)

    def _allocates(self, node: Node) -> bool:
        """Whether a node allocates what the group loads into."""
        if not isinstance(node.stmt, tirx.AllocBuffer):
            return False
        used = {a.buffer for s in _steps(self.group) for a in s.accesses}
        return node.stmt.buffer in used

    def _at(self, values: dict) -> list[tirx.Stmt]:
        """The group in another iteration."""
        simplify = [(_FOLDED, sym.Analyzer().simplify)]
        copies = [fresh_copy(node.stmt, values) for node in self.group]
        return [tvm_ffi.structural_map(stmt, simplify, order="post") for stmt in copies]


def _sequence(stmts: list[tirx.Stmt]) -> tirx.Stmt:
    return tirx.SeqStmt(stmts) if len(stmts) > 1 else stmts[0]


def _loads(func: tirx.PrimFunc) -> _Loads | None:
    """The innermost pipelined loop that loads L1 tiles, if its loads can be told apart."""
    tree = build(func.body)
    program = read_structure(tree)
    for loop in reversed(list(program.counters)):
        group = _group(loop, program)
        if group:
            around = loop.home.owner
            tiles = around if _is_loop_of_tiles(around, loop, program) else None
            return _Loads(tree, loop, group, tiles)
    return None


def _group(loop: Loop, program: Program) -> list[Node]:
    """The loads of a loop's body and their flags; empty if it has none that can move."""
    counter = program.counters[loop]
    pipelined = isinstance(loop.stmt, tirx.For) and int(loop.stmt.annotations.get(NUM_STAGES, 1))
    if not pipelined or pipelined < 2 or counter.least < 1 or counter.most < 2:
        return []
    children = loop.body.children
    group = [c for c in children if _is_load(c)]
    stays = [c for c in children if c not in group]
    if _scalar(loop.body) or any(_touches_mte2(s) for s in _steps(stays)):
        return []
    into_l1 = any(a.space is Space.L1 and a.writes for s in _steps(group) for a in s.accesses)
    works = any(s.pipe is not None for s in _steps(stays))
    return group if into_l1 and works else []


def _is_loop_of_tiles(around: Node | None, loop: Loop, program: Program) -> bool:
    """Whether nothing but ``loop`` loads in the loop around it, so that it may load across."""
    if not isinstance(around, Loop) or not isinstance(around.stmt, tirx.For):
        return False
    counter = program.counters[around]
    if counter.least < 1 or counter.most < 2 or _scalar(around.body):
        return False
    beside = [c for c in around.body.children if c is not loop]
    return not any(_touches_mte2(s) for s in _steps(beside))


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

# SPDX-License-Identifier: Apache-2.0
"""Turn tile operations and element loops into instructions."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend import sym
from tvm_ascend.errors import TileByHand, where
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.loops import NUM_STAGES, is_parallel
from tvm_ascend.language.ops import TILE_OPS, key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.target import chip_of
from tvm_ascend.transform.cube_tiles import CubeTiles
from tvm_ascend.transform.infer_scope import SCALAR
from tvm_ascend.transform.notes import note
from tvm_ascend.transform.pad_buffers import pad_ub_rows
from tvm_ascend.transform.scalar_code import scalar_loop, scalar_tile_op
from tvm_ascend.transform.scalar_tails import within_tensors
from tvm_ascend.transform.select_cube import select_cube
from tvm_ascend.transform.select_loops import clears_for, select_loops, select_statement
from tvm_ascend.transform.select_tile import select_tile
from tvm_ascend.transform.selection import NotVectorizable, Selection, buffer_bytes
from tvm_ascend.transform.tile_args import sequence

_CUBE_SPACES = (Space.L1, Space.L0A, Space.L0B, Space.L0C)


@prim_func_pass(opt_level=0, name="ascend.SelectInstructions")
class SelectInstructions:
    """Select vector, Cube and copy instructions; what has none goes to the scalar unit.

    Before::

        T.ascend.tile_copy(A[bx, 0:1024], a[0:1024])
        for i in T.serial(1024, annotations={"ascend.parallel": 1}):
            b[i] = T.exp(a[i])

    After::

        T.ascend.data_copy_pad_in(a[0], A[bx, 0], 1, 2048, 0, 0, False, 0, 0, T.float16(0))
        T.ascend.exp(b[0], a[0], 1024)

    Every statement left for the scalar unit is reported by a note. Runs after InferLayout, on
    buffers whose memory is known.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        chip = chip_of(func)
        padded = pad_ub_rows(func.body, chip)
        selector = _Selector(chip, CubeTiles(func, chip), _room(padded, chip))
        body = selector.run(padded)
        return note(func.with_body(body, func.span), *selector.notes)


def _room(body: tirx.Stmt, chip: ChipSpec) -> int:
    """Bytes of UB left for temporaries, every buffer counted as often as loops may keep it."""
    used, stages = [], [1]

    def allocation(node: tirx.AllocBuffer) -> None:
        if space_of(node.buffer) is Space.UB:
            used.append(buffer_bytes(node.buffer))

    def loop(node: tirx.For) -> None:
        stages.append(int(node.annotations.get(NUM_STAGES, 1)))

    tvm_ffi.structural_walk(body, [(tirx.AllocBuffer, allocation), (tirx.For, loop)])
    return chip.capacity(Space.UB) // max(stages) - sum(used)


class _Selector:
    """Walks a function with the bounds of the variables in scope."""

    def __init__(self, chip: ChipSpec, cube: CubeTiles, room: int) -> None:
        self.chip = chip
        self.cube = cube
        self.room = room
        self.analyzer = sym.Analyzer()
        self.notes: list[str] = []
        self.variables: set[tvm.ir.Var] = set()
        # The loops of elements around a statement that runs on the scalar unit.
        self.elements: list[tirx.For] = []

    def run(self, body: tirx.Stmt) -> tirx.Stmt:
        """Rewrite a statement and everything in it."""
        rules = [
            (tirx.AttrStmt, self.attribute),
            (tirx.AllocBuffer, self.allocation),
            (tirx.SeqStmt, self.sequence),
            (tirx.For, self.loop),
            (tirx.IfThenElse, self.branch),
            (tirx.Evaluate, self.evaluate),
            (tirx.BufferStore, self.store),
        ]
        return tvm_ffi.structural_mutate(body, rules)

    def allocation(self, stmt: tirx.AllocBuffer, _mutator: object) -> tirx.Stmt:
        if SCALAR in stmt.annotations:
            self.variables.add(stmt.buffer)
        return self.cube.allocation(stmt)

    def attribute(self, stmt: tirx.AttrStmt, mutator: object) -> tirx.Stmt:
        if isinstance(stmt.node, tirx.IterVar):
            self.analyzer.bind(stmt.node.var, tvm.ir.Range(0, stmt.value))
        return mutator.default_mutate(stmt)

    def sequence(self, seq: tirx.SeqStmt, mutator: object) -> tirx.Stmt:
        """Rewrite statements in order; clearing what a loop then accumulates joins the loop."""
        stmts = []
        left = list(seq.seq)
        while left:
            stmt = left.pop(0)
            joined = self.cleared_loop(stmt, left[0]) if left else None
            if joined is not None:
                left.pop(0)
            stmts.append(mutator.mutate(stmt) if joined is None else joined)
        return tirx.SeqStmt(stmts, seq.span)

    def cleared_loop(self, fill: tirx.Stmt, loop: tirx.Stmt) -> tirx.Stmt | None:
        if not clears_for(fill, loop):
            return None
        ctx = self.context(loop.span)
        try:
            return _sequence([*select_loops(ctx, loop, clear=True)], ctx)
        except NotVectorizable:
            return None

    def loop(self, stmt: tirx.For, mutator: object) -> tirx.Stmt:
        self.analyzer.bind(stmt.loop_var, tvm.ir.Range.from_min_extent(stmt.min, stmt.extent))
        if not is_parallel(stmt):
            return mutator.default_mutate(scalar_loop(stmt))
        if self.elements:
            return self.scalar_elements(stmt, mutator)
        ctx = self.context(stmt.span)
        try:
            return _sequence(select_loops(ctx, stmt), ctx)
        except NotVectorizable as reason:
            self.report("loop", stmt.span, reason)
        return self.scalar_elements(stmt, mutator)

    def scalar_elements(self, stmt: tirx.For, mutator: object) -> tirx.Stmt:
        self.elements.append(stmt)
        loop = mutator.default_mutate(scalar_loop(stmt))
        self.elements.pop()
        return loop

    def branch(self, stmt: tirx.IfThenElse, mutator: object) -> tirx.Stmt:
        condition = within_tensors(self.analyzer, self.elements, stmt.condition)
        with self.analyzer.constraint_scope(stmt.condition):
            then = mutator.mutate(stmt.then_case)
        other = None if stmt.else_case is None else mutator.mutate(stmt.else_case)
        return tirx.IfThenElse(condition, then, other, stmt.span)

    def store(self, stmt: tirx.BufferStore, _mutator: object) -> tirx.Stmt:
        if self.elements:
            return within_tensors(self.analyzer, self.elements, stmt)
        if stmt.buffer in self.variables:
            return stmt
        ctx = self.context(stmt.span)
        try:
            return _sequence(select_statement(ctx, stmt), ctx)
        except NotVectorizable as reason:
            self.report(f"store to `{stmt.buffer.name}`", stmt.span, reason)
        return stmt

    def evaluate(self, stmt: tirx.Evaluate, _mutator: object) -> tirx.Stmt:
        key = key_of(stmt)
        if key not in TILE_OPS:
            self.refuse_tiles(stmt)
            return stmt
        ctx, call = self.context(stmt.span), stmt.value
        spaces = [space_of(a.source) for a in call.args if hasattr(a, "source")]
        if any(s in _CUBE_SPACES for s in spaces):
            selected = select_cube(call, ctx, self.cube)
            if selected is not None:
                return _sequence(selected, ctx)
        try:
            return _sequence(select_tile(ctx, call), ctx)
        except NotVectorizable as reason:
            self.report(key.removeprefix("tile_"), stmt.span, reason)
        return scalar_tile_op(ctx, call)

    def refuse_tiles(self, stmt: tirx.Evaluate) -> None:
        """An instruction written by hand cannot know where the elements of a Cube tile are."""
        for arg in getattr(stmt.value, "args", ()):
            if getattr(arg, "source", None) in self.cube.tiles:
                raise TileByHand(key_of(stmt), arg.source.name, stmt.span)

    def context(self, span: tvm.ir.Span | None) -> Selection:
        return Selection(self.chip, self.analyzer, span, self.room)

    def report(self, what: str, span: tvm.ir.Span | None, reason: NotVectorizable) -> None:
        """Note that a statement runs on the scalar unit."""
        self.notes.append(f"scalar: {what} ({where(span)}) because {reason}")


def _sequence(stmts: list[tirx.Stmt], ctx: Selection) -> tirx.Stmt:
    stmts = [*ctx.allocations, *stmts]
    return sequence(stmts)

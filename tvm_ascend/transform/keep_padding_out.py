# SPDX-License-Identifier: Apache-2.0
"""Keep the part of a tile that lies past its tensor out of reductions and accumulations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Range, TensorLoad, TensorRegion
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend import sym
from tvm_ascend.errors import PaddingCounts
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.loops import is_parallel
from tvm_ascend.language.ops import call, key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.match import loads, variables
from tvm_ascend.transform.held import WHOLE, Held, Tiles, join
from tvm_ascend.transform.tile_args import as_region, is_const, long_axes, rebuilt
from tvm_ascend.transform.tile_tail import tail_start


@prim_func_pass(opt_level=0, name="ascend.KeepPaddingOut")
class KeepPaddingOut:
    """Limit what reduces or accumulates tiles to the elements that their tensors have.

    Before, for a tensor A of 100 elements::

        T.ascend.tile_copy(A[bx * 32:bx * 32 + 32], a[0:32])
        T.ascend.tile_reduce(s[0:1], a[0:32], "max", 0, True)

    After::

        T.ascend.tile_copy(A[bx * 32:bx * 32 + 32], a[0:32])
        T.ascend.tile_reduce(s[0:1], a[0:T.min(32, 100 - bx * 32)], "max", 0, True)

    What is computed element by element from such a tile is as long as that tile; a store that
    accumulates, or does not move with the elements it reads, gets a guard. Where the length is not
    known, a reduction is refused. Runs first, on kernels that name tiles.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        return func.with_body(_Walker().run(func.body), func.span)


class _Walker(Tiles):
    """Walks a function in program order with what every tile holds at that point."""

    def __init__(self) -> None:
        super().__init__()
        self.loops: list[tirx.For] = []
        # Conditions around a statement, each with the number of loops around it.
        self.guards: list[tuple[int, tvm.ir.Expr]] = []

    def run(self, stmt: tirx.Stmt) -> tirx.Stmt:
        """Rewrite a statement and follow what it does to the tiles."""
        rules = [
            (tirx.For, lambda s, _m: self.loop(s)),
            (tirx.IfThenElse, lambda s, _m: self.branch(s)),
            (tirx.AttrStmt, self.attribute),
            (tirx.BufferStore, lambda s, _m: self.store(s)),
            (tirx.Evaluate, lambda s, _m: self.evaluate(s)),
        ]
        return tvm_ffi.structural_mutate(stmt, rules)

    def attribute(self, stmt: tirx.AttrStmt, mutator: object) -> tirx.Stmt:
        if isinstance(stmt.node, tirx.IterVar):
            self.bind(stmt.node.var, Range(0, stmt.value))
        return mutator.default_mutate(stmt)

    def loop(self, stmt: tirx.For) -> tirx.Stmt:
        """Follow a loop until what the tiles hold at its start does not change any more."""
        self.bind(stmt.loop_var, Range.from_min_extent(stmt.min, stmt.extent))
        while True:
            before = dict(self.held)
            self.loops.append(stmt)
            body = self.run(stmt.body)
            self.loops.pop()
            after = {b: h.without(stmt.loop_var) for b, h in self.held.items()}
            if is_parallel(stmt):  # its stores say themselves what all iterations leave
                self.held = after
                break
            self.held = join(before, after)
            if self.held == before:
                break
        return tirx.For(
            stmt.loop_var, stmt.min, stmt.extent, stmt.kind, body, stmt.thread_binding,
            stmt.annotations, stmt.step, stmt.span,
        )  # fmt: skip

    def branch(self, stmt: tirx.IfThenElse) -> tirx.Stmt:
        if isinstance(stmt.condition, tirx.IntImm):  # a Python condition of the kernel's factory
            taken = stmt.then_case if int(stmt.condition) else stmt.else_case
            return tirx.Evaluate(0) if taken is None else self.run(taken)
        before = dict(self.held)
        with self.assuming(stmt.condition):
            then = self.run(stmt.then_case)
            after = self.held
        self.held = before
        with self.assuming(tirx.Not(stmt.condition)):
            other = None if stmt.else_case is None else self.run(stmt.else_case)
            self.held = {b: self.trimmed(b, h) for b, h in self.held.items()}
        # Stores in loops of elements say themselves what a guard around them leaves.
        inside = bool(self.loops) and is_parallel(self.loops[-1])
        self.held = after if inside else join(after, self.held)
        return tirx.IfThenElse(stmt.condition, then, other, stmt.span)

    @contextmanager
    def assuming(self, condition: tvm.ir.Expr) -> Iterator[None]:
        """Prove things where a condition holds."""
        self.guards.append((len(self.loops), condition))
        with self.analyzer.constraint_scope(condition):
            yield
        self.guards.pop()

    # Tile operations

    def evaluate(self, stmt: tirx.Evaluate) -> tirx.Stmt:
        key = key_of(stmt)
        if key == "tile_copy":
            self.copy(*(as_region(a) for a in stmt.value.args), stmt.span)
        elif key == "tile_fill":
            self.write(as_region(stmt.value.args[0]), WHOLE)
        elif key == "tile_reduce":
            return self.reduce(stmt)
        return stmt

    def copy(self, src: TensorRegion, dst: TensorRegion, span: tvm.ir.Span | None) -> None:
        held, limits = self.held.get(src.source, WHOLE), {}
        from_tensor = space_of(src.source) is Space.GM
        for s, d in zip(long_axes(src), long_axes(dst), strict=True):
            limit = src.source.ty.shape[s] if from_tensor else held.limits.get(s, ...)
            low, extent = src.region[s].min, src.region[s].extent
            if limit is ... or (limit is not None and self.shows(low + extent <= limit)):
                continue
            if limit is not None:
                limit = self.analyzer.simplify(limit - low + dst.region[d].min)
            limits[d] = None if limit is None or loads(limit) else limit
        span = span if from_tensor else held.span
        self.write(dst, Held(limits, span) if limits else WHOLE)

    def reduce(self, stmt: tirx.Evaluate) -> tirx.Stmt:
        dst, src, kind, axis, clear = stmt.value.args
        dst, src = as_region(dst), as_region(src)
        held, own = self.held.get(src.source, WHOLE), self.held.get(dst.source, WHOLE)
        kept = [a for a in long_axes(src) if a != int(axis)]
        target = dict(zip(kept, long_axes(dst), strict=False))
        smaller_src, smaller_dst, limits = {}, {}, {}
        for a, limit in held.limits.items():
            part = src.region[a]
            if is_const(part.extent, 1) or (
                limit is not None and self.shows(part.min + part.extent <= limit)
            ):
                continue
            updates = not bool(clear) and target.get(a) not in own.limits
            if limit is None and (a == int(axis)):
                raise PaddingCounts(src.source.name, held.span, stmt.span)
            if limit is not None and (a == int(axis) or updates):
                smaller_src[a] = self.smaller(part.extent, limit - part.min)
                if a != int(axis):
                    smaller_dst[target[a]] = smaller_src[a]
            elif limit is None:
                limits[target[a]] = None
            else:
                low = dst.region[target[a]].min
                limits[target[a]] = self.analyzer.simplify(limit - part.min + low)
        if bool(clear) or limits:
            self.write(dst, Held(limits, held.span) if limits else WHOLE)
        src, dst = rebuilt(src, smaller_src), rebuilt(dst, smaller_dst)
        return call("tile_reduce", dst, src, str(kind.value), int(axis), clear, span=stmt.span)

    def smaller(self, extent: tvm.ir.Expr, limit: tvm.ir.Expr) -> tvm.ir.Expr:
        shorter = self.shows(limit <= extent)
        return self.analyzer.simplify(limit if shorter else tirx.min(extent, limit))

    # Stores of elements

    def store(self, stmt: tirx.BufferStore) -> tirx.Stmt:
        buffer, indices = stmt.buffer, list(stmt.indices)
        own = self.held.get(buffer, WHOLE)
        updates = any(_same(x, buffer, indices) for x in loads(stmt.value))
        with ExitStack() as stack:
            if updates:
                for axis, limit in own.limits.items():
                    if limit is not None:
                        stack.enter_context(self.analyzer.constraint_scope(indices[axis] < limit))
            needs = self.needs(stmt.value, buffer, indices)
        moving = set().union(*(variables(i) for i in indices))
        inner = {x.loop_var for x in self.loops}
        conditions, left = [], []
        for index, limit, source, span in needs:
            counts = bool(variables(index) & inner - moving)
            if counts and limit is None:
                raise PaddingCounts(source.name, span, stmt.span)
            if limit is not None and (counts or updates):
                conditions.append(index < limit)
            else:
                left.append((index, limit, span))
        if space_of(buffer) is not Space.GM and not conditions:
            self.stored(buffer, indices, left, updates)
        for condition in conditions:
            stmt = tirx.IfThenElse(condition, stmt, None, stmt.span)
        return stmt

    def needs(self, value: tvm.ir.Expr, buffer: tvm.ir.Var, indices: list) -> list[tuple]:
        """Return (index, limit, tile, line) of each read that may meet padding."""
        found: list[tuple] = []

        def load(expr: TensorLoad, mutator: object) -> object:
            if not _same(expr, buffer, indices):
                found.extend(self.open_reads(expr))
            return mutator.default_mutate(expr)

        def choose(parts: tuple, mutator: object) -> None:
            condition, yes, no = parts
            mutator.mutate(condition)
            for side, holds in ((yes, condition), (no, tirx.Not(condition))):
                with self.analyzer.constraint_scope(holds):
                    mutator.mutate(side)

        def select(expr: tirx.Select, mutator: object) -> object:
            choose((expr.condition, expr.true_value, expr.false_value), mutator)
            return expr

        def called(expr: tvm.ir.Call, mutator: object) -> object:
            if getattr(expr.op, "name", "") != "prim.if_then_else":
                return mutator.default_mutate(expr)
            choose(tuple(expr.args), mutator)
            return expr

        rules = [(TensorLoad, load), (tirx.Select, select), (tvm.ir.Call, called)]
        tvm_ffi.structural_mutate(value, rules)
        return found

    def open_reads(self, expr: TensorLoad) -> Iterator[tuple]:
        if space_of(expr.source) is Space.GM:
            elements = [x for x in self.loops if is_parallel(x)]
            for index, size in zip(expr.indices, expr.source.ty.shape, strict=True):
                tile = tail_start(self.analyzer, index, elements)
                if tile is not None and not self.shows(index < size):
                    yield index, size, expr.source, expr.span
            return
        held = self.held.get(expr.source, WHOLE)
        for axis, limit in held.limits.items():
            if limit is None or not self.shows(expr.indices[axis] < limit):
                yield expr.indices[axis], limit, expr.source, held.span

    def stored(self, buffer: tvm.ir.Var, indices: list, left: list[tuple], updates: bool) -> None:
        """Note what a store leaves in its tile over all iterations of the loops of elements."""
        limits = {}
        for index, limit, _ in left:
            limits.update(self.limits_of(indices, index, limit))
        new = Held(limits, left[0][2]) if limits else WHOLE
        old = self.held.get(buffer)
        if old is not None and updates:
            self.held[buffer] = old.joined(new) if limits else old
            return
        start = self.first_element_loop()
        region = self.region_of(buffer, indices, self.loops[start:])
        guards = [guard for depth, guard in self.guards if depth > start]
        if old is None or region is None:
            self.held[buffer] = new if old is None else old.joined(new)
        elif new is WHOLE and guards:
            full = not self.cut_axes(region) and all(
                self.leaves_elements(indices, old, guard) for guard in guards
            )
            self.held[buffer] = WHOLE if full else old.joined(new)
        elif guards:
            self.held[buffer] = old.joined(new)
        else:
            self.write(region, new)

    def limits_of(self, indices: list, index: tvm.ir.Expr, limit: tvm.ir.Expr | None) -> dict:
        """The limit of a tile that is computed from another which ends where ``index`` does."""
        inner = {x.loop_var for x in self.loops}
        shared = {a: variables(i) & variables(index) & inner for a, i in enumerate(indices)}
        for axis, vars_ in shared.items():
            if limit is None or not vars_:
                continue
            own = self.analyzer.simplify(indices[axis] - index + limit)
            if not variables(own) & vars_ and not loads(own):
                return {axis: own}
        return {a: None for a, vars_ in shared.items() if vars_} or dict.fromkeys(shared)

    def region_of(
        self, buffer: tvm.ir.Var, indices: list, loops: list[tirx.For]
    ) -> TensorRegion | None:
        """The box that a store covers over its element loops, if it is one."""
        ranges, left = [], {x.loop_var: x for x in loops}
        for index in indices:
            moving = variables(index) & {x.loop_var for x in loops}
            if not moving:
                ranges.append(Range.from_min_extent(index, 1))
                continue
            var = moving.pop()
            loop, form = left.pop(var, None), sym.detect_linear_equation(index, [var])
            if moving or loop is None or len(form) != 2 or not is_const(form[0], 1):
                return None
            low = self.analyzer.simplify(form[1] + loop.min)
            ranges.append(Range.from_min_extent(low, loop.extent))
        return tirx.BufferRegion(buffer, ranges)

    def first_element_loop(self) -> int:
        """Position of the outermost of the element loops right around a statement."""
        start = len(self.loops)
        while start and is_parallel(self.loops[start - 1]):
            start -= 1
        return start


def _same(load: TensorLoad, buffer: tvm.ir.Var, indices: list) -> bool:
    return load.source.same_as(buffer) and all(
        tvm_ffi.structural_equal(a, b) for a, b in zip(load.indices, indices, strict=True)
    )

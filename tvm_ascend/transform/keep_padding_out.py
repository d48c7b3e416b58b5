# SPDX-License-Identifier: Apache-2.0
"""Keep the part of a tile that lies past its tensor out of reductions and accumulations."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Range, TensorRegion
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend import sym
from tvm_ascend.errors import PaddingCounts
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.ops import call, key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.match import loads, variables
from tvm_ascend.transform.element_nest import is_element_nest
from tvm_ascend.transform.held import WHOLE, Held, join
from tvm_ascend.transform.padding_stores import Stores, same_place, where_exist
from tvm_ascend.transform.padding_traps import without_traps
from tvm_ascend.transform.tile_args import as_region, is_const, long_axes, rebuilt


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
    accumulates, or does not move with the elements it reads, gets a guard. A store under a
    condition means the choice between its value and the old one, and a tile lacks what it lacked
    until all of it is written without reading such elements, or just what it lacks. Where the
    length is not known, a reduction is refused. Runs first, on kernels that name tiles.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        return func.with_body(_Walker().run(func.body), func.span)


class _Walker(Stores):
    """Walks a function in program order with what every tile holds at that point."""

    def run(self, stmt: tirx.Stmt) -> tirx.Stmt:
        """Rewrite a statement and follow what it does to the tiles."""
        rules = [
            (tirx.For, lambda s, _m: self.loop(s)),
            (tirx.While, lambda s, _m: self.while_loop(s)),
            (tirx.Bind, lambda s, _m: self.name(s)),
            (tirx.AllocBuffer, lambda s, _m: self.allocate(s)),
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

    def name(self, stmt: tirx.Bind) -> tirx.Stmt:
        self.bound[stmt.var] = self.needs(stmt.value)
        return tirx.Bind(stmt.var, without_traps(self, stmt.value, stmt.span), stmt.span)

    def allocate(self, stmt: tirx.AllocBuffer) -> tirx.Stmt:
        self.depth[stmt.buffer] = len(self.loops)
        return stmt

    def loop(self, stmt: tirx.For) -> tirx.Stmt:
        """Follow a loop; the stores of a nest of elements say themselves what it leaves."""
        self.bind(stmt.loop_var, Range.from_min_extent(stmt.min, stmt.extent))
        elements = self.in_elements() or is_element_nest(stmt)
        if elements:
            self.nests.append(stmt)
        self.loops.append(stmt)
        body = self.once(stmt) if elements else self.repeated(stmt.body, stmt.loop_var)
        self.loops.pop()
        if elements:
            self.nests.pop()
        return tirx.For(
            stmt.loop_var, stmt.min, stmt.extent, stmt.kind, body, stmt.thread_binding,
            stmt.annotations, stmt.step, stmt.span,
        )  # fmt: skip

    def while_loop(self, stmt: tirx.While) -> tirx.Stmt:
        return tirx.While(stmt.condition, self.repeated(stmt.body, None), stmt.span)

    def once(self, stmt: tirx.For) -> tirx.Stmt:
        body = self.run(stmt.body)
        self.held = {b: h.without(stmt.loop_var) for b, h in self.held.items()}
        return body

    def repeated(self, body: tirx.Stmt, var: tvm.ir.Var | None) -> tirx.Stmt:
        """Follow a body until what the tiles hold at its start does not change any more."""
        while True:
            before = dict(self.held)
            after = self.run(body)
            held = {b: h if var is None else h.without(var) for b, h in self.held.items()}
            self.held = join(before, held)
            if self.held == before:
                return after

    def branch(self, stmt: tirx.IfThenElse) -> tirx.Stmt:
        if isinstance(stmt.condition, tirx.IntImm):  # a Python condition of the kernel's factory
            taken = stmt.then_case if int(stmt.condition) else stmt.else_case
            return tirx.Evaluate(0) if taken is None else self.run(taken)
        if self.in_elements():
            return self.element_branch(stmt)
        counted = [r for r in self.needs(stmt.condition) if variables(r.index) & self.inner()]
        self.check_known(counted, stmt)
        before = dict(self.held)
        condition = without_traps(self, stmt.condition, stmt.span)
        with self.assuming(stmt.condition):
            then = self.run(stmt.then_case)
            after = self.held
        self.held = before
        with self.assuming(tirx.Not(stmt.condition)):
            other = None if stmt.else_case is None else self.run(stmt.else_case)
            # What both sides agree on needs no word about which side was gone.
            self.held = {
                b: h if after.get(b) == h else self.trimmed(b, h) for b, h in self.held.items()
            }
        self.held = join(after, self.held)
        return where_exist(counted, tirx.IfThenElse(condition, then, other, stmt.span))

    def element_branch(self, stmt: tirx.IfThenElse) -> tirx.Stmt:
        """Follow a branch for each element, whose stores say themselves what it leaves.

        Two stores to one element are one, of a choice.
        """
        then, other = stmt.then_case, stmt.else_case
        both = isinstance(then, tirx.BufferStore) and isinstance(other, tirx.BufferStore)
        if both and same_place(then, other):
            value = tirx.if_then_else(stmt.condition, then.value, other.value)
            return self.store(tirx.BufferStore(then.buffer, value, then.indices, then.span))
        condition = without_traps(self, stmt.condition, stmt.span)
        with self.assuming(stmt.condition):
            then = self.run(then)
        with self.assuming(tirx.Not(stmt.condition)):
            other = None if other is None else self.run(other)
        return tirx.IfThenElse(condition, then, other, stmt.span)

    # Tile operations

    def evaluate(self, stmt: tirx.Evaluate) -> tirx.Stmt:
        key = key_of(stmt)
        if key == "tile_copy":
            self.copy(*(as_region(a) for a in stmt.value.args), stmt.span)
        elif key == "tile_fill":
            self.write(self.covered(as_region(stmt.value.args[0])), WHOLE)
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
        self.write(self.covered(dst), Held(limits, span) if limits else WHOLE)

    def covered(self, region: TensorRegion) -> TensorRegion:
        """The region that a tile operation goes over in the loops of elements around it."""
        loops = {x.loop_var: x for x in self.loops[self.first_element_loop() :]}
        ranges = []
        for part in region.region:
            moving = variables(part.min) & set(loops)
            form = sym.detect_linear_equation(part.min, list(moving)) if len(moving) == 1 else ()
            if len(form) == 2 and self.analyzer.can_prove_equal(form[0], part.extent):
                loop = loops[moving.pop()]
                low = self.analyzer.simplify(form[1] + loop.min * part.extent)
                part = Range.from_min_extent(low, loop.extent * part.extent)
            ranges.append(part)
        return tirx.BufferRegion(region.source, ranges)

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

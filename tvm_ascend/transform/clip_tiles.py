# SPDX-License-Identifier: Apache-2.0
"""Shrink Cube tiles at tensor edges to the elements that exist."""

from __future__ import annotations

from collections.abc import Mapping

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Range, TensorRegion
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend import sym
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.ops import call, key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.match import variables
from tvm_ascend.transform.fresh_copy import fresh_copy
from tvm_ascend.transform.notes import note
from tvm_ascend.transform.tile_args import as_region, is_const, long_axes, proves, rebuilt, resized

CUBE_SPACES = (Space.L1, Space.L0A, Space.L0B, Space.L0C)


@prim_func_pass(opt_level=0, name="ascend.ClipTiles")
class ClipTiles:
    """Give copies, products and loops of the Cube the extents that are really there.

    Before, for a tensor A of 126 rows::

        T.ascend.tile_copy(A[bx * 64:bx * 64 + 64, 0:80], A_l1[0:64, 0:80])

    After::

        T.ascend.tile_copy(A[bx * 64:bx * 64 + T.min(64, 126 - bx * 64), 0:80],
                           A_l1[0:T.min(64, 126 - bx * 64), 0:80])

    and likewise for every tile computed from it. A loop whose last iteration alone is cut becomes a
    loop of whole tiles and that iteration; one over k that would only multiply missing elements
    ends earlier. Where the extents that arrive at a store cannot be shown to cover it, the
    function is left alone, and copies pad with zeros. Runs once scopes are known, before layouts.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        clipped = clip_tiles(func)
        if clipped is None:
            return note(func, "Cube tiles at tensor edges are padded with zeros, not clipped")
        return clipped


def clip_tiles(func: tirx.PrimFunc) -> tirx.PrimFunc | None:
    """Clip every Cube tile of a function, or return None when that cannot be shown right."""
    clipper = _Clipper(func)
    body = clipper.run(func.body)
    if not clipper.sound:
        return None
    return func.with_body(_shrunk(body, clipper.sizes), func.span)


def _shrunk(body: tirx.Stmt, sizes: dict) -> tirx.Stmt:
    """Allocate no more of a tile than the part that ever holds elements."""
    smaller: dict = {}

    def allocate(alloc: tirx.AllocBuffer) -> tirx.AllocBuffer:
        old = alloc.buffer
        shape = [
            extent if isinstance(extent, tirx.IntImm) else whole
            for extent, whole in zip(sizes.get(old, old.shape), old.shape, strict=True)
        ]
        if not all(int(a) == int(b) for a, b in zip(shape, old.shape, strict=True)):
            smaller[old] = resized(old, shape)
        return tirx.AllocBuffer(smaller.get(old, old), alloc.annotations, alloc.span)

    return tvm_ffi.structural_map(
        body,
        [(tirx.AllocBuffer, allocate), (tirx.Var, lambda v: smaller.get(v, v))],
        order="pre",  # an allocation dominates its uses, so `smaller` is filled in time
    )


class _Clipper:
    def __init__(self, func: tirx.PrimFunc):
        # Whether the extents of every tile at its uses are those it was written with.
        self.sound = True
        self.analyzer = sym.Analyzer()
        self.scope: list = list(func.params)
        self.valid: dict = {}
        self.sizes: dict = {}
        self.used: set = set()
        self.empty_k: dict = {}
        self.writes = _copies_into(func.body)

    def attribute(self, stmt: tirx.AttrStmt, mutator):
        if stmt.attr_key == "thread_extent":
            self.analyzer.bind(stmt.node.var, Range(0, stmt.value))
            self.scope.append(stmt.node.var)
        return mutator.default_mutate(stmt)

    def bind(self, stmt: tirx.Bind, mutator):
        self.scope.append(stmt.var)
        return mutator.default_mutate(stmt)

    def run(self, stmt: tirx.Stmt) -> tirx.Stmt:
        """Clip everything in a statement."""
        table = [
            (tirx.For, lambda loop, _mutator: self.loop(loop)),
            (tirx.AttrStmt, self.attribute),
            (tirx.Bind, self.bind),
            (tirx.Evaluate, self.evaluate),
        ]
        return tvm_ffi.structural_mutate(stmt, table)

    def loop(self, stmt: tirx.For) -> tirx.Stmt:
        before = dict(self.valid)
        whole = self.clip_loop(stmt)
        if not isinstance(whole.extent, tirx.IntImm) or not _extents_name(
            whole.body, stmt.loop_var
        ):
            return _once(whole)
        last = int(whole.extent) - 1
        after, self.valid = self.valid, before
        main = self.clip_loop(self.copied(_trips(stmt, last)))
        if last < 1 or _extents_name(main.body, main.loop_var):
            self.valid = after
            return _once(whole)
        # The last iteration may fill the same tiles, if they belong to no loop, less far.
        for buffer in _copies_into(stmt.body):
            self.valid.pop(buffer, None)
        tail = self.run(self.copied(stmt.body, {stmt.loop_var: stmt.min + last}))
        return tirx.SeqStmt([_once(main), tail], stmt.span)

    def copied(self, stmt: tirx.Stmt, values: Mapping | None = None):
        """A copy of a statement whose buffers are known here."""
        copy = fresh_copy(stmt, values)
        self.writes.update(_copies_into(copy))
        return copy

    def clip_loop(self, stmt: tirx.For) -> tirx.For:
        """Clip the body of a loop, and end the loop where k runs out."""
        var = stmt.loop_var
        self.analyzer.bind(var, Range.from_min_extent(stmt.min, stmt.extent))
        self.scope.append(var)
        body = self.run(stmt.body)
        self.scope.pop()
        return _trips(stmt, self.empty_k.pop(var, stmt.extent), body)

    def evaluate(self, stmt: tirx.Evaluate, mutator):
        key = key_of(stmt)
        if key == "tile_copy":
            return self.copy(stmt)
        if key == "tile_gemm":
            return self.gemm(stmt)
        return mutator.default_mutate(stmt)

    def copy(self, stmt: tirx.Evaluate):
        src, dst = (self.simplified(arg) for arg in stmt.value.args)
        spaces = space_of(src.source), space_of(dst.source)
        if not any(space in CUBE_SPACES for space in spaces):
            return stmt
        asked, extents = [r.extent for r in src.region], {}
        for s, d in zip(long_axes(src), long_axes(dst), strict=True):
            limits = (*self.available(src, s), *self.available_out(dst, d))
            extents[s, d] = self.shrink(asked[s], *limits)
        src = rebuilt(src, {s: e for (s, _), e in extents.items()})
        dst = rebuilt(dst, {d: e for (_, d), e in extents.items()})
        if spaces[1] in CUBE_SPACES:
            cut = any(not self.equal(e, asked[s]) for (s, _), e in extents.items())
            self.define(dst, self.writes.get(dst.source, 0), cut)
        elif spaces[0] is Space.L0C:
            self.check_covered(src)
        return call("tile_copy", src, dst, span=stmt.span)

    def gemm(self, stmt: tirx.Evaluate):
        c, a, b, transpose_a, transpose_b, init = stmt.value.args
        c, a, b = (self.simplified(x) for x in (c, a, b))
        (am, ak), (bk, bn) = (matrix_axes(x, t) for x, t in ((a, transpose_a), (b, transpose_b)))
        cm, cn = matrix_axes(c, False)
        m = self.shrink(c.region[cm].extent, *self.available(a, am))
        n = self.shrink(c.region[cn].extent, *self.available(b, bn))
        k = self.shrink(a.region[ak].extent, *self.available(a, ak), *self.available(b, bk))
        self.trim(k)
        cut = not (self.equal(m, c.region[cm].extent) and self.equal(n, c.region[cn].extent))
        a, b, c = rebuilt(a, {am: m, ak: k}), rebuilt(b, {bk: k, bn: n}), rebuilt(c, {cm: m, cn: n})
        self.define(c, 1, cut)
        init = self.analyzer.simplify(init)
        return call("tile_gemm", c, a, b, transpose_a, transpose_b, init, span=stmt.span)

    def simplified(self, arg) -> TensorRegion:
        region = as_region(arg)
        ranges = [
            Range.from_min_extent(self.analyzer.simplify(r.min), r.extent) for r in region.region
        ]
        return tirx.BufferRegion(region.source, ranges)

    def available(self, region: TensorRegion, axis: int) -> list:
        """How many elements exist from the start of a region on, as far as known."""
        if region.source not in self.valid:
            self.used.add(region.source)
        extents = self.valid.get(region.source, region.source.shape)
        if variables(extents[axis]) - set(self.scope):
            self.sound = False
        return [extents[axis] - region.region[axis].min]

    def available_out(self, region: TensorRegion, axis: int) -> list:
        return [region.source.shape[axis] - region.region[axis].min]

    def shrink(self, extent, *limits):
        """The smallest of the extents, leaving out those that never decide."""
        for limit in limits:
            if proves(self.analyzer, limit >= extent):
                continue
            smaller = proves(self.analyzer, limit <= extent)
            extent = self.analyzer.simplify(limit if smaller else tirx.min(extent, limit))
        return extent

    def define(self, region: TensorRegion, writers: int, cut: bool) -> None:
        """Record which part of an on-chip tile holds elements."""
        buffer = region.source
        whole = all(self.analyzer.can_prove_equal(r.min, 0) for r in region.region)
        extents = [r.extent for r in region.region]
        known = self.valid.get(buffer, extents)
        same = all(self.equal(e, k) for e, k in zip(extents, known, strict=True))
        if whole and same and writers == 1 and not (cut and buffer in self.used):
            self.valid[buffer] = extents
            sizes = self.sizes.setdefault(buffer, extents)
            self.sizes[buffer] = [_larger(a, b) for a, b in zip(sizes, extents, strict=True)]
        elif cut or buffer in self.valid:
            self.sound = False

    def equal(self, a, b) -> bool:
        return self.analyzer.can_prove_equal(a, b)

    def check_covered(self, src: TensorRegion) -> None:
        """Refuse to store elements of L0C that no product wrote."""
        for axis, r in enumerate(src.region):
            for limit in self.available(src, axis):
                self.sound &= proves(self.analyzer, r.extent <= limit)

    def trim(self, k) -> None:
        """End the innermost loop where k runs out, if it can."""
        if proves(self.analyzer, k > 0) or not self.scope:
            return
        var = self.scope[-1]
        limits = [x for x in _minimum_of(k) if var in variables(x)]
        self.sound &= bool(limits)
        for limit in limits:
            linear = sym.detect_linear_equation(limit, [var])
            if len(linear) != 2 or not isinstance(linear[0], tirx.IntImm) or int(linear[0]) >= 0:
                self.sound = False
                return
            step = -int(linear[0])
            trips = tirx.floordiv(linear[1] + (step - 1), step)
            self.empty_k[var] = self.analyzer.simplify(
                trips if var not in self.empty_k else tirx.min(trips, self.empty_k[var])
            )


def _trips(stmt: tirx.For, extent, body=None) -> tirx.For:
    """The loop with another number of iterations, and another body if given."""
    return tirx.For(
        stmt.loop_var, stmt.min, extent, stmt.kind, stmt.body if body is None else body,
        stmt.thread_binding, stmt.annotations, stmt.step, stmt.span,
    )  # fmt: skip


def _once(stmt: tirx.For) -> tirx.Stmt:
    """The body alone of a loop that runs once."""
    if not is_const(stmt.extent, 1):
        return stmt
    value = [(tirx.Var, lambda v: stmt.min if v.same_as(stmt.loop_var) else v)]
    return tvm_ffi.structural_map(stmt.body, value)


def _extents_name(body: tirx.Stmt, var) -> bool:
    """Whether the size of a tile or of a loop inside depends on a variable."""
    found: list = []

    def check(extent) -> None:
        if var in variables(extent):
            found.append(extent)

    tvm_ffi.structural_walk(
        body,
        [
            (TensorRegion, lambda region: [check(r.extent) for r in region.region] and None),
            (tirx.For, lambda loop: check(loop.extent)),
        ],
    )
    return bool(found)


def matrix_axes(region: TensorRegion, transpose) -> tuple[int, int]:
    """The axes of rows and columns of a matrix operand: the last two, swapped when transposed."""
    last = len(region.region) - 1
    return (last, last - 1) if bool(int(transpose)) else (last - 1, last)


def _larger(a, b):
    """The larger of two extents, or one that is not constant."""
    if isinstance(a, tirx.IntImm) and isinstance(b, tirx.IntImm):
        return a if int(a) >= int(b) else b
    return b if isinstance(a, tirx.IntImm) else a


def _minimum_of(expr) -> list:
    if isinstance(expr, tirx.Min):
        return [*_minimum_of(expr.a), *_minimum_of(expr.b)]
    return [expr]


def _copies_into(body: tirx.Stmt) -> dict:
    """How many copies write each buffer."""
    count: dict = {}

    def seen(stmt: tirx.Evaluate) -> None:
        if key_of(stmt) == "tile_copy":
            buffer = as_region(stmt.value.args[1]).source
            count[buffer] = count.get(buffer, 0) + 1

    tvm_ffi.structural_walk(body, [(tirx.Evaluate, seen)])
    return count

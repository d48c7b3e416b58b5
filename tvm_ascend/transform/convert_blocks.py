# SPDX-License-Identifier: Apache-2.0
"""Turn the blocks of a lowered schedule into tile operations."""

from __future__ import annotations

import functools

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Range
from tvm.s_tir import SBlockRealize
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend import sym
from tvm_ascend.errors import NotAMatmulTile
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.loops import PARALLEL
from tvm_ascend.language.ops import call
from tvm_ascend.layout.scope import UNPLACED_SCOPES, space_of
from tvm_ascend.schedule.match import is_zero, loads, product_of_loads, strip_casts, variables
from tvm_ascend.transform.loop_nest import Nest, Writers, implied_by_bounds, region
from tvm_ascend.transform.tile_args import is_const, proves

OP = "ascend.op"
GEMM = "gemm"


@prim_func_pass(opt_level=0, name="ascend.ConvertBlocks")
class ConvertBlocks:
    """Replace copy nests, fill nests and marked matrix-multiply blocks by tile operations.

    Before::

        for i, j in T.grid(64, 48):
            with T.sblock("A_l1"):
                T.where(bx * 64 + i < 126)
                A_l1[i, j] = A[bx * 64 + i, j]

    After::

        T.ascend.tile_copy(A[bx * 64:bx * 64 + 64, 0:48], A_l1[0:64, 0:48])

    A guard that only keeps an access inside a tensor is dropped, because tile copies clip there.
    Any other nest stays as loops. Runs on opaque blocks, between ``CompactBufferAllocation`` and
    ``LowerOpaqueBlock``.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        converter = _Converter(func)
        body = tvm_ffi.structural_mutate(
            func.body, [(tirx.For, converter.loop), (SBlockRealize, converter.block)]
        )
        return func.with_body(body, func.span)


class _Converter:
    def __init__(self, func: tirx.PrimFunc):
        self.writers = Writers(func)
        self.span = self.writers.first_span or func.span
        self.bounds: dict = {}

    def loop(self, stmt: tirx.For, mutator):
        if PARALLEL in stmt.annotations:
            return stmt
        nest = Nest.of(stmt)
        if nest is not None:
            converted = self.nest(nest)
            return stmt if converted is None else converted
        self.bounds[stmt.loop_var] = Range.from_min_extent(stmt.min, stmt.extent)
        return mutator.default_mutate(stmt)

    def block(self, stmt: SBlockRealize, mutator):
        if str(stmt.block.annotations.get(OP, "")) == GEMM:
            return self.gemm(stmt)
        nest = Nest.of(stmt)
        converted = self.nest(nest) if nest else None
        return mutator.default_mutate(stmt) if converted is None else converted

    def nest(self, nest: Nest):
        """Return the copy or fill a nest is, or None."""
        store = nest.store
        span = store.span or self.span
        dst = region(store.buffer, store.indices, nest.extents)
        if dst is None or not nest.covers(store.indices) or not _on_chip_or_gm(store.buffer):
            return None
        value = nest.padded_value(self.bounds)
        if not loads(value) and not variables(value) & set(nest.extents):
            return self.fill(nest, dst, value, span)
        source = strip_casts(value)
        if not isinstance(source, tvm.ir.TensorLoad) or not nest.same_order(source.indices):
            return None
        src = region(source.source, source.indices, nest.extents)
        if src is None or not self.may_copy(nest, source, store):
            return None
        guarded = nest.guard is not None or not value.same_as(store.value)
        return self.guarded_copy(guarded, src, dst, span)

    def guarded_copy(self, guarded: bool, src, dst, span):
        """Return a copy, skipped where a tile that had a guard starts outside its tensor."""
        copy = call("tile_copy", src, dst, span=span)
        tensor, tile = (src, dst) if src.source.scope() in ("", "global") else (dst, src)
        if not guarded or space_of(tile.source) is not Space.UB:
            return copy
        analyzer = sym.Analyzer()
        for var, range_ in self.bounds.items():
            analyzer.bind(var, range_)
        starts = [r.min < n for r, n in zip(tensor.region, tensor.source.ty.shape, strict=True)]
        starts = [condition for condition in starts if not proves(analyzer, condition)]
        if not starts:
            return copy
        zero = tirx.const(0, str(tile.source.ty.dtype))
        clear = call("tile_fill", tile, zero, span=span) if tile is dst else None
        return tirx.IfThenElse(functools.reduce(tirx.And, starts), copy, clear, span)

    def fill(self, nest: Nest, dst, value, span):
        if space_of(nest.store.buffer) is not None and nest.store.buffer.scope() in ("", "global"):
            return None
        if nest.guard is not None:
            return None
        return call("tile_fill", dst, value, span=span)

    def may_copy(self, nest: Nest, source, store) -> bool:
        """Whether a whole-tile copy means the same as the guarded element loops."""
        src_gm, dst_gm = (b.scope() in ("", "global") for b in (source.source, store.buffer))
        if (src_gm and dst_gm) or not _on_chip_or_gm(source.source):
            return False
        if nest.guard is None:
            return True
        guard = nest.guard
        if not dst_gm and self.writers.count(store.buffer) == 1:
            # Lanes the guard leaves out hold nothing anybody may read.
            guard = functools.reduce(tirx.And, [index >= 0 for index in source.indices])
        gm_access = (store.buffer, store.indices) if dst_gm else (source.source, source.indices)
        return implied_by_bounds(guard, *gm_access, {**self.bounds, **nest.ranges})

    def gemm(self, stmt: SBlockRealize):
        """Return the Cube tile of a block marked ``ascend.op = "gemm"``."""
        init, body = _init_and_update(stmt.block.body)
        nest = Nest.of(body)
        found = product_of_loads(_Body(nest.store)) if nest else None
        if (
            nest is None
            or found is None
            or nest.guard is not None
            or not is_const(stmt.predicate, 1)
        ):
            raise NotAMatmulTile(stmt.block.name_hint, self.span)
        c = nest.store
        m, n = (variables(index) & set(nest.extents) for index in c.indices[-2:])
        a, b = found
        if variables(a.indices[-1]) & n or variables(a.indices[-2]) & n:
            a, b = b, a
        k = set(nest.extents) - m - n
        transpose_a = bool(variables(a.indices[-1]) & m or variables(a.indices[-2]) & k)
        transpose_b = bool(variables(b.indices[-1]) & k or variables(b.indices[-2]) & n)
        operands = [
            region(x, i, nest.extents)
            for x, i in ((c.buffer, c.indices), (a.source, a.indices), (b.source, b.indices))
        ]
        if any(operand is None for operand in operands):
            raise NotAMatmulTile(stmt.block.name_hint, self.span)
        return call(
            "tile_gemm", *operands, transpose_a, transpose_b, init, span=c.span or self.span
        )


class _Body:
    """A store seen as the body of a block."""

    def __init__(self, store: tirx.BufferStore):
        self.body = store


def _init_and_update(body):
    """Split a marked block into the condition of its zeroing and its update nest."""
    if not isinstance(body, tirx.SeqStmt):
        return tirx.IntImm("bool", 0), body
    assert len(body.seq) == 2, f"a matrix-multiply block holds {len(body.seq)} statements"
    init, update = body.seq
    condition = tirx.IntImm("bool", 1)
    if isinstance(init, tirx.IfThenElse):
        condition, init = init.condition, init.then_case
    nest = Nest.of(init)
    assert nest is not None, "the first half of a matrix-multiply block is no nest"
    assert is_zero(nest.store.value), "a matrix multiply starts from zero"
    return condition, update


def _on_chip_or_gm(buffer) -> bool:
    return space_of(buffer) is not None or buffer.scope() in UNPLACED_SCOPES

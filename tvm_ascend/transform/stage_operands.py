# SPDX-License-Identifier: Apache-2.0
"""Bring the operands of a product from L1 to L0A and L0B, piece by piece along k."""

from __future__ import annotations

from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Range, TensorRegion
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.errors import ProductTooLarge, innermost
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.loops import NUM_STAGES, STAGES_CHOICE
from tvm_ascend.language.ops import call, key_of
from tvm_ascend.layout.fractal import align
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.depth import L0_STAGES, depth_of
from tvm_ascend.target import chip_of
from tvm_ascend.transform.access import constant, itemsize
from tvm_ascend.transform.choices import overrides_of
from tvm_ascend.transform.tile_args import as_region, sequence


@prim_func_pass(opt_level=0, name="ascend.StageOperands")
class StageOperands:
    """Give a gemm on shared tiles the copies to L0 that the Cube needs.

    Before::

        T.ascend.tile_gemm(c[0:64, 0:64], a[0:64, 0:512], b[0:512, 0:64], False, False, init)

    After::

        for k in T.serial(2, annotations={"ascend.num_stages": 2}):
            a_l0 = T.alloc_buffer((64, 256), "float16", scope="local.l0a")
            b_l0 = T.alloc_buffer((256, 64), "float16", scope="local.l0b")
            T.ascend.tile_copy(a[0:64, k * 256:k * 256 + 256], a_l0[0:64, 0:256])
            T.ascend.tile_copy(b[k * 256:k * 256 + 256, 0:64], b_l0[0:256, 0:64])
            T.ascend.tile_gemm(c[0:64, 0:64], a_l0, b_l0, False, False, init and k == 0)

    A piece of k is the longest that fits L0A and L0B as often as the loop keeps it. Operands that
    name L0A or L0B stay. Runs before InferScope. The override ``l0_stages`` is the
    depth of the loop.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        chip, stages = chip_of(func), depth_of(overrides_of(func), L0_STAGES)

        def stage(stmt: tirx.Evaluate) -> tirx.Stmt:
            if key_of(stmt) != "tile_gemm":
                return stmt
            regions = [as_region(a) for a in stmt.value.args[1:3]]
            spaces = [space_of(r.source) for r in regions]
            if spaces == [Space.L0A, Space.L0B]:
                return stmt
            return _Product(stmt, chip, stages).staged()

        return func.with_body(
            tvm_ffi.structural_map(func.body, [(tirx.Evaluate, stage)]), func.span
        )


@dataclass
class _Operand:
    """One side of a product: its region, which of the two last axes is k, its memory."""

    region: TensorRegion
    k_axis: int
    space: Space
    scope: str

    @property
    def extents(self) -> list:
        """Extents of the two matrix axes."""
        return [r.extent for r in list(self.region.region)[-2:]]

    def piece(self, start: object, length: int) -> TensorRegion:
        """Return the part of k that a piece needs."""
        ranges = list(self.region.region)
        axis = len(ranges) - 2 + self.k_axis
        ranges[axis] = Range.from_min_extent(ranges[axis].min + start, length)
        return tirx.BufferRegion(self.region.source, ranges)


class _Product:
    """One gemm whose operands are not in L0 yet."""

    def __init__(self, stmt: tirx.Evaluate, chip: ChipSpec, stages: int) -> None:
        self.stmt = stmt
        self.chip = chip
        self.stages = stages
        c, a, b, transpose_a, transpose_b, init = stmt.value.args
        self.c = c
        self.init = init
        self.flags = (transpose_a, transpose_b)
        self.a = _Operand(as_region(a), 0 if transpose_a.value else 1, Space.L0A, "local.l0a")
        self.b = _Operand(as_region(b), 1 if transpose_b.value else 0, Space.L0B, "local.l0b")

    def staged(self) -> tirx.Stmt:
        """Return the product over pieces of k."""
        total = constant(self.a.extents[self.a.k_axis])
        length = self.longest(total)
        if length == total:
            return sequence(self.piece(tirx.IntImm("int32", 0), total, self.init))
        k = tirx.Var("k", "int32")
        first = tirx.And(self.init, tirx.EQ(k, 0))
        body = sequence(self.piece(k * length, length, first))
        annotations = {NUM_STAGES: self.stages, STAGES_CHOICE: L0_STAGES}
        return tirx.For(
            k,
            0,
            total // length,
            tirx.ForKind.SERIAL,
            body,
            None,
            annotations,
            span=self.stmt.span,
        )

    def longest(self, total: int | None) -> int:
        """Return the longest piece of k that divides it and fits L0."""
        sizes = [(o, constant(o.extents[1 - o.k_axis])) for o in (self.a, self.b)]
        if total is None or any(n is None for _, n in sizes):
            raise ProductTooLarge(
                str(self.stmt.value), "extents that are constants", self.stmt.span
            )
        block, item = self.chip.cube_block, itemsize(self.a.region.source.ty.dtype)
        for pieces in range(1, total + 1):
            length = total // pieces
            if total % pieces or (pieces > 1 and length % (self.chip.block_bytes // item)):
                continue
            copies = self.stages if pieces > 1 else 1
            padded = align(length, max(block, self.chip.block_bytes // item))
            if all(
                align(n, block) * padded * item * copies <= self.chip.capacity(o.space)
                for o, n in sizes
            ):
                return length
        rule = f"{self.chip.cube_block} of k within L0A and L0B"
        raise ProductTooLarge(str(self.stmt.value), rule, self.stmt.span)

    def piece(self, start: object, length: int, init: object) -> list[tirx.Stmt]:
        """Return the copies and the product of one piece."""
        stmts, tiles, span = [], [], self.stmt.span
        for operand in (self.a, self.b):
            if space_of(operand.region.source) is operand.space:
                tiles.append(operand.piece(start, length))
                continue
            shape = operand.extents
            shape[operand.k_axis] = length
            source = operand.region.source
            name, dtype = f"{source.name}_{operand.space.value}", str(source.ty.dtype)
            tile = tirx.decl_buffer(shape, dtype, name, scope=operand.scope)
            region = tirx.BufferRegion(tile, [Range(0, n) for n in shape])
            stmts.append(tirx.AllocBuffer(tile, {}, innermost(span)))
            stmts.append(call("tile_copy", operand.piece(start, length), region, span=span))
            tiles.append(region)
        return [*stmts, call("tile_gemm", self.c, *tiles, *self.flags, init, span=span)]

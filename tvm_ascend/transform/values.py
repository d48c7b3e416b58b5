# SPDX-License-Identifier: Apache-2.0
"""Values of an element loop in UB, and how instructions reach and spread them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import tvm
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend.transform.access import ZERO, Access, access_of, constant, itemsize
from tvm_ascend.transform.lane_ops import Run, in_chunks
from tvm_ascend.transform.nest import LANE, ROW, TILE, UNIT, Nest
from tvm_ascend.transform.selection import NotVectorizable, Selection, limit, supports
from tvm_ascend.transform.tile_args import sequence
from tvm_ascend.transform.tile_view import View, whole_view


@dataclass(eq=False)
class Value:
    """An evaluated expression: a scalar expression, or elements in UB along ``domain``.

    ``room`` is how many elements a temporary has, where the rest of its last group for Brcb can
    be set to 0 beforehand; ``padded`` asks for that. ``uses`` counts the operations that still
    read a temporary; None marks a buffer of the user. ``origin`` is the value whose temporary this
    one took over.
    """

    dtype: str
    domain: frozenset
    expr: tvm.ir.Expr | None = None
    access: Access | None = None
    room: int = 0
    padded: bool = False
    uses: int | None = None
    origin: Value | None = None


@dataclass
class Values:
    """Temporaries and instructions of one store.

    With ``whole`` every operation covers all rows before the next one starts, in temporaries of
    the size of the tile; otherwise a loop over rows holds all of them and temporaries are one row.
    """

    ctx: Selection
    nest: Nest
    whole: bool = False
    before: list[tirx.Stmt | Value] = field(default_factory=list)
    per_row: list[tirx.Stmt] = field(default_factory=list)
    blocks: dict = field(default_factory=dict)

    def out(self, domain: frozenset) -> list:
        """Where instructions of a domain go."""
        return self.per_row if domain >= TILE and not self.whole else self.before

    def count(self, domain: frozenset) -> object:
        """Elements that one run of a domain covers."""
        if LANE in domain:
            return self.nest.count
        return self.nest.rows if ROW in domain else 1

    def address(self, access: Access, domain: frozenset, row: object = None) -> TensorLoad:
        """Return where a run of a domain starts; ``row`` replaces the row variable."""
        at = self.nest.lanes_at_zero if domain == TILE else self.nest.all_at_zero
        if row is not None and self.nest.row:
            at = {**at, **self.at_row(row)}
        return access.at(at, self.ctx.analyzer)

    def at_row(self, row: object) -> dict:
        """Substitution to a row."""
        var = self.nest.row[0]
        return {var: tirx.const(row, str(var.ty.dtype)) if isinstance(row, int) else row}

    def run(self, value: Value, domain: frozenset, row: object = None) -> Run:
        """Return a value as the operand of an instruction of a domain."""
        if value.domain == domain or (LANE in value.domain and domain == TILE):
            return Run(self.address(value.access, domain, row))
        return Run(self.broadcast(value, domain, row), broadcast=True)

    def pitch(self, value: Value) -> int | None:
        """Elements from a row of a value to the next; None unless rows are whole blocks."""
        stride = value.access.stride(self.nest.row[0])
        return (
            stride
            if isinstance(stride, int) and stride % self.ctx.block(value.dtype) == 0
            else None
        )

    def apply(
        self, domain: frozenset, values: list[Value], make: Callable[[list[Run], object], list]
    ) -> None:
        """Emit ``make(operands, count)`` for every run of a domain."""
        if domain != TILE or not self.whole:
            runs = [self.run(v, domain) for v in values]
            self.out(domain).extend(make(runs, self.count(domain)))
            return
        ctx, (var, rows) = self.ctx, self.nest.row
        dense = all(self.dense(v) for v in values)
        if dense:
            runs = [self.run(v, domain, 0) for v in values]
            self.before += make(runs, ctx.simplify(rows * self.nest.count))
            return
        row = tirx.Var(var.name, str(var.ty.dtype))
        ctx.analyzer.bind(row, tvm.ir.Range(0, rows))
        stmts = make([self.run(v, domain, row) for v in values], self.nest.count)
        body = sequence(stmts)
        self.before.append(tirx.For(row, 0, rows, tirx.ForKind.SERIAL, body, span=ctx.span))

    def dense(self, value: Value) -> bool:
        """Whether one run over all rows serves: no gaps between rows, or the same everywhere."""
        if value.domain == TILE:
            return self.pitch(value) == constant(self.nest.count)
        return value.domain == UNIT

    def temporary(self, domain: frozenset, dtype: str) -> Value:
        """Allocate room for a result."""
        ctx, count = self.ctx, self.ctx.upper(self.count(domain))
        if count is None:
            raise NotVectorizable("the length of the loop has no upper bound")
        block = ctx.block(dtype)
        size = -(-count // block) * block
        if LANE not in domain:
            size = max(size, -(-count // ctx.repeat_blocks) * ctx.repeat_blocks)
        rows = ctx.upper(self.nest.rows) if domain == TILE and self.whole else None
        buffer = ctx.alloc((size,) if rows is None else (rows, size), dtype)
        value = Value(dtype, domain, access=self._along(buffer, domain, rows is not None), uses=0)
        if LANE not in domain:
            value.room = size
            self.before.append(value)
        return value

    def _along(self, buffer: tvm.ir.Var, domain: frozenset, by_row: bool) -> Access:
        """Access a temporary along the elements of a domain."""
        row = [self.nest.row[0]] if ROW in domain and (by_row or LANE not in domain) else []
        if LANE not in domain:
            return access_of(buffer, row or [ZERO], row)
        index: tvm.ir.Expr = ZERO
        for var, extent in self.nest.lanes:
            index = index * extent + var
        return access_of(buffer, [*row, index], [*row, *(v for v, _ in self.nest.lanes)])

    def staging(self, access: Access, extents: list, name: str) -> tuple[View, Access]:
        """Allocate a UB tile shaped like the part of global memory that an access covers."""
        moved = [v for v, _ in self.nest.tile_loops if v in access.strides]
        sizes = [self.ctx.upper(e) for e in extents]
        if any(s is None for s in sizes):
            raise NotVectorizable("the length of the loop has no upper bound")
        block = self.ctx.block(access.dtype)
        last = sizes[-1] if sizes else 1
        shape = (*sizes[:-1], -(-last // block) * block)
        buffer = self.ctx.alloc(shape, access.dtype, name=name)
        indices = list(moved) if moved else [ZERO]
        return whole_view(buffer, len(moved)), access_of(buffer, indices, moved)

    def reachable(self, access: Access, domain: frozenset) -> bool:
        """Whether vector instructions of the domain can address an access."""
        bytes_, analyzer = self.ctx.chip.block_bytes, self.ctx.analyzer
        if not access.aligned(self.nest.all_at_zero, analyzer, bytes_):
            return False
        if ROW not in domain:
            return True
        stride = access.stride(self.nest.row[0])
        if LANE not in domain:
            return constant(stride) == 1
        return isinstance(stride, int) and stride * itemsize(access.dtype) % bytes_ == 0

    def broadcast(self, value: Value, domain: frozenset, row: object = None) -> TensorLoad:
        """Spread each element over a block, and return the block an instruction reads."""
        if value not in self.blocks:
            self.blocks[value] = self._brcb(value)
        block = self.blocks[value]
        if row is not None and self.nest.row:
            return block.at(self.at_row(row), self.ctx.analyzer)
        return block.at({} if domain == TILE else self.nest.all_at_zero, self.ctx.analyzer)

    def _brcb(self, value: Value) -> Access:
        ctx, dtype, group = self.ctx, value.dtype, self.ctx.repeat_blocks
        count = self.count(value.domain)
        if not supports("brcb", dtype):
            raise NotVectorizable(f"no instruction broadcasts {dtype}")
        if constant(count) is None or constant(count) % group:
            value = value if value.room else self.copied(value)
            (value.origin or value).padded = True
        groups = -(-ctx.upper(count) // group)
        buffer = ctx.alloc((groups * group, ctx.block(dtype)), dtype)
        source = self.address(value.access, value.domain)

        def piece(first: int, repeat: int) -> tirx.Stmt:
            src = list(source.indices)
            src[-1] = src[-1] + first * group
            dst = tirx.BufferLoad(buffer, [first * group, 0])
            return ctx.emit("brcb", dst, tirx.BufferLoad(source.source, src), repeat, 1, group)

        self.before += in_chunks(ctx, groups, limit("brcb", "repeat"), piece)
        row = self.nest.row[0] if ROW in value.domain else ZERO
        return access_of(buffer, [row, ZERO], [row] if ROW in value.domain else [])

    def copied(self, value: Value) -> Value:
        """Copy a value to a temporary."""
        if not supports("muls", value.dtype):
            raise NotVectorizable(f"no instruction copies {value.dtype} inside UB")
        copy = self.temporary(value.domain, value.dtype)
        at = [self.address(v.access, value.domain) for v in (copy, value)]
        one, count = tirx.const(1, value.dtype), self.count(value.domain)
        self.before.append(self.ctx.emit("muls", *at, one, count))
        return copy

    def filled(self, value: Value, domain: frozenset) -> Value:
        """Put a scalar into every lane of one block, which then serves any number of lanes."""
        ctx = self.ctx
        if value.domain and self.whole:
            raise NotVectorizable("a scalar changes from row to row")
        buffer = ctx.alloc((max(ctx.block(value.dtype), ctx.repeat_blocks),), value.dtype)
        unit = Value(value.dtype, UNIT, access=access_of(buffer, [ZERO], []))
        out = self.out(domain) if value.domain else self.before
        address = unit.access.at({}, ctx.analyzer)
        out.append(ctx.emit("duplicate", address, value.expr, ctx.block(value.dtype)))
        self.blocks[unit] = unit.access
        return unit

    def statements(self) -> list[tirx.Stmt]:
        """Return everything emitted, with the loop over rows."""
        before = []
        for item in self.before:
            if not isinstance(item, Value):
                before.append(item)
            elif item.padded:
                zero = tirx.const(0, item.dtype)
                address = self.address(item.access, item.domain)
                before.append(self.ctx.emit("duplicate", address, zero, item.room))
        if not self.per_row:
            return before
        var, extent = self.nest.row
        body = sequence(self.per_row)
        return [*before, tirx.For(var, 0, extent, tirx.ForKind.SERIAL, body, span=self.ctx.span)]

# SPDX-License-Identifier: Apache-2.0
"""Expression trees of element loops as vector instructions with UB temporaries."""

from __future__ import annotations

from dataclasses import dataclass, field

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad
from tvm_ffi import StructuralKey

from tvm_ascend.isa.instr import Space
from tvm_ascend.transform.access import ZERO, Access, access_of, constant, itemsize
from tvm_ascend.transform.cast_path import cast_path
from tvm_ascend.transform.lane_ops import Run, binary, in_chunks, with_scalar
from tvm_ascend.transform.nest import LANE, ROW, ROWS, TILE, UNIT, Nest, gm_view
from tvm_ascend.transform.select_move import load
from tvm_ascend.transform.selection import NotVectorizable, Selection, limit, supports
from tvm_ascend.transform.tile_view import View, whole_view

BINARY = {
    tirx.Add: "add",
    tirx.Sub: "sub",
    tirx.Mul: "mul",
    tirx.Div: "div",
    tirx.Max: "max",
    tirx.Min: "min",
}
UNARY = {
    "tirx.exp": "exp",
    "tirx.log": "ln",
    "tirx.sqrt": "sqrt",
    "tirx.fabs": "abs",
    "tirx.abs": "abs",
}
_GROUP = 8
"""Elements one Brcb repeat reads."""


@dataclass(eq=False)
class Value:
    """An evaluated expression: a scalar expression, or elements in UB along ``domain``."""

    dtype: str
    domain: frozenset
    expr: tvm.ir.Expr | None = None
    access: Access | None = None
    room: int = 0
    """Elements allocated, where the rest of the last group for Brcb may be set to 0 beforehand."""
    padded: bool = False
    """Whether that was asked for."""


@dataclass
class Evaluator:
    """Evaluates expressions of one store; instructions go before or into the loop over rows."""

    ctx: Selection
    nest: Nest
    before: list[tirx.Stmt | Value] = field(default_factory=list)
    per_row: list[tirx.Stmt] = field(default_factory=list)
    memo: dict = field(default_factory=dict)
    blocks: dict = field(default_factory=dict)

    def out(self, domain: frozenset) -> list[tirx.Stmt]:
        """Where instructions of a domain go."""
        return self.per_row if domain >= TILE else self.before

    def count(self, domain: frozenset) -> object:
        """Elements that one instruction of a domain covers."""
        if LANE in domain:
            return self.nest.count
        return self.nest.rows if ROW in domain else 1

    def run(self, value: Value, domain: frozenset) -> Run:
        """Return a value as the operand of an instruction of a domain."""
        if value.domain == domain or (LANE in value.domain and domain == TILE):
            return Run(self.address(value.access, domain))
        return Run(self.broadcast(value, domain), broadcast=True)

    def address(self, access: Access, domain: frozenset) -> TensorLoad:
        """Return where an instruction of a domain starts."""
        at = self.nest.lanes_at_zero if domain == TILE else self.nest.all_at_zero
        return access.at(at, self.ctx.analyzer)

    def temporary(self, domain: frozenset, dtype: str) -> Value:
        """Allocate room for the elements of one instruction of a domain."""
        count = self.ctx.upper(self.count(domain))
        if count is None:
            raise NotVectorizable("the length of the loop has no upper bound")
        block = self.ctx.block(dtype)
        size = -(-count // block) * block
        if LANE not in domain:
            size = max(size, -(-count // _GROUP) * _GROUP)
        buffer = self.ctx.alloc((size,), dtype)
        value = Value(dtype, domain, access=self._along(buffer, domain))
        if LANE not in domain:
            value.room = size
            self.before.append(value)
        return value

    def _along(self, buffer: tvm.ir.Var, domain: frozenset) -> Access:
        """Access a one-dimensional temporary along the elements of one instruction."""
        if LANE in domain:
            index: tvm.ir.Expr = ZERO
            for var, extent in self.nest.lanes:
                index = index * extent + var
            loops = [v for v, _ in self.nest.lanes]
        else:
            index = self.nest.row[0] if ROW in domain else ZERO
            loops = [self.nest.row[0]] if ROW in domain else []
        return access_of(buffer, [index], loops)

    def evaluate(self, expr: tvm.ir.Expr, into: Access | None = None) -> Value:
        """Evaluate an expression, into ``into`` if its last instruction can write there."""
        key = StructuralKey(expr)
        if key not in self.memo:
            self.memo[key] = self._evaluate(expr, into)
        return self.memo[key]

    def _evaluate(self, expr: tvm.ir.Expr, into: Access | None) -> Value:
        if isinstance(expr, TensorLoad):
            return self._load(expr)
        if not _has_loads(expr):
            return self._scalar(expr)
        if isinstance(expr, tirx.Cast):
            return self.cast(self.evaluate(expr.value), str(expr.ty.dtype), into)
        for node, key in BINARY.items():
            if isinstance(expr, node):
                a, b = self.evaluate(expr.a), self.evaluate(expr.b)
                return self.combine(key, a, b, str(expr.ty.dtype), into)
        if isinstance(expr, tvm.ir.Call) and expr.op.name in UNARY:
            return self._unary(UNARY[expr.op.name], expr, into)
        what = expr.op.name if isinstance(expr, tvm.ir.Call) else type(expr).__name__
        raise NotVectorizable(f"no vector instruction computes {what}")

    def _scalar(self, expr: tvm.ir.Expr) -> Value:
        used = _variables(expr)
        if any(v.same_as(u) for v, _ in self.nest.lanes for u in used):
            raise NotVectorizable("the loop index itself is used as a value")
        by_row = self.nest.row is not None and any(self.nest.row[0].same_as(u) for u in used)
        return Value(str(expr.ty.dtype), ROWS if by_row else UNIT, expr=expr)

    def _load(self, expr: TensorLoad) -> Value:
        loops = [v for v, _ in self.nest.tile_loops]
        access = access_of(expr.source, list(expr.indices), loops)
        if access is None:
            raise NotVectorizable(f"the index of `{expr.source.name}` is not affine")
        domain = self.nest.domain(access)
        if access.space is Space.GM:
            return self._stage(access, domain)
        if access.space is not Space.UB:
            raise NotVectorizable(f"`{access.buffer.name}` is in {access.space}, not in UB")
        if not self.reachable(access, domain):
            if LANE in domain:
                raise NotVectorizable(f"`{access.buffer.name}` is not at a 32-byte boundary")
            return Value(access.dtype, domain, expr=expr)
        return Value(access.dtype, domain, access=access)

    def reachable(self, access: Access, domain: frozenset) -> bool:
        """Whether vector instructions of the domain can address an access."""
        bytes_, analyzer = self.ctx.chip.block_bytes, self.ctx.analyzer
        if not access.aligned(self.nest.all_at_zero, analyzer, bytes_):
            return False
        if ROW not in domain:
            return True
        stride = access.stride(self.nest.row[0])
        if LANE not in domain:
            return stride == 1
        return isinstance(stride, int) and stride * itemsize(access.dtype) % bytes_ == 0

    def _stage(self, access: Access, domain: frozenset) -> Value:
        """Load what an access covers from global memory into a temporary."""
        view, extents = gm_view(access, self.nest.tile_loops)
        staged, along = self.staging(access, extents, f"{access.buffer.name}_in")
        self.before += load(self.ctx, staged, view, extents)
        return Value(access.dtype, domain, access=along)

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

    def cast(self, value: Value, dtype: str, into: Access | None = None) -> Value:
        """Convert a value."""
        if value.dtype == dtype:
            return value
        if value.expr is not None:
            return Value(dtype, value.domain, expr=tirx.Cast(dtype, value.expr))
        path = cast_path(value.dtype, dtype)
        if path is None:
            raise NotVectorizable(f"no instructions cast {value.dtype} to {dtype}")
        for k, (step, mode) in enumerate(path):
            last = k == len(path) - 1
            target = self.target(value.domain, step, into if last else None)
            at = [self.address(v.access, value.domain) for v in (target, value)]
            self.out(value.domain).append(
                self.ctx.emit("cast", *at, mode, self.count(value.domain))
            )
            value = target
        return value

    def target(self, domain: frozenset, dtype: str, into: Access | None) -> Value:
        """Return where a result goes: ``into`` if it fits, else a temporary."""
        if into is not None and into.dtype == dtype and self.nest.domain(into) == domain:
            return Value(dtype, domain, access=into)
        return self.temporary(domain, dtype)

    def combine(self, key: str, a: Value, b: Value, dtype: str, into: Access | None) -> Value:
        """Evaluate one binary operation."""
        wide = compute_dtype(key, dtype)
        a, b = self.cast(a, wide), self.cast(b, wide)
        domain = a.domain | b.domain
        if a.expr is not None and b.expr is not None:
            node = next(n for n, k in BINARY.items() if k == key)
            return Value(wide, domain, expr=node(a.expr, b.expr))
        if domain == ROWS and (a.expr is not None or b.expr is not None):
            scalar = a if a.expr is not None else b
            if scalar.domain == ROWS:
                raise NotVectorizable("a scalar that changes from row to row meets a column")
        target = self.target(domain, wide, into)
        dst, count = self.address(target.access, domain), self.count(domain)
        out = self.out(domain)
        if a.expr is not None or b.expr is not None:
            tile, scalar = (b, a) if a.expr is not None else (a, b)
            run = self.run(tile, domain)
            first = scalar is a
            if not run.broadcast:
                stmts = with_scalar(self.ctx, key, dst, run, scalar.expr, count, first)
                if stmts is not None:
                    out += stmts
                    return target
            a, b = (self.filled(v, domain) if v is scalar else v for v in (a, b))
        out += binary(self.ctx, key, dst, self.run(a, domain), self.run(b, domain), count)
        return target

    def filled(self, value: Value, domain: frozenset) -> Value:
        """Put a scalar into a block of UB."""
        unit = self.nest_unit(value.dtype)
        out = self.out(domain) if value.domain else self.before
        block = self.ctx.block(value.dtype)
        address = unit.access.at({}, self.ctx.analyzer)
        out.append(self.ctx.emit("duplicate", address, value.expr, block))
        self.blocks[unit] = address
        return unit

    def nest_unit(self, dtype: str) -> Value:
        """Allocate one block."""
        buffer = self.ctx.alloc((max(self.ctx.block(dtype), _GROUP),), dtype)
        return Value(dtype, UNIT, access=access_of(buffer, [ZERO], []))

    def _unary(self, key: str, expr: tvm.ir.Call, into: Access | None) -> Value:
        value = self.evaluate(expr.args[0])
        wide = compute_dtype(key, str(expr.ty.dtype))
        value = self.cast(value, wide)
        if value.expr is not None:
            value = self.filled(value, value.domain)
        target = self.target(value.domain, wide, into)
        at = [self.address(v.access, value.domain) for v in (target, value)]
        self.out(value.domain).append(self.ctx.emit(key, *at, self.count(value.domain)))
        return target

    def broadcast(self, value: Value, domain: frozenset) -> TensorLoad:
        """Spread each element of a value over a block and return the block an instruction reads."""
        if value not in self.blocks:
            self.blocks[value] = self._brcb(value)
        block = self.blocks[value]
        if isinstance(block, TensorLoad):
            return block
        at = {} if domain == TILE else self.nest.all_at_zero
        return block.at(at, self.ctx.analyzer)

    def _brcb(self, value: Value) -> Access:
        ctx, dtype = self.ctx, value.dtype
        count = self.count(value.domain)
        if not supports("brcb", dtype):
            raise NotVectorizable(f"no instruction broadcasts {dtype}")
        if constant(count) is None or constant(count) % _GROUP:
            value = value if value.room else self._copy(value)
            value.padded = True
        groups = -(-ctx.upper(count) // _GROUP)
        block = ctx.block(dtype)
        buffer = ctx.alloc((groups * _GROUP, block), dtype)
        source = Run(self.address(value.access, value.domain))

        def piece(first: int, repeat: int) -> tirx.Stmt:
            src = list(source.address.indices)
            src[-1] = src[-1] + first * _GROUP
            dst = tirx.BufferLoad(buffer, [first * _GROUP, 0])
            return ctx.emit("brcb", dst, tirx.BufferLoad(source.address.source, src), repeat, 1, 8)

        self.before += in_chunks(ctx, groups, limit("brcb", "repeat"), piece)
        row = self.nest.row[0] if ROW in value.domain else ZERO
        return access_of(buffer, [row, ZERO], [row] if ROW in value.domain else [])

    def _copy(self, value: Value) -> Value:
        if not supports("muls", value.dtype):
            raise NotVectorizable(f"no instruction copies {value.dtype} inside UB")
        copy = self.temporary(value.domain, value.dtype)
        at = [self.address(v.access, value.domain) for v in (copy, value)]
        one, count = tirx.const(1, value.dtype), self.count(value.domain)
        self.before.append(self.ctx.emit("muls", *at, one, count))
        return copy

    def finish(self, value: Value, into: Access) -> None:
        """Make sure a value stands in its destination, along all of the destination's domain."""
        if value.access is into:
            return
        domain = self.nest.domain(into)
        ctx, dst, count = self.ctx, self.address(into, domain), self.count(domain)
        out = self.out(domain)
        if value.expr is not None:
            if not supports("duplicate", value.dtype):
                raise NotVectorizable(f"no instruction fills {value.dtype}")
            out.append(ctx.emit("duplicate", dst, value.expr, count))
            return
        run = self.run(value, domain)
        if run.broadcast:
            out += binary(ctx, "max", dst, run, run, count)
        elif supports("muls", value.dtype):
            one = tirx.const(1, value.dtype)
            out.append(ctx.emit("muls", dst, run.address, one, count))
        else:
            raise NotVectorizable(f"no instruction copies {value.dtype} inside UB")

    def statements(self) -> list[tirx.Stmt]:
        """Return everything emitted, with the loop over rows."""
        before = []
        for item in self.before:
            if not isinstance(item, Value):
                before.append(item)
            elif item.padded:
                before.append(self._zeroed(item))
        if not self.per_row:
            return before
        var, extent = self.nest.row
        body = self.per_row[0] if len(self.per_row) == 1 else tirx.SeqStmt(self.per_row)
        loop = tirx.For(var, 0, extent, tirx.ForKind.SERIAL, body, span=self.ctx.span)
        return [*before, loop]

    def _zeroed(self, value: Value) -> tirx.Stmt:
        address = self.address(value.access, value.domain)
        return self.ctx.emit("duplicate", address, tirx.const(0, value.dtype), value.room)


def compute_dtype(key: str, dtype: str) -> str:
    """Return the dtype an operation runs in: its own, or float32 for a float the chip lacks."""
    if supports(key, dtype):
        return dtype
    if "float" in dtype and supports(key, "float32") and cast_path(dtype, "float32") is not None:
        return "float32"
    raise NotVectorizable(f"there is no {dtype} {key}")


def _has_loads(expr: tvm.ir.Expr) -> bool:
    found = []
    tvm_ffi.structural_walk(expr, [(TensorLoad, found.append)])
    return bool(found)


def _variables(expr: tvm.ir.Expr) -> list:
    found: list = []
    tvm_ffi.structural_walk(expr, [(tvm.ir.Var, found.append)])
    return found

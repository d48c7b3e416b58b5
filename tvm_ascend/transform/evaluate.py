# SPDX-License-Identifier: Apache-2.0
"""Expression trees of element loops as vector instructions with UB temporaries."""

from __future__ import annotations

from dataclasses import dataclass, field

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad
from tvm_ffi import StructuralKey

from tvm_ascend.isa.dtypes import is_float
from tvm_ascend.isa.instr import Space
from tvm_ascend.transform.access import Access, access_of
from tvm_ascend.transform.cast_path import cast_path
from tvm_ascend.transform.expressions import count_readers, has_loads, narrowed
from tvm_ascend.transform.lane_ops import binary, has_scalar_form, with_scalar
from tvm_ascend.transform.nest import LANE, LANES, ROWS, TILE, UNIT, gm_view
from tvm_ascend.transform.select_move import load
from tvm_ascend.transform.selection import NotVectorizable, supports
from tvm_ascend.transform.tile_columns import by_columns, columns_pay
from tvm_ascend.transform.values import Value, Values

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


@dataclass
class Evaluator(Values):
    """Evaluates expressions of one store."""

    memo: dict = field(default_factory=dict)
    readers: dict = field(default_factory=dict)

    def evaluate(self, expr: tvm.ir.Expr, into: Access | None = None) -> Value:
        """Evaluate an expression, into ``into`` if its last instruction can write there."""
        if not self.readers:
            count_readers(expr, self.readers)
        key = StructuralKey(expr)
        if key not in self.memo:
            value = self._evaluate(expr, into)
            if value.uses is not None:
                value.uses += self.readers.get(key, 0)
            self.memo[key] = value
        return self.memo[key]

    def _evaluate(self, expr: tvm.ir.Expr, into: Access | None) -> Value:
        if isinstance(expr, TensorLoad):
            return self._load(expr)
        if not has_loads(expr):
            return self._scalar(expr)
        if isinstance(expr, tirx.Cast):
            simpler = narrowed(expr)
            if simpler is not None:
                return self.evaluate(simpler, into)
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
        used: list = []
        tvm_ffi.structural_walk(expr, [(tvm.ir.Var, used.append)])
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

    def _stage(self, access: Access, domain: frozenset) -> Value:
        """Load what an access covers from global memory into a temporary."""
        view, extents = gm_view(access, self.nest.tile_loops)
        staged, along = self.staging(access, extents, f"{access.buffer.name}_in")
        self.before += load(self.ctx, staged, view, extents, elements=True)
        return Value(access.dtype, domain, access=along)

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
            target = self.target(value.domain, step, into if k == len(path) - 1 else None)
            self.apply(
                value.domain,
                [target, value],
                lambda at, n, mode=mode: [
                    self.ctx.emit("cast", at[0].address, at[1].address, mode, n)
                ],
            )
            value = target
        return value

    def target(
        self, domain: frozenset, dtype: str, into: Access | None, operands: tuple = ()
    ) -> Value:
        """Return where a result goes: ``into``, an operand nobody reads later, a temporary."""
        for operand in operands:
            if operand.uses is not None:
                operand.uses = max(operand.uses - 1, 0)
        if into is not None and into.dtype == dtype and self.nest.domain(into) == domain:
            return Value(dtype, domain, access=into)
        if self.whole or self.nest.row is None or domain != LANES:
            for operand in operands:
                if operand.dtype == dtype and operand.domain == domain and operand.uses == 0:
                    return self._taken_over(operand)
        return self.temporary(domain, dtype)

    def _taken_over(self, value: Value) -> Value:
        """Return a result in the temporary of a value that nobody reads later.

        Not for a row that is the same for all rows: the loop over rows still reads it.
        """
        origin = value.origin or value
        return Value(
            value.dtype,
            value.domain,
            access=value.access,
            room=value.room,
            uses=0,
            origin=origin,
        )

    def combine(self, key: str, a: Value, b: Value, dtype: str, into: Access | None) -> Value:
        """Evaluate one binary operation."""
        wide = compute_dtype(key, dtype)
        a, b = self.cast(a, wide), self.cast(b, wide)
        domain = a.domain | b.domain
        if a.expr is not None and b.expr is not None:
            node = next(n for n, k in BINARY.items() if k == key)
            return Value(wide, domain, expr=node(a.expr, b.expr))
        if ROWS in (a.domain, b.domain) and domain in (ROWS, TILE):
            scalar = a if a.expr is not None else b
            if scalar.expr is not None and scalar.domain == ROWS and (self.whole or domain == ROWS):
                raise NotVectorizable("a scalar changes from row to row")
        target = self.target(domain, wide, into, (a, b) if a is not b else (a,))
        if a.expr is not None or b.expr is not None:
            tile, scalar = (b, a) if a.expr is not None else (a, b)
            exact = has_scalar_form(key, scalar.expr, wide, scalar is a)
            if exact and (tile.domain == domain or LANE in tile.domain):
                self._with_scalar(key, domain, target, tile, scalar.expr, scalar is a)
                return target
            a, b = (self.filled(v, domain) if v is scalar else v for v in (a, b))
        self._binary(key, domain, target, a, b)
        return target

    def _with_scalar(
        self,
        key: str,
        domain: frozenset,
        target: Value,
        tile: Value,
        scalar: tvm.ir.Expr,
        first: bool,
    ) -> None:
        """Emit the scalar form of an operation."""
        ctx = self.ctx
        self.apply(
            domain,
            [target, tile],
            lambda at, n: with_scalar(ctx, key, at[0].address, at[1], scalar, n, first),
        )

    def _binary(self, key: str, domain: frozenset, target: Value, a: Value, b: Value) -> None:
        ctx = self.ctx
        if domain == TILE and columns_pay(self, key, [target, a, b]):
            self.before += by_columns(self, key, target, a, b)
            return
        self.apply(
            domain, [target, a, b], lambda at, n: binary(ctx, key, at[0].address, at[1], at[2], n)
        )

    def _unary(self, key: str, expr: tvm.ir.Call, into: Access | None) -> Value:
        value = self.evaluate(expr.args[0])
        value = self.cast(value, compute_dtype(key, str(expr.ty.dtype)))
        if value.expr is not None:
            value = self.filled(value, value.domain)
        target = self.target(value.domain, value.dtype, into, (value,))
        self.apply(
            value.domain,
            [target, value],
            lambda at, n: [self.ctx.emit(key, at[0].address, at[1].address, n)],
        )
        return target

    def finish(self, value: Value, into: Access) -> None:
        """Make sure a value stands in its destination, along all of the destination's domain."""
        if value.access is not into:
            self.spread(value, Value(value.dtype, self.nest.domain(into), access=into))

    def spread(self, value: Value, target: Value) -> None:
        """Copy a value along all of the target's domain."""
        domain, ctx, dtype = target.domain, self.ctx, value.dtype
        if value.expr is not None:
            if not supports("duplicate", dtype):
                raise NotVectorizable(f"no instruction fills {dtype}")
            if value.domain and self.whole:
                raise NotVectorizable("a scalar changes from row to row")
            self.apply(
                domain,
                [target],
                lambda at, n: [ctx.emit("duplicate", at[0].address, value.expr, n)],
            )
        elif LANE in domain and LANE not in value.domain:
            self._binary("max", domain, target, value, value)
        elif supports("muls", dtype):
            one = tirx.const(1, dtype)
            self.apply(
                domain,
                [target, value],
                lambda at, n: [ctx.emit("muls", at[0].address, at[1].address, one, n)],
            )
        else:
            raise NotVectorizable(f"no instruction copies {dtype} inside UB")


def compute_dtype(key: str, dtype: str) -> str:
    """Return the dtype an operation runs in: its own, or float32 for a float the chip lacks."""
    if supports(key, dtype):
        return dtype
    if is_float(dtype) and supports(key, "float32") and cast_path(dtype, "float32") is not None:
        return "float32"
    raise NotVectorizable(f"there is no {dtype} {key}")

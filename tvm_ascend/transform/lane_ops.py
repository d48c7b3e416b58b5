# SPDX-License-Identifier: Apache-2.0
"""One lane-wise operation on one run: the form of the instruction that its operands allow."""

from __future__ import annotations

import math
from dataclasses import dataclass

import tvm
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend.transform.access import constant, dtype_of
from tvm_ascend.transform.selection import NotVectorizable, Selection, limit, supports
from tvm_ascend.transform.tile_view import loop_over

SCALAR_FORMS = {"add": "adds", "mul": "muls", "max": "maxs", "min": "mins"}


@dataclass(frozen=True)
class Run:
    """An operand that is a run of elements; with ``broadcast`` one block serves every lane."""

    address: TensorLoad
    broadcast: bool = False


def advance(ctx: Selection, run: Run, elements: object) -> TensorLoad:
    """Return the address of a later element of a run."""
    if run.broadcast:
        return run.address
    indices = list(run.address.indices)
    indices[-1] = ctx.analyzer.simplify(indices[-1] + elements)
    return tirx.BufferLoad(run.address.source, indices)


def binary(
    ctx: Selection, key: str, dst: TensorLoad, a: Run, b: Run, count: object
) -> list[tirx.Stmt]:
    """Combine two runs; a broadcast operand asks for the repeat form."""
    if not supports(key, dtype_of(dst.source)):
        raise NotVectorizable(f"there is no {dtype_of(dst.source)} {key}")
    if not a.broadcast and not b.broadcast:
        return [ctx.emit(key, dst, a.address, b.address, count)]
    key = f"{key}_repeat"
    lanes, most = ctx.lanes(dtype_of(dst.source)), limit(key, "repeat")
    full, tail = ctx.simplify(count // lanes), ctx.simplify(count % lanes)

    def piece(first: object, mask: object, repeat: object) -> tirx.Stmt:
        at = [advance(ctx, r, first) for r in (Run(dst), a, b)]
        flags = (False, a.broadcast, b.broadcast)
        strides = [0 if f else 1 for f in flags] + [0 if f else ctx.repeat_blocks for f in flags]
        return ctx.emit(key, *at, mask, repeat, *strides)

    stmts = []
    if constant(full) != 0:
        stmts += in_chunks(ctx, full, most, lambda k, n: piece(k * lanes, lanes, n))
    if constant(tail) != 0:
        stmts.append(piece(ctx.simplify(full * lanes), tail, 1))
    return stmts


def in_chunks(ctx: Selection, total: object, most: int, make) -> list[tirx.Stmt]:
    """Call ``make(first, size)`` for pieces of at most ``most`` that make up ``total``."""
    upper = ctx.upper(total)
    if upper is not None and upper <= most:
        return [make(0, total)]
    if isinstance(total, int) or constant(total) is not None:
        whole = constant(total)
        return [make(k, min(most, whole - k)) for k in range(0, whole, most)]
    chunks = (total + (most - 1)) // most
    return loop_over(
        ctx,
        [chunks],
        lambda at: [make(at[0] * most, ctx.simplify(tirx.min(total - at[0] * most, most)))],
    )


def has_scalar_form(key: str, scalar: tvm.ir.Expr, dtype: str, scalar_first: bool) -> bool:
    """Whether an operation with a scalar has an exact form."""
    return key != "div" or (not scalar_first and exact_inverse(scalar, dtype) is not None)


def with_scalar(
    ctx: Selection,
    key: str,
    dst: TensorLoad,
    run: Run,
    scalar: tvm.ir.Expr,
    count: object,
    scalar_first: bool,
) -> list[tirx.Stmt]:
    """Combine a run with a scalar, where that has an exact form."""
    dtype = dtype_of(dst.source)
    if key == "sub":
        if not scalar_first:
            return with_scalar(ctx, "add", dst, run, negated(scalar), count, False)
        minus_one = tirx.const(-1, dtype)
        return [
            ctx.emit("muls", dst, run.address, minus_one, count),
            ctx.emit("adds", dst, dst, scalar, count),
        ]
    if key == "div":
        key, scalar = "mul", tirx.const(exact_inverse(scalar, dtype), dtype)
    form = SCALAR_FORMS.get(key, "")
    if not supports(form, dtype):
        raise NotVectorizable(f"there is no {dtype} {key}")
    return [ctx.emit(form, dst, run.address, scalar, count)]


def negated(scalar: tvm.ir.Expr) -> tvm.ir.Expr:
    """Return ``-scalar``."""
    dtype = str(scalar.ty.dtype)
    if isinstance(scalar, (tirx.FloatImm, tirx.IntImm)):
        return tirx.const(-scalar.value, dtype)
    return scalar * tirx.const(-1, dtype)


def exact_inverse(scalar: tvm.ir.Expr, dtype: str) -> float | None:
    """Return ``1 / scalar`` for a power of two whose inverse is a normal number."""
    if not isinstance(scalar, tirx.FloatImm) or not math.isfinite(scalar.value):
        return None
    mantissa, exponent = math.frexp(scalar.value)
    most = 14 if dtype == "float16" else 126
    return 1 / scalar.value if abs(mantissa) == 0.5 and abs(exponent) <= most else None

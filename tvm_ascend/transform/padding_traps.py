# SPDX-License-Identifier: Apache-2.0
"""Keep what lies past a tensor from stopping the core: as a divisor, or as an index."""

from __future__ import annotations

import functools

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend.errors import PaddingDivides
from tvm_ascend.schedule.match import strip_casts
from tvm_ascend.transform.padding_reads import OpenRead, Reads, choice

_DIVISIONS = (tirx.Div, tirx.Mod, tirx.FloorDiv, tirx.FloorMod)


def without_traps(reads: Reads, expr: tvm.ir.Expr, span: tvm.ir.Span | None) -> tvm.ir.Expr:
    """The expression with divisors of 1 and indices of 0 where those of a tile do not exist."""

    def divide(node: tvm.ir.Expr, mutator: object) -> tvm.ir.Expr:
        a, b = mutator.mutate(node.a), mutator.mutate(node.b)
        if "int" in str(node.ty.dtype) and not isinstance(b, tirx.IntImm):
            found = reads.needs(node.b)
            _check_known(found, node.b, span)
            b = _or_else(found, b, 1)
        return type(node)(a, b, node.span)

    def load(node: TensorLoad, mutator: object) -> TensorLoad:
        indices = [_or_else(reads.needs(index), mutator.mutate(index), 0) for index in node.indices]
        return tirx.BufferLoad(node.source, indices, node.span)

    def choose(node: tvm.ir.Expr, mutator: object) -> tvm.ir.Expr:
        parts = choice(node)
        if parts is None:
            return mutator.default_mutate(node)
        condition = mutator.mutate(parts[0])
        with reads.where([parts[0]]):
            yes = mutator.mutate(parts[1])
        with reads.where([tirx.Not(parts[0])]):
            no = mutator.mutate(parts[2])
        if isinstance(node, tirx.Select):
            return tirx.Select(condition, yes, no, node.span)
        return tirx.if_then_else(condition, yes, no, node.span)

    rules = [
        *((kind, divide) for kind in _DIVISIONS),
        (TensorLoad, load),
        (tirx.Select, choose),
        (tvm.ir.Call, choose),
    ]
    return tvm_ffi.structural_mutate(expr, rules)


def _or_else(found: list[OpenRead], value: tvm.ir.Expr, other: int) -> tvm.ir.Expr:
    """The value where all that it is made of exists."""
    known = [read.exists for read in found if read.limit is not None]
    if not known:
        return value
    condition = functools.reduce(tirx.And, known)
    return tirx.if_then_else(condition, value, tirx.const(other, str(value.ty.dtype)))


def _check_known(found: list[OpenRead], divisor: tvm.ir.Expr, span: tvm.ir.Span | None) -> None:
    """Refuse an element as divisor of which nobody knows whether it exists."""
    open_ = next((read for read in found if read.limit is None), None)
    if open_ is not None and isinstance(strip_casts(divisor), TensorLoad):
        raise PaddingDivides(open_.tile.name, open_.span, span)

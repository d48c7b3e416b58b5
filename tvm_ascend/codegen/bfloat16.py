# SPDX-License-Identifier: Apache-2.0
"""Scalar bfloat16 arithmetic for the host: float32 operations, each rounded as the chip's type is.

TVM's own legalization keeps float32 between operations, which would differ from the emitted C++.
"""

from __future__ import annotations

import tvm_ffi
from tvm import tirx
from tvm.ir import Call

from tvm_ascend.codegen.walk import dtype_of

NAME = "bfloat16"
_BINARY = (tirx.Add, tirx.Sub, tirx.Mul, tirx.Div, tirx.Min, tirx.Max)


def widen(expr):
    """Replace every bfloat16 value in an expression by a float32 that holds a bfloat16."""
    mapping = [
        *((kind, _binary) for kind in _BINARY),
        (tirx.Cast, _cast),
        (tirx.FloatImm, _literal),
        (tirx.Select, _select),
        (Call, _call),
    ]
    return tvm_ffi.structural_mutate(expr, mapping)


def is_bfloat16(expr) -> bool:
    """Whether an expression has this dtype."""
    return dtype_of(expr) == NAME


def _round(value):
    return tirx.call_extern("float32", "tvm_ascend_round_bfloat16", value)


def _binary(node, mutator):
    if not is_bfloat16(node):
        return mutator.default_mutate(node)
    return _round(type(node)(mutator.mutate(node.a), mutator.mutate(node.b)))


def _cast(node, mutator):
    value = mutator.mutate(node.value)
    if is_bfloat16(node):
        return _round(tirx.Cast("float32", value))
    return tirx.Cast(node.ty, value)


def _literal(node, _mutator):
    return _round(tirx.FloatImm("float32", node.value)) if is_bfloat16(node) else node


def _select(node, mutator):
    return tirx.Select(
        *(mutator.mutate(e) for e in (node.condition, node.true_value, node.false_value))
    )


def _call(node, mutator):
    if not is_bfloat16(node):
        return mutator.default_mutate(node)
    return _round(Call(node.op, [mutator.mutate(a) for a in node.args], ret_ty="float32"))

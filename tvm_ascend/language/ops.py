# SPDX-License-Identifier: Apache-2.0
"""The TIR ops ``tirx.ascend.<key>``: one per instruction row and one per tile operation."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import tvm
from tvm import tirx
from tvm.ir import Op
from tvm.ir.op import register_op_attr
from tvm.tirx.script.builder.ir import register_script_namespace

from tvm_ascend.errors import ArgumentKind, IntegerTooLarge
from tvm_ascend.isa.table import TABLE

PREFIX = "tirx.ascend."
# An IntImm here makes every PrimFunc that uses the op fail to build; the plain int does not.
_OPAQUE = 3
# Above the names TVM's own printer tables register.
_PRINTER_LEVEL = 20


@dataclass(frozen=True, kw_only=True)
class TileOp:
    """One operation on buffer regions, before instructions are selected."""

    key: str
    operands: tuple[str, ...]
    params: tuple[str, ...]
    doc: str


TILE_OPS: dict[str, TileOp] = {
    op.key: op
    for op in (
        TileOp(
            key="tile_copy",
            operands=("src", "dst"),
            params=(),
            doc="Copies a region, casting; lanes outside a tensor load 0 and are not stored.",
        ),
        TileOp(
            key="tile_fill",
            operands=("dst",),
            params=("value",),
            doc="Sets every element of a region.",
        ),
        TileOp(
            key="tile_gemm",
            operands=("c", "a", "b"),
            params=("transpose_a", "transpose_b", "init"),
            doc="c[m, n] = (init ? 0 : c) + a[m, k] b[k, n]; transposed: stored [k, m] or [n, k].",
        ),
        TileOp(
            key="tile_reduce",
            operands=("dst", "src"),
            params=("kind", "axis", "clear"),
            doc="Reduces one axis of src by sum, max or min; without clear the old dst takes part.",
        ),
    )
}


def key_of(node: object) -> str | None:
    """Return the key of an Ascend call, or of the statement evaluating one, else None."""
    if isinstance(node, tirx.Evaluate):
        node = node.value
    if (
        isinstance(node, tvm.ir.Call)
        and isinstance(node.op, Op)
        and node.op.name.startswith(PREFIX)
    ):
        return node.op.name.removeprefix(PREFIX)
    return None


@functools.cache
def _op(key: str) -> Op:
    return Op.get(PREFIX + key)


def _argument(key: str, value: object) -> object:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return tvm.ir.StringImm(value)
    if isinstance(value, bool):
        return tirx.IntImm("bool", value)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise IntegerTooLarge(f"T.ascend.{key}", "an argument", value, 64)
        if value >= 2**63:  # a word of bits
            value -= 2**64
        return tirx.IntImm("int32" if -(2**31) <= value < 2**31 else "int64", value)
    if isinstance(value, float):
        return tirx.FloatImm("float32", value)
    if isinstance(value, tvm.ir.Var) and tirx.is_buffer_var(value):
        shape = value.ty.shape
        if key in TILE_OPS:
            return tirx.BufferRegion(value, [tvm.ir.Range(0, extent) for extent in shape])
        return tirx.BufferLoad(value, [0] * len(shape))
    if not isinstance(value, tvm.ir.Expr):
        raise ArgumentKind(
            f"T.ascend.{key}",
            "an argument",
            value,
            "buffers, elements, numbers, texts, expressions",
        )
    return value


def call_expr(key: str, *args: object, span: tvm.ir.Span | None = None) -> tvm.ir.Call:
    """Build the call of one op; Python scalars, strings and whole buffers are converted."""
    return tvm.ir.Call(_op(key), [_argument(key, a) for a in args], ret_ty="void", span=span)


def call(key: str, *args: object, span: tvm.ir.Span | None = None) -> tirx.Evaluate:
    """Build the statement of one op, for passes."""
    return tirx.Evaluate(call_expr(key, *args, span=span), span)


class AscendNamespace:
    """``T.ascend``: every op as a function taking its operands, then its parameters."""


def _builder(key: str, names: tuple[str, ...], doc: str):
    def build(*args: object) -> tvm.ir.Call:
        if len(args) != len(names):
            raise TypeError(f"T.ascend.{key} takes {names}, got {len(args)} arguments")
        return call_expr(key, *args)

    build.__name__ = key
    build.__doc__ = f"{doc}\n\nArguments: {', '.join(names)}."
    return staticmethod(build)


def _register(key: str, names: tuple[str, ...], doc: str) -> None:
    register_op_attr(PREFIX + key, "TCallEffectKind", _OPAQUE)
    register_op_attr(PREFIX + key, "TScriptPrinterName", f"ascend.{key}", level=_PRINTER_LEVEL)
    setattr(AscendNamespace, key, _builder(key, names, doc))


for _row in TABLE.values():
    _names = (*(o.name for o in _row.operands), *(p.name for p in _row.params))
    _register(_row.key, _names, _row.doc)
for _tile in TILE_OPS.values():
    _register(_tile.key, (*_tile.operands, *_tile.params), _tile.doc)

ascend = register_script_namespace("ascend", AscendNamespace())

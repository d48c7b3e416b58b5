# SPDX-License-Identifier: Apache-2.0
"""Refuse kernels that no pass can take, before the first one runs."""

from __future__ import annotations

import math

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad
from tvm.s_tir import SBlock

from tvm_ascend import sym
from tvm_ascend.errors import (
    DynamicTile,
    EmptyShape,
    EndlessLoop,
    ExpressionTooDeep,
    GridDtype,
    GridTooLarge,
    IntegerExpected,
    NotAnInstruction,
    NoVectors,
    RawPointer,
    ScalarCodeError,
    ScalarParameter,
    UnknownScope,
    at,
)
from tvm_ascend.isa.dtypes import is_float, is_int
from tvm_ascend.isa.instr import Instr
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.scope import SPACE_OF_SCOPE, UNPLACED_SCOPES
from tvm_ascend.transform.access import constant

_INDEX_BITS = 32
# Passes recurse in Python, up to five frames a level, and Python allows a thousand in all.
_MAX_DEPTH = 128
_MAX_BLOCKS = 2 ** (_INDEX_BITS - 1) - 1
_ARITHMETIC = (
    *(tirx.Add, tirx.Sub, tirx.Mul, tirx.Div, tirx.Mod, tirx.FloorDiv, tirx.FloorMod),
    *(tirx.Min, tirx.Max),
)
_TEXTS = ("text", "typename")
_JUMPS = ("break_loop", "continue_loop")


def check_kernel(func: tirx.PrimFunc) -> None:
    """Check shapes, memories, the grid and the kinds of statements."""
    for param in func.params:
        if tirx.is_buffer_var(param):
            _check_shape(param, f"parameter `{param.name}` of `{name_of(func)}`", func.span)
        elif isinstance(param.ty, tvm.ir.PointerType):
            raise RawPointer(param.name, name_of(func), func.span)
        elif str(param.ty.dtype) == "bfloat16":  # no host passes one
            raise ScalarParameter(param.name, name_of(func), "bfloat16", func.span)
    tvm_ffi.structural_walk(func.body, [(tirx.BufferStore, _check_depth)])
    tvm_ffi.structural_walk(
        func.body,
        [
            (tirx.AllocBuffer, lambda node: _check_tile(node.buffer, node.span)),
            (SBlock, _check_block),
            (tirx.Return, lambda node: _refuse("return", node.span)),
            (tirx.Evaluate, _check_evaluate),
            (tirx.While, _check_while),
        ],
    )
    _check_expressions(func.body)
    _check_grid(func.body)


def _check_depth(store: tirx.BufferStore) -> None:
    layer, depth = [store.value], 0
    while layer:
        depth += 1
        if depth > _MAX_DEPTH:
            raise ExpressionTooDeep(_MAX_DEPTH, store.span)
        layer = [part for expr in layer for part in _parts(expr)]


def _parts(expr: tvm.ir.Expr) -> list[tvm.ir.Expr]:
    if isinstance(expr, sym.OPERATIONS):
        return [expr.a, expr.b]
    if isinstance(expr, tirx.Cast):
        return [expr.value]
    if isinstance(expr, tirx.Select):
        return [expr.condition, expr.true_value, expr.false_value]
    return list(expr.args) if isinstance(expr, tvm.ir.Call) else []


def name_of(func: tirx.PrimFunc) -> str:
    """What a user calls a function."""
    return str(func.attrs["global_symbol"]) if "global_symbol" in (func.attrs or {}) else "main"


def _check_shape(buffer: tvm.ir.Var, what: str, span: tvm.ir.Span | None) -> None:
    sizes = [constant(n) for n in buffer.ty.shape]
    if any(n is not None and n < 1 for n in sizes):
        raise EmptyShape(what, tuple(buffer.ty.shape), span)


def _check_tile(buffer: tvm.ir.Var, span: tvm.ir.Span | None) -> None:
    _check_shape(buffer, f"`{buffer.name}`", span)
    if any(constant(n) is None for n in buffer.ty.shape):
        raise DynamicTile(buffer.name, tuple(buffer.ty.shape), span)
    scope = buffer.scope()
    if scope not in SPACE_OF_SCOPE and scope not in UNPLACED_SCOPES:
        allowed = [s for s in (*SPACE_OF_SCOPE, *UNPLACED_SCOPES) if s]
        raise UnknownScope(buffer.name, scope, allowed, span)


def _check_block(block: SBlock) -> None:
    for buffer in block.alloc_buffers:
        _check_tile(buffer, block.span)


def _refuse(what: str, span: tvm.ir.Span | None) -> None:
    raise NotAnInstruction(what, span)


def _check_evaluate(stmt: tirx.Evaluate) -> None:
    value = stmt.value
    if not isinstance(value, tvm.ir.Call):
        return
    if (key := key_of(value)) is not None:
        if key in TABLE:
            _check_parameters(TABLE[key], value, stmt.span)
        return
    name = getattr(value.op, "name", str(value.op)).rpartition(".")[2]
    if name not in _JUMPS:
        _refuse(str(value), stmt.span)


def _check_while(loop: tirx.While) -> None:
    changing: list = []
    rules = [((TensorLoad, tvm.ir.Call), changing.append)]
    tvm_ffi.structural_walk(loop.condition, rules)
    if not changing and constant(loop.condition) != 0 and not _leaves(loop.body):
        raise EndlessLoop(loop.condition, loop.span)


def _leaves(stmt: tirx.Stmt) -> bool:
    """Whether a ``break`` in the body of a loop leaves that loop, not one inside of it."""
    if isinstance(stmt, (tirx.For, tirx.While)):
        return False
    if isinstance(stmt, tirx.SeqStmt):
        return any(_leaves(part) for part in stmt.seq)
    if isinstance(stmt, tirx.IfThenElse):
        return any(_leaves(s) for s in (stmt.then_case, stmt.else_case) if s is not None)
    if isinstance(stmt, tirx.AttrStmt):
        return _leaves(stmt.body)
    call = stmt.value if isinstance(stmt, tirx.Evaluate) else None
    return isinstance(call, tvm.ir.Call) and getattr(call.op, "name", "").endswith("break_loop")


def _check_parameters(row: Instr, call: tvm.ir.Call, span: tvm.ir.Span | None) -> None:
    """Numbers of an instruction are integers, except those that are elements."""
    for param, value in zip(row.params, call.args[len(row.operands) :], strict=True):
        number = not param.values and param.type not in (*row.types, *_TEXTS)
        if number and not _is_integer(value):
            raise IntegerExpected(f"T.ascend.{row.key}", f"`{param.name}`", value, span)


def _is_integer(value: tvm.ir.Expr) -> bool:
    typed = isinstance(value.ty, tvm.ir.PrimType)
    return typed and (is_int(str(value.ty.dtype)) or str(value.ty.dtype) == "bool")


def _check_expressions(body: tirx.Stmt) -> None:
    """Refuse arithmetic of bools, indices that are no integers, and vectors."""
    spans = [body.span]

    def statement(stmt: tirx.Stmt) -> None:
        spans.append(stmt.span)

    def store(stmt: tirx.BufferStore) -> None:
        spans.append(stmt.span)
        for index in stmt.indices:
            _check_index(stmt.buffer, index, stmt.span)

    def load(expr: TensorLoad) -> None:
        for index in expr.indices:
            _check_index(expr.source, index, expr.span or spans[-1])

    def vector(expr: tvm.ir.Expr) -> None:
        raise NoVectors(str(expr), spans[-1])

    def arithmetic(expr: tvm.ir.Expr) -> None:
        if str(expr.ty.dtype) == "bool":
            what = f"{type(expr).__name__.lower()} of bool"
            raise ScalarCodeError(what, str(expr), spans[-1])

    rules = [
        (_ARITHMETIC, arithmetic),
        ((tirx.Ramp, tirx.Broadcast, tirx.Shuffle), vector),
        (tirx.BufferStore, store),
        (TensorLoad, load),
        (tirx.Stmt, statement),
    ]
    tvm_ffi.structural_walk(body, rules, order="pre")


def _check_index(buffer: tvm.ir.Var, index: tvm.ir.Expr, span: tvm.ir.Span | None) -> None:
    if is_float(str(index.ty.dtype)):
        raise IntegerExpected(f"`{buffer.name}`", "an index", index, span)


def _check_grid(body: tirx.Stmt) -> None:
    extents, spans = [], []

    def dimension(extent: tvm.ir.Expr, span: tvm.ir.Span | None) -> None:
        size = constant(extent)
        if size is None and extent.ty.dtype.bits > _INDEX_BITS:
            raise GridDtype(extent, str(extent.ty.dtype), span)
        if size is not None:
            extents.append(size)
            spans.append(span)

    def attribute(stmt: tirx.AttrStmt) -> None:
        if stmt.attr_key == "thread_extent":
            dimension(stmt.value, stmt.span)

    def loop(stmt: tirx.For) -> None:
        if stmt.thread_binding is not None:
            dimension(stmt.extent, stmt.span)

    rules = [(tirx.AttrStmt, attribute), (tirx.For, loop)]
    tvm_ffi.structural_walk(body, rules, order="pre")
    if math.prod(extents) > _MAX_BLOCKS:
        raise GridTooLarge(tuple(extents), _MAX_BLOCKS, next(filter(at, spans), None))

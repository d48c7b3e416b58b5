# SPDX-License-Identifier: Apache-2.0
"""Which bytes one instruction TIR statement reads and writes, and on which pipe."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend.isa import formula
from tvm_ascend.isa.instr import ALIGNMENT, Instr, Operand, Pipe, Space
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.scope import SPACE_OF_SCOPE


@dataclass(frozen=True)
class Access:
    """``count`` rows of ``length`` elements, ``pitch`` elements apart, from ``indices`` on.

    Every number is a Python int where it is constant, else a TIR expression. ``pitch`` is 0 when
    there is one row. ``align`` is the alignment in bytes that the instruction asks for.
    """

    buffer: tirx.Var
    space: Space
    pipe: Pipe
    rw: str
    indices: tuple[Any, ...]
    count: Any = 1
    pitch: Any = 0
    length: Any = 1
    align: int = 1

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return formula.ITEMSIZE[str(self.buffer.dtype)]

    @property
    def offset(self) -> Any:
        """Element offset of the first element, row-major or by the buffer's own strides."""
        pairs = zip(self.indices, strides_of(self.buffer), strict=True)
        return sum((index * stride for index, stride in pairs), 0)

    @property
    def span(self) -> Any:
        """Elements from the first to the end of the last, an upper bound."""
        return (self.count - 1) * self.pitch + self.length

    @property
    def reads(self) -> bool:
        """Whether the old content matters."""
        return "r" in self.rw

    @property
    def writes(self) -> bool:
        """Whether the content changes."""
        return "w" in self.rw


def placed_in(buffer: tirx.Var) -> Space:
    """The memory of a placed buffer."""
    return SPACE_OF_SCOPE[buffer.scope()]


def number(value: Any) -> Any:
    """A Python int for a constant expression, else the expression."""
    return int(value.value) if isinstance(value, tirx.IntImm) else value


def strides_of(buffer: tirx.Var) -> list[Any]:
    """Element stride of every dimension."""
    if len(buffer.strides):
        return [number(s) for s in buffer.strides]
    strides: list[Any] = [1]
    for extent in reversed(list(buffer.shape)[1:]):
        strides.insert(0, strides[0] * number(extent))
    return strides[: len(buffer.shape)]


def _left(buffer: tirx.Var, indices: tuple[Any, ...]) -> Any:
    """Elements from an index to the end of a buffer."""
    strides = strides_of(buffer)
    offset = sum((index * stride for index, stride in zip(indices, strides, strict=True)), 0)
    return number(buffer.shape[0]) * strides[0] - offset


def params_of(row: Instr, call: tvm.ir.Call) -> dict[str, Any]:
    """The parameters of a call by name, constants as Python ints."""
    values = call.args[len(row.operands) :]
    return {p.name: number(v) for p, v in zip(row.params, values, strict=True)}


def operand_accesses(row: Instr, call: tvm.ir.Call) -> list[Access]:
    """The accesses of an instruction's tensor operands, in the order of the row."""
    params = params_of(row, call)
    accesses = []
    for operand, load in zip(row.operands, call.args, strict=False):
        buffer = load.source
        space, indices = placed_in(buffer), tuple(number(i) for i in load.indices)
        names = {**_CALLS, **formula.sizes(str(buffer.dtype)), **params}
        if "extent" in operand.span:
            names["extent"] = _left(buffer, indices)
        align = formula.evaluate(operand.align or ALIGNMENT[space], names)
        shape = _rows(operand, names)
        accesses.append(Access(buffer, space, row.pipe, operand.rw, indices, *shape, align))
    return accesses


def scalar_reads(*nodes: object) -> list[Access]:
    """The element reads (pipe S) inside expressions."""
    found: list[Access] = []

    def load(node: TensorLoad) -> None:
        indices = tuple(number(i) for i in node.indices)
        found.append(Access(node.source, placed_in(node.source), Pipe.S, "r", indices))

    for node in nodes:
        tvm_ffi.structural_walk(node, (TensorLoad, load))
    return found


def instruction(stmt: tirx.Stmt) -> Instr | None:
    """The row of an instruction statement, or None."""
    return TABLE.get(key_of(stmt) or "")


def accesses_of(stmt: tirx.Stmt) -> list[Access]:
    """Everything one statement touches; of a loop or branch, only its own header expressions."""
    if isinstance(stmt, tirx.BufferStore):
        indices = tuple(number(i) for i in stmt.indices)
        reads = scalar_reads(stmt.value, *stmt.indices)
        return [*reads, Access(stmt.buffer, placed_in(stmt.buffer), Pipe.S, "w", indices)]
    if isinstance(stmt, tirx.For):
        return scalar_reads(stmt.min, stmt.extent)
    if isinstance(stmt, (tirx.IfThenElse, tirx.While)):
        return scalar_reads(stmt.condition)
    if isinstance(stmt, tirx.Bind):
        return scalar_reads(stmt.value)
    if isinstance(stmt, tirx.Evaluate):
        row = instruction(stmt)
        if row is None:
            return scalar_reads(stmt.value)
        count = len(row.operands)
        inner = [i for operand in stmt.value.args[:count] for i in operand.indices]
        reads = scalar_reads(*inner, *stmt.value.args[count:])
        return [*reads, *operand_accesses(row, stmt.value)]
    return []


def _ceildiv(a: Any, b: Any) -> Any:
    return (a + (b - 1)) // b


def _either(choose: Any, build: Any) -> Any:
    def call(a: Any, b: Any) -> Any:
        both = isinstance(a, int) and isinstance(b, int)
        return choose(a, b) if both else build(a, b)

    return call


_CALLS: dict[str, Any] = {
    "ceildiv": _ceildiv,
    "min": _either(min, tirx.min),
    "max": _either(max, tirx.max),
}


def _rows(operand: Operand, names: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Evaluate an operand's span as rows; lanes that a mask switches off are not part of a row."""
    levels, rest = _row_texts(operand.span)
    length = formula.evaluate(rest, names)
    rows = [tuple(formula.evaluate(text, names) for text in level) for level in levels]
    rows = [(count, pitch) for count, pitch in rows if not (isinstance(count, int) and count == 1)]
    stride = names.get(f"{operand.name}_blk")
    if levels and "mask" in names and isinstance(stride, int):
        mask, block = names["mask"], names["block"]
        full = (mask - 1) // block * block
        length = mask + full * (stride - 1) if stride else names["min"](mask, block)
    if not rows:
        return 1, 0, length
    # One level of rows is kept exact; those inside it are covered as a whole.
    length = length + sum((count - 1) * pitch for count, pitch in rows[1:])
    return *rows[0], length


@cache
def _row_texts(text: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """Split ``(sum of (count - 1) * pitch, + length) * unit`` into (count, pitch) and length."""
    tree, unit = formula.parse(text), ""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, (ast.Mult, ast.FloorDiv)):
        sign = "*" if isinstance(tree.op, ast.Mult) else "//"
        if isinstance(tree.left, ast.BinOp) and isinstance(tree.left.op, ast.Add):
            tree, unit = tree.left, f" {sign} ({ast.unparse(tree.right)})"
    levels, lengths = [], []
    for term in _flat(tree, ast.Add):
        factors = _flat(term, ast.Mult)
        less_one = next((f for f in factors if _is_less_one(f)), None)
        if less_one is None:
            lengths.append(ast.unparse(term))
            continue
        pitch = " * ".join(f"({ast.unparse(f)})" for f in factors if f is not less_one)
        levels.append((ast.unparse(less_one.left), f"({pitch or 1}){unit}"))  # type: ignore[attr-defined]
    return tuple(levels), f"({' + '.join(lengths) or 0}){unit}"


def _flat(tree: ast.expr, op: type) -> list[ast.expr]:
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, op):
        return [*_flat(tree.left, op), *_flat(tree.right, op)]
    return [tree]


def _is_less_one(tree: ast.expr) -> bool:
    if not (isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Sub)):
        return False
    return isinstance(tree.right, ast.Constant) and tree.right.value == 1

# SPDX-License-Identifier: Apache-2.0
"""The expression subset of the rows: parsing it, evaluating it, and the closed list of its calls.

A text holds names, integers, ``+ - * / //``, unary minus and calls of ``CALLS``. Spans and cycles
are evaluated here on Python numbers or, with other callables, on TIR expressions; ``gen.py`` turns
the same texts into C++.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from tvm_ascend.hw.geometry import BLOCK_BYTES, FRACTAL_BYTES, REPEAT_BYTES
from tvm_ascend.isa.instr import Instr, Operand, Space
from tvm_ascend.isa.registers import REGISTERS

Constants = Mapping[str, float]
Timings = Mapping[str, Mapping[str, float]]

ITEMSIZE = {
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "bool": 1,
}

OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}

HELPER_CONSTANTS = {
    "gm_read": ("GM_BURST_CYCLES", "GM_ROW_CYCLES", "GM_LINE_BYTES", "GM_READ_BYTES_PER_CYCLE"),
    "gm_write": ("GM_BURST_CYCLES", "GM_ROW_CYCLES", "GM_LINE_BYTES", "GM_WRITE_BYTES_PER_CYCLE"),
    "gm_read_nd2nz": (
        "GM_BURST_CYCLES",
        "GM_ROW_CYCLES",
        "GM_LINE_BYTES",
        "GM_READ_BYTES_PER_CYCLE",
    ),
    "fixpipe_write": ("GM_BURST_CYCLES", "GM_ROW_CYCLES", "GM_WRITE_BYTES_PER_CYCLE"),
    "l0_bytes_per_cycle": ("L0A_BYTES_PER_CYCLE", "L0B_BYTES_PER_CYCLE"),
}
CORE_CONSTANTS = (
    "QUEUE_DEPTH",
    "SCALAR_ISSUE",
    "COUNT_FORM_ISSUE",
    "CORE_START_CYCLES",
    "CROSS_CORE_LATENCY",
    "LAUNCH_CYCLES",
    "L2_BYTES",
    "L2_BYTES_PER_CYCLE",
    "HBM_BYTES_PER_CYCLE",
    "GM_MISS_BYTES_PER_CYCLE",
    "GM_PACKET_CYCLES",
    "L2_DIRTY_SHARE",
    "L2_WARM_BYTES",
    "HBM_PACKET_BYTES",
    "MMAD_BARRIER_FRACTALS",
)
CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*[A-Z0-9]")


@cache
def parse(text: str) -> ast.expr:
    """The tree of a text, checked to stay inside the subset."""
    tree = ast.parse(text, mode="eval").body
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            assert type(node.op) in OPERATORS, f"operator in {text!r}"
        elif isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name), f"call in {text!r}"
            assert not node.keywords, f"keyword in {text!r}"
        elif isinstance(node, ast.Constant):
            assert isinstance(node.value, int), f"literal in {text!r}"
        else:
            allowed = (ast.Name, ast.Load, ast.UnaryOp, ast.USub, ast.operator)
            assert isinstance(node, allowed), f"{type(node).__name__} in {text!r}"
    return tree


def names(text: str) -> set[str]:
    """Every name of a text, called ones included."""
    return {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)}


def constants(row: Instr) -> tuple[str, ...]:
    """The chip constants that the timing of a row reads, those of its helpers included."""
    found: set[str] = set()
    for name in names(row.cycles or "0") | names(row.latency) | names(row.repeats or "0"):
        found.update(HELPER_CONSTANTS.get(name, ()))
        if CONSTANT.fullmatch(name):
            found.add(name)
    return tuple(sorted(found))


def evaluate(text: str, namespace: Mapping[str, Any]) -> Any:
    """Value of a text; ``namespace`` gives names and callables, for numbers or TIR alike."""
    return _value(parse(text), namespace)


def _value(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return namespace[name]
        case ast.UnaryOp(operand=inner):
            return -_value(inner, namespace)
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](_value(left, namespace), _value(right, namespace))
        case ast.Call(func=ast.Name(id=name), args=args):
            return namespace[name](*(_value(arg, namespace) for arg in args))
    raise AssertionError(ast.dump(node))


def ceildiv(a: Any, b: Any) -> Any:
    """The quotient rounded up; exact on integers."""
    return -(-a // b)


def helpers(k: Constants) -> dict[str, Callable[..., Any]]:
    """The callables of a cycle text for a chip's constants; src/sim/formula.h is the C++ half."""

    def strayed(pitch: float) -> float:
        # Rows that start anywhere in a line move the rest of their first and last line too.
        line = int(k["GM_LINE_BYTES"])
        return line - math.gcd(int(pitch), line)

    def copy(rate: str) -> Callable[[float, float, float], float]:
        def cycles(rows: float, row_bytes: float, gap: float) -> float:
            if not gap:
                rows, row_bytes = 1, rows * row_bytes
            elif rows > 1:
                row_bytes += strayed(row_bytes + gap)
            return by_rows(rate, rows, row_bytes)

        return cycles

    def by_rows(rate: str, rows: float, row_bytes: float) -> float:
        return max(k["GM_BURST_CYCLES"], rows * (row_bytes / k[rate] + k["GM_ROW_CYCLES"]))

    return {
        "ceildiv": ceildiv,
        "max": max,
        "min": min,
        "gm_read": copy("GM_READ_BYTES_PER_CYCLE"),
        "gm_write": copy("GM_WRITE_BYTES_PER_CYCLE"),
        "gm_read_nd2nz": lambda rows, row_bytes, pitch: by_rows(
            "GM_READ_BYTES_PER_CYCLE", rows, row_bytes + (strayed(pitch) if rows > 1 else 0)
        ),
        "fixpipe_write": lambda rows, row_bytes: by_rows(
            "GM_WRITE_BYTES_PER_CYCLE", rows, row_bytes
        ),
        "l0_bytes_per_cycle": lambda space: k[
            "L0A_BYTES_PER_CYCLE" if space == Space.L0A else "L0B_BYTES_PER_CYCLE"
        ],
    }


def operand_dtype(row: Instr, operand: Operand, dtypes: Sequence[str]) -> str:
    """Dtype of an operand for one dtype tuple of its row."""
    by_type = dict(zip(row.types, dtypes, strict=True))
    return by_type.get(operand.dtype, operand.dtype)


def sizes(dtype: str, suffix: str = "") -> dict[str, int]:
    """The names ``itemsize``, ``block`` and ``fractal`` of a dtype."""
    itemsize = ITEMSIZE[dtype]
    return {
        f"itemsize{suffix}": itemsize,
        f"block{suffix}": BLOCK_BYTES // itemsize,
        f"fractal{suffix}": FRACTAL_BYTES // itemsize,
    }


def span(
    row: Instr,
    operand: Operand,
    dtypes: Sequence[str],
    params: Mapping[str, Any],
    calls: Mapping[str, Callable[..., Any]] | None = None,
) -> Any:
    """Elements an operand reaches from its address, an upper bound."""
    calls = calls or {"ceildiv": ceildiv, "max": max, "min": min}
    return evaluate(operand.span, {**calls, **sizes(operand_dtype(row, operand, dtypes)), **params})


def cycles(
    row: Instr,
    dtypes: Sequence[str],
    spaces: Sequence[Space],
    params: Mapping[str, Any],
    k: Constants,
    timings: Timings,
    registers: Mapping[str, int] | None = None,
) -> int:
    """Cycles that one instruction occupies its pipe, without the head of a vector instruction."""
    held = {**REGISTERS, **(registers or {})}
    namespace: dict[str, Any] = {**held, **k, **helpers(k), **params}
    for operand, space in zip(row.operands, spaces, strict=True):
        dtype = operand_dtype(row, operand, dtypes)
        namespace |= {operand.name: space, **sizes(dtype, f"_{operand.name}")}
    if row.operands:
        namespace |= sizes(operand_dtype(row, row.operands[0], dtypes))
    if not row.timing:
        return _whole(evaluate(row.cycles, namespace))
    widest = max(ITEMSIZE[operand_dtype(row, operand, dtypes)] for operand in row.operands)
    if row.repeats:
        repeats = evaluate(row.repeats, namespace)
    elif held["mask_counter"] and ("mask_low" in params or row.form == "preset"):
        count = params.get("mask_low", held["vector_mask_low"])
        repeats = ceildiv(count * widest, REPEAT_BYTES)
    elif "count" in params:
        repeats = ceildiv(params["count"] * widest, REPEAT_BYTES)
    else:
        repeats = params["repeat"]
    return _whole(repeats * timings[row.timing][f"b{8 * min(4, widest)}"])


def _whole(cycles: float) -> int:
    return math.ceil(cycles)

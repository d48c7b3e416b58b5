# SPDX-License-Identifier: Apache-2.0
"""Final functions that hold each instruction row once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tvm import tirx
from tvm.ir import StringImm

from tvm_ascend.isa.instr import Instr, Space
from tvm_ascend.isa.scalar import ELEMENT_READ, ELEMENT_WRITE
from tvm_ascend.language.ops import call
from tvm_ascend.layout.scope import SPACE_OF_SCOPE

SCOPES = {space: scope for scope, space in SPACE_OF_SCOPE.items() if scope}


def _arguments(row: Instr, dtypes: dict[str, str], literal: bool, number: tirx.Var) -> list:
    """One value for each parameter: a legal literal, or an expression of the kernel's scalar."""
    values = []
    for param in row.params:
        if param.values:
            values.append(StringImm(param.values[-1]))
        elif param.type in dtypes:
            dtype = dtypes[param.type]
            value = tirx.const(1, dtype)
            values.append(value if literal else tirx.Cast(dtype, number))
        elif literal:
            values.append(tirx.IntImm("bool" if param.type == "bool" else "int32", 1))
        else:
            values.append(number > 0 if param.type == "bool" else number + 1)
    return values


def _function(name: str, row: Instr, dtype_tuple: tuple[str, ...], literal: bool = True):
    dtypes = dict(zip(row.types, dtype_tuple, strict=True))
    number = tirx.Var("number", "int32")
    params, allocations, operands = [number], [], []
    for operand in row.operands:
        space = operand.spaces[0]
        buffer = tirx.decl_buffer(
            (4096,), dtypes.get(operand.dtype, operand.dtype), operand.name, scope=SCOPES[space]
        )
        if space is Space.GM:
            params.append(buffer)
        else:
            address = 16384 * len(allocations)
            allocations.append(tirx.AllocBuffer(buffer, {"ascend.address": address}))
        operands.append(tirx.BufferLoad(buffer, [0 if literal else number * 16]))
    values = _arguments(row, dtypes, literal, number)
    statement = _statement(row, operands, values)
    body = tirx.SeqStmt([*allocations, statement]) if allocations else statement
    return tirx.PrimFunc(params, body).with_attr(
        {
            "global_symbol": name,
            "ascend.core_type": row.core[-1].value,
            "ascend.grid": 2,
        }
    )


def _statement(row: Instr, operands: list, values: list) -> tirx.Stmt:
    if row is ELEMENT_READ:
        (load,) = operands
        return tirx.BufferStore(load.source, load, [1])
    if row is ELEMENT_WRITE:
        (load,), (value,) = operands, values
        return tirx.BufferStore(load.source, value, load.indices)
    return call(row.key, *operands, *values)


@pytest.fixture
def row_function() -> Callable[..., tirx.PrimFunc]:
    """``row_function(name, row, dtypes, literal)``: a final function holding one instruction."""
    return _function

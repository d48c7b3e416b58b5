# SPDX-License-Identifier: Apache-2.0
"""Rows of the scalar unit: element loads and stores that TIR writes as buffer loads and stores."""

from __future__ import annotations

from tvm_ascend.isa.instr import CoreType, Instr, Operand, Param, Pipe, Space

BOTH = (CoreType.AIC, CoreType.AIV)
ANY = tuple(
    (t,)
    for t in (
        "float16",
        "bfloat16",
        "float32",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "bool",
    )
)

ROWS: tuple[Instr, ...] = (
    Instr(
        key="get_value",
        name="GetValue",
        pipe=Pipe.S,
        core=BOTH,
        operands=(
            Operand(name="src", spaces=(Space.GM, Space.UB), rw="r", span="1", align="itemsize"),
        ),
        params=(),
        dtypes=ANY,
        body="get_value",
        emit="{src.tensor}.GetValue({src.offset})",
        cycles="SCALAR_LOAD",
        doc="Reads one element on the scalar unit.",
        source="ASCEND 4.2, 6.7",
    ),
    Instr(
        key="set_value",
        name="SetValue",
        pipe=Pipe.S,
        core=BOTH,
        operands=(
            Operand(name="dst", spaces=(Space.GM, Space.UB), rw="w", span="1", align="itemsize"),
        ),
        params=(Param(name="value", type="T"),),
        dtypes=ANY,
        body="set_value",
        emit="{dst.tensor}.SetValue({dst.offset}, {value});",
        cycles="SCALAR_STORE",
        doc="Writes one element on the scalar unit.",
        source="ASCEND 4.2, 6.7",
    ),
    Instr(
        key="trap",
        name="Trap",
        pipe=Pipe.S,
        core=BOTH,
        operands=(),
        params=(),
        types=(),
        dtypes=((),),
        body="trap",
        emit="AscendC::Trap();",
        cycles="SCALAR_ISSUE",
        doc="Stops the core with an error; emitted code does so on an integer division by zero.",
        source="ASCEND 3.12",
    ),
)

ELEMENT_READ, ELEMENT_WRITE, TRAP = ROWS
"""The rows of buffer loads, buffer stores and impossible divisions in scalar code."""

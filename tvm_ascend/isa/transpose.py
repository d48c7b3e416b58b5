# SPDX-License-Identifier: Apache-2.0
"""Rows that transpose tiles in UB."""

from __future__ import annotations

from tvm_ascend.isa.forms import AIV, UB
from tvm_ascend.isa.instr import Instr, Operand, Pipe

ROWS: tuple[Instr, ...] = (
    Instr(
        key="transpose",
        name="Transpose",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span="256"),
            Operand(name="src", spaces=UB, rw="r", span="256"),
        ),
        params=(),
        dtypes=(("float16",), ("int16",), ("uint16",)),
        body="transpose",
        emit="AscendC::Transpose({dst}, {src});",
        timing="vtranspose",
        repeats="1",
        doc="Transposes one tile of 16 by 16 elements.",
        source="ASCEND 3.7",
    ),
)

# SPDX-License-Identifier: Apache-2.0
"""Rows that print: text and one value, or the elements of a tensor, into the report of a launch."""

from __future__ import annotations

from tvm_ascend.isa.data_copy import ANY
from tvm_ascend.isa.instr import CoreType, Instr, Operand, Param, Pipe, Space

BOTH = (CoreType.AIC, CoreType.AIV)
ON_CHIP = (Space.UB, Space.L1, Space.L0C)
FORMAT = Param(name="format", type="text")


def _dump(key: str, spaces: tuple[Space, ...], where: str) -> Instr:
    return Instr(
        key=key,
        name="DumpTensor",
        pipe=Pipe.S,
        core=BOTH,
        operands=(Operand(name="src", spaces=spaces, rw="r", span="dump_size"),),
        params=(
            Param(name="desc", type="uint32_t", low=0, high=2**32 - 1, declared="uint32_t"),
            Param(name="dump_size", type="uint32_t", low=0, high=2**32 - 1, declared="uint32_t"),
        ),
        dtypes=ANY,
        body="dump_tensor",
        emit="AscendC::DumpTensor({src}, {desc}, {dump_size});",
        cycles="PRINT_CYCLES + dump_size * SCALAR_LOAD",
        doc=(
            f"Prints dump_size elements {where} with the number desc, after all pipes have "
            "finished; undefined elements print like others."
        ),
        source="ASCEND 3.14",
    )


ROWS: tuple[Instr, ...] = (
    Instr(
        key="printf",
        name="printf",
        pipe=Pipe.S,
        core=BOTH,
        operands=(),
        params=(FORMAT,),
        types=(),
        dtypes=((),),
        body="printf",
        emit="AscendC::printf({format});",
        cycles="PRINT_CYCLES",
        doc="Prints a text.",
        source="ASCEND 3.14",
    ),
    Instr(
        key="printf_value",
        name="printf",
        pipe=Pipe.S,
        core=BOTH,
        operands=(),
        params=(FORMAT, Param(name="value", type="T", declared="T")),
        dtypes=(("float32",), ("int32",), ("uint32",), ("int64",), ("uint64",)),
        body="printf",
        emit="AscendC::printf({format}, {value});",
        cycles="PRINT_CYCLES",
        doc="Prints a text with one value in the place of its conversion.",
        source="ASCEND 3.14",
    ),
    _dump("dump_tensor", ON_CHIP, "of UB, L1 or L0C"),
    _dump("dump_tensor_gm", (Space.GM,), "of GM"),
)

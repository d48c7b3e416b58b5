# SPDX-License-Identifier: Apache-2.0
"""Rows that sort scores with their indices; a record is 8 bytes."""

from __future__ import annotations

from tvm_ascend.isa.forms import AIV, FLOATS, UB, block
from tvm_ascend.isa.instr import Instr, Operand, Param, Pipe

LISTS = ("src1", "src2", "src3", "src4")
RECORD = "8 // itemsize"
_ALL = "(length1 + length2 + min(1, valid_bit // 4) * length3 + min(1, valid_bit // 8) * length4)"

ROWS: tuple[Instr, ...] = (
    Instr(
        key="sort32",
        name="Sort32",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span=f"repeat * 32 * {RECORD}", align="256"),
            Operand(name="score", spaces=UB, rw="r", span="repeat * 32", align="32 * itemsize"),
            Operand(
                name="index", spaces=UB, rw="r", span="repeat * 32", dtype="uint32", align="128"
            ),
        ),
        params=(Param(name="repeat", type="int32_t", low=0, high=255),),
        dtypes=FLOATS,
        body="sort32",
        emit="AscendC::Sort32({dst}, {score}, {index}, {repeat});",
        timing="vbitsort",
        doc=(
            "Sorts each 32 scores from high to low into records of score and index; equal scores "
            "keep their order. A half score is followed by two bytes of 0. NaN sorts above inf "
            "[guess]."
        ),
        source="ASCEND 3.6",
    ),
    Instr(
        key="mrg_sort",
        name="MrgSort",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span=f"repeat * {_ALL} * {RECORD}"),
            *(
                Operand(
                    name=name,
                    spaces=UB,
                    rw="r",
                    span=f"((repeat - 1) * 4 + 1) * length{i} * {RECORD}",
                    align=f"{RECORD} * itemsize",
                )
                for i, name in enumerate(LISTS, 1)
            ),
        ),
        params=(
            *(Param(name=f"length{i}", type="uint16_t", low=0, high=4095) for i in range(1, 5)),
            Param(name="suspend", type="bool", low=0, high=1),
            Param(name="valid_bit", type="uint16_t", low=3, high=15),
            Param(name="repeat", type="uint16_t", low=0, high=255),
        ),
        dtypes=FLOATS,
        body="mrg_sort",
        emit=block(
            "const uint16_t lengths[4] = {{{length1}, {length2}, {length3}, {length4}}};",
            "AscendC::MrgSort<{T}>({dst}, "
            "AscendC::MrgSortSrcList<{T}>({src1}, {src2}, {src3}, {src4}), "
            "AscendC::MrgSort4Info(lengths, {suspend}, {valid_bit}, {repeat}));",
        ),
        timing="vmrgsort4",
        repeats=f"ceildiv({_ALL}, 32) * repeat",
        doc=(
            "Merges two to four lists of records sorted from high to low; equal scores come in the "
            "order of the lists. `valid_bit` 3, 7 or 15 says how many lists there are. With "
            "`suspend` it ends as soon as one list is used up."
        ),
        source="ASCEND 3.6",
    ),
)

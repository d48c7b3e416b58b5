# SPDX-License-Identifier: Apache-2.0
"""Rows that transpose tiles in UB."""

from __future__ import annotations

from tvm_ascend.isa.forms import AIV, REPEAT, UB, block
from tvm_ascend.isa.instr import Instr, Operand, Param, Pipe

LISTED = 16


def _list(name: str) -> tuple[str, ...]:
    """A list of tensors, each one step after the last; what it starts from is evaluated once."""
    fill = f"{name}List[entry] = {name}First[entry * {name}Step];"
    return (
        f"const AscendC::LocalTensor<{{T}}> {name}First = {{{name}}};",
        f"const uint32_t {name}Step = {{{name}_step}};",
        f"AscendC::LocalTensor<{{T}}> {name}List[{LISTED}];",
        f"for (uint32_t entry = 0; entry < {LISTED}; ++entry) {fill}",
    )


def _step(name: str) -> Param:
    return Param(name=name, type="uint32_t", low=0, high=65535)


def _rep(name: str) -> Param:
    return Param(name=name, type="uint16_t", low=0, high=65535)


def _reach(name: str) -> str:
    return f"{LISTED - 1} * {name}_step + (repeat * {name}_rep + 1) * block"


ROWS: tuple[Instr, ...] = (
    Instr(
        key="trans_data_to_5hd",
        name="TransDataTo5HD",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span=_reach("dst")),
            Operand(name="src", spaces=UB, rw="r", span=_reach("src")),
        ),
        params=(
            _step("dst_step"),
            _step("src_step"),
            Param(name="dst_high", type="bool", low=0, high=1),
            Param(name="src_high", type="bool", low=0, high=1),
            REPEAT,
            _rep("dst_rep"),
            _rep("src_rep"),
        ),
        dtypes=(
            *(("int8",), ("uint8",), ("float16",), ("int16",), ("uint16",)),
            *(("float32",), ("int32",), ("uint32",)),
        ),
        body="trans_data_to_5hd",
        emit=block(
            *_list("dst"),
            *_list("src"),
            "AscendC::TransDataTo5HD<{T}>(dstList, srcList, AscendC::TransDataTo5HDParams("
            "{dst_high}, {src_high}, {repeat}, {dst_rep}, {src_rep}));",
        ),
        timing="vnchwconv",
        doc=(
            "Transposes 16 blocks of src, `src_step` elements apart, into 16 blocks of dst. Two "
            "bytes: 16 by 16. Four bytes: element j of block i becomes element i % 8 of block "
            "2 * j + i // 8. One byte: the 16 elements of the half of each block that `src_high` "
            "says go to the half that `dst_high` says. A single repeat starts at the repeat stride."
        ),
        source="ASCEND 3.7 and the vendor's page",
    ),
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

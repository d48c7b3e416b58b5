# SPDX-License-Identifier: Apache-2.0
"""Rows that fill, broadcast, copy and number lanes on the Vector pipe."""

from __future__ import annotations

from tvm_ascend.isa.forms import (
    AIV,
    BITS,
    BY_BITS,
    COUNT,
    MASK,
    REPEAT,
    REPEATED,
    UB,
    WORDS,
    Dtypes,
    repeat_span,
    stride,
    with_bits,
)
from tvm_ascend.isa.instr import Instr, Operand, Param, Pipe

SCALAR = Param(name="scalar", type="T")
MASKED = "typename T, bool isSetMask = true"
INDEXED: Dtypes = (("float16",), ("float32",), ("int16",), ("int32",))


def _duplicate(form: str) -> Instr:
    count = form == "count"
    masks = {"count": (), "repeat": (MASK,), "bits": BITS}[form]
    strides = (stride("dst_blk", "uint16_t"), stride("dst_rep"))
    start, rest = "AscendC::Duplicate({dst}, {scalar}, ", "{repeat}, {dst_blk}, {dst_rep});"
    return Instr(
        key="duplicate" if count else f"duplicate_{form}",
        name="Duplicate",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span="count" if count else repeat_span("dst")),
        ),
        params=(SCALAR, *masks, *((COUNT,) if count else (REPEAT, *strides))),
        dtypes=WORDS,
        lane="scalar",
        form=form,
        emit={
            "count": f"{start}{{count}});",
            "repeat": f"{start}{{mask}}, {rest}",
            "bits": with_bits(f"{start}mask, {rest}"),
        }[form],
        template="" if count else MASKED,
        timing="vdup",
        doc="Fills lanes with a scalar." + {"count": "", "repeat": REPEATED, "bits": BY_BITS}[form],
        source="ASCEND 3.4",
    )


def _copy(form: str) -> Instr:
    wide = {"dst_blk": "uint16_t", "src_blk": "uint16_t"}
    wide |= {"dst_rep": "uint16_t", "src_rep": "uint16_t"}
    start = "AscendC::Copy({dst}, {src}, "
    rest = "{repeat}, AscendC::CopyRepeatParams({dst_blk}, {src_blk}, {dst_rep}, {src_rep}));"
    mask = Param(name="mask", type="uint64_t", low=0, high=128)
    return Instr(
        key=f"copy_{form}",
        name="Copy",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span=repeat_span("dst")),
            Operand(name="src", spaces=UB, rw="r", span=repeat_span("src")),
        ),
        params=(
            *((mask,) if form == "repeat" else BITS),
            REPEAT,
            *(stride(name, kind) for name, kind in wide.items()),
        ),
        dtypes=WORDS,
        lane="src",
        form=form,
        emit=(
            f"{start}{{mask}}, {rest}"
            if form == "repeat"
            else with_bits(f"{start}mask, {rest}", const=True)
        ),
        template=MASKED,
        timing="vcopy",
        doc="Copies lanes." + (REPEATED if form == "repeat" else BY_BITS),
        source="ASCEND 3.4",
    )


ROWS: tuple[Instr, ...] = (
    *map(_duplicate, ("count", "repeat", "bits")),
    *map(_copy, ("repeat", "bits")),
    Instr(
        key="create_vec_index",
        name="CreateVecIndex",
        pipe=Pipe.V,
        core=AIV,
        operands=(Operand(name="dst", spaces=UB, rw="w", span="count"),),
        params=(
            Param(name="first", type="T"),
            Param(name="count", type="uint32_t", low=0, high=2**31 - 1, declared="uint32_t"),
        ),
        dtypes=INDEXED,
        body="create_vec_index",
        emit="AscendC::CreateVecIndex({dst}, {first}, {count});",
        timing="vindex",
        doc=(
            "Lanes count up from `first`: those of a block from its first, blocks and repeats by "
            "adding to the one before, each sum rounded. The library stores the first block on the "
            "scalar unit; here all is done by the Vector pipe."
        ),
        source="ASCEND 3.4",
    ),
    Instr(
        key="brcb",
        name="Brcb",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span=repeat_span("dst")),
            Operand(name="src", spaces=UB, rw="r", span="8 * repeat"),
        ),
        params=(REPEAT, stride("dst_blk", "uint16_t"), stride("dst_rep", "uint16_t")),
        dtypes=WORDS,
        body="brcb",
        emit=(
            "AscendC::Brcb({dst}, {src}, {repeat}, AscendC::BrcbRepeatParams({dst_blk}, "
            "{dst_rep}));"
        ),
        timing="vbrcb",
        doc=(
            "Each of 8 source elements per repeat fills one 32-byte block of dst; src is 32-byte "
            "aligned."
        ),
        source="ASCEND 3.4",
    ),
)

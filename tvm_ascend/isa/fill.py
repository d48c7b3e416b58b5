# SPDX-License-Identifier: Apache-2.0
"""Rows that fill, broadcast, copy and number lanes on the Vector pipe."""

from __future__ import annotations

from tvm_ascend.isa.forms import (
    AIV,
    COUNT,
    MASK_DOCS,
    MASK_TEXTS,
    MASKS,
    REPEAT,
    UB,
    WORDS,
    Dtypes,
    masked_span,
    repeat_span,
    stride,
    unset_mask,
    with_bits,
)
from tvm_ascend.isa.instr import Instr, Operand, Param, Pipe

SCALAR = Param(name="scalar", type="T")
MASKED = "typename T, bool isSetMask = true"
INDEXED: Dtypes = (("float16",), ("float32",), ("int16",), ("int32",))


def _masked(name: str, arguments: str, form: str, rest: str, const: bool = False) -> str:
    template = unset_mask(("T",)) if form == "preset" else ""
    text = f"AscendC::{name}{template}({arguments}, {MASK_TEXTS[form]}, {rest}"
    return with_bits(text, const) if form == "bits" else text


def _duplicate(form: str) -> Instr:
    count = form == "count"
    masks = () if count else MASKS[form]
    strides = (stride("dst_blk", "uint16_t"), stride("dst_rep"))
    rest = "{repeat}, {dst_blk}, {dst_rep});"
    return Instr(
        key="duplicate" if count else f"duplicate_{form}",
        name="Duplicate",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(
                name="dst", spaces=UB, rw="w", span="count" if count else masked_span("dst", form)
            ),
        ),
        params=(SCALAR, *masks, *((COUNT,) if count else (REPEAT, *strides))),
        dtypes=WORDS,
        lane="scalar",
        form=form,
        emit=(
            "AscendC::Duplicate({dst}, {scalar}, {count});"
            if count
            else _masked("Duplicate", "{dst}, {scalar}", form, rest)
        ),
        template="" if count else MASKED,
        timing="vdup",
        doc="Fills lanes with a scalar." + ("" if count else MASK_DOCS[form]),
        source="ASCEND 3.4",
    )


def _copy(form: str) -> Instr:
    wide = {"dst_blk": "uint16_t", "src_blk": "uint16_t"}
    wide |= {"dst_rep": "uint16_t", "src_rep": "uint16_t"}
    rest = "{repeat}, AscendC::CopyRepeatParams({dst_blk}, {src_blk}, {dst_rep}, {src_rep}));"
    return Instr(
        key=f"copy_{form}",
        name="Copy",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span=masked_span("dst", form)),
            Operand(name="src", spaces=UB, rw="r", span=masked_span("src", form)),
        ),
        params=(
            *MASKS[form],
            REPEAT,
            *(stride(name, kind) for name, kind in wide.items()),
        ),
        dtypes=WORDS,
        lane="src",
        form=form,
        emit=_masked("Copy", "{dst}, {src}", form, rest, const=True),
        template=MASKED,
        timing="vcopy",
        doc="Copies lanes." + MASK_DOCS[form],
        source="ASCEND 3.4",
    )


ROWS: tuple[Instr, ...] = (
    *map(_duplicate, ("count", *MASKS)),
    *map(_copy, MASKS),
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

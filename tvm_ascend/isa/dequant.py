# SPDX-License-Identifier: Apache-2.0
"""Rows that scale integers back with the scale of SetDeqScale, on the Vector pipe."""

from __future__ import annotations

from dataclasses import replace

from tvm_ascend.isa.forms import (
    AIV,
    COUNT_U32,
    MASK_DOCS,
    MASK_TEXTS,
    MASKS,
    PLACEHOLDER,
    REPEAT,
    UB,
    Dtypes,
    Family,
    by_form,
    masked_span,
    stride,
    with_bits,
)
from tvm_ascend.isa.instr import Instr, Operand, Param, Pipe, Renamed

BYTES: Dtypes = (("int8", "int16"), ("uint8", "int16"))
HALVES: Dtypes = (("float16", "int32"),)
HALF_BLOCK = Param(
    name="half_block", type="enum:bool", values=("false", "true"), spelling="{}", declared="bool"
)
MASK_ARGUMENTS = MASK_TEXTS | {"preset": f"static_cast<int32_t>({PLACEHOLDER})"}
MASK = Param(name="mask", type="int32_t", low=0, high=128)
CAST_MASKS = MASKS | by_form((MASK,), MASKS["bits"], ())
DOC = {
    BYTES: (
        "Converts int16 to bytes: times the scale (of which 10 mantissa bits count) plus the "
        "offset of set_deq_scale_offset, rounded to nearest even [guess: once], saturated. The 16 "
        "results of a block of src fill the first half of a block of dst, with half_block the "
        "second; the other half stays."
    ),
    HALVES: (
        "Converts int32 to half, multiplied by the scale that set_deq_scale left; rounds to "
        "nearest even."
    ),
}


def _span(name: str, form: str, dtypes: Dtypes) -> str:
    if form != "count":
        return masked_span(name, form)
    # The results of a block of 16 lie in a block of 32.
    return "ceildiv(count, 16) * 32" if dtypes is BYTES and name == "dst" else "count"


def _cast(form: str, dtypes: Dtypes) -> Instr:
    count, narrow = form == "count", dtypes is BYTES
    strides = tuple(
        stride(f"{n}_{part}", "uint16_t" if part == "blk" else "uint8_t")
        for part in ("blk", "rep")
        for n in ("dst", "src")
    )
    flags = [] if count else ["false" if form == "preset" else "true"]
    flags += ["false", "{half_block}"] if narrow else []
    template = f"<{', '.join(['{T}', '{U}', *flags])}>" if narrow or form == "preset" else ""
    rest = (
        "{count});"
        if count
        else f"{MASK_ARGUMENTS[form]}, {{repeat}}, AscendC::UnaryRepeatParams({{dst_blk}}, "
        "{src_blk}, {dst_rep}, {src_rep}));"
    )

    def call(name: str) -> str:
        text = f"AscendC::{name}{template}({{dst}}, {{src}}, {rest}"
        return with_bits(text, const=True) if form == "bits" else text

    set_mask = "" if count else "bool isSetMask = true, "
    return Instr(
        key=("cast_dequant" if narrow else "cast_dequant_half") + ("" if count else f"_{form}"),
        name="CastDeq",
        pipe=Pipe.V,
        core=AIV,
        operands=tuple(
            Operand(name=n, spaces=UB, rw=rw, span=_span(n, form, dtypes), dtype=t)
            for n, rw, t in (("dst", "rw" if narrow else "w", "T"), ("src", "r", "U"))
        ),
        params=(
            *((HALF_BLOCK,) if narrow else ()),
            *((COUNT_U32,) if count else (*CAST_MASKS[form], REPEAT, *strides)),
        ),
        types=("T", "U"),
        dtypes=dtypes,
        body="cast_dequant" if narrow else "cast_deq",
        form=form,
        emit=call("CastDeq"),
        renamed=(Renamed(cann="9.1", emit=call("CastDequant")),),
        template=(
            f"typename T, typename U, {set_mask}bool isVecDeq = true, bool half_block = true"
        ),
        timing="vconv",
        doc=DOC[dtypes] + ("" if count else MASK_DOCS[form]),
        source="ASCEND 3.0, 3.1 and the vendor's page",
    )


RELU = Family(
    key="add_deq_relu",
    name="AddDeqRelu",
    lane="src0 + src1",
    dtypes=HALVES,
    types=("T", "U"),
    timing="vadddeqrelu",
    doc=(
        "max(half((src0 + src1) * scale), 0) with the scale of set_deq_scale; the library computes "
        "in 8 steps, in place: src0, and the same number of bytes of half in src1, hold nothing "
        "afterwards, as strides of 1 and 8 would place them. More than 2048 elements go in parts."
    ),
    source="ASCEND 3.1, 3.13c and the vendor's implementation",
)


def _relu(row: Instr) -> Instr:
    """The sources are lost."""
    lost = tuple(replace(o, rw="rw") if o.name != "dst" else o for o in row.operands)
    elements = "count" if row.form == "count" else "repeat * 64"
    parts = f"max(0, ceildiv({elements}, 2048) - 1)"
    return replace(
        row,
        operands=lost,
        lane="",
        body="add_deq_relu",
        repeats=f"ceildiv({elements}, 64) + {parts} * DEQ_RELU_RESTART",
    )


ROWS: tuple[Instr, ...] = (
    *(_cast(form, dtypes) for dtypes in (BYTES, HALVES) for form in ("count", *MASKS)),
    # Where the caller sets the mask, the library ends with all lanes instead.
    *map(_relu, (RELU.count_row(), RELU.repeat_row("repeat"), RELU.repeat_row("bits"))),
    Instr(
        key="set_deq_scale_offset",
        name="SetDeqScale",
        pipe=Pipe.S,
        core=AIV,
        operands=(),
        params=(
            Param(name="scale", type="T", declared="T"),
            Param(name="offset", type="int16_t", low=-256, high=255, declared="int16_t"),
            Param(name="sign_mode", type="bool", low=0, high=1, declared="bool"),
        ),
        dtypes=(("float32",),),
        sets={
            "deq_scale": "scale",
            "deq_offset": "offset",
            "deq_signed": "sign_mode",
            "deq_form": "2",
        },
        emit="AscendC::SetDeqScale({scale}, {offset}, {sign_mode});",
        cycles="SYNC_ISSUE",
        doc=(
            "Sets scale, offset and whether results are signed of conversions from int16 to bytes."
        ),
        source="ASCEND 3.1",
    ),
)

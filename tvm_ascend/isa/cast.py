# SPDX-License-Identifier: Apache-2.0
"""Rows that convert dtypes on the Vector pipe."""

from __future__ import annotations

from tvm_ascend.isa.forms import (
    AIV,
    COUNT_U32,
    MASK_DOCS,
    MASK_TEXTS,
    MASKS,
    REPEAT,
    UB,
    masked_span,
    stride,
    unset_mask,
    with_bits,
)
from tvm_ascend.isa.instr import Instr, Operand, Param, Pipe

NONE = ("CAST_NONE",)
ROUNDED = ("CAST_RINT", "CAST_FLOOR", "CAST_CEIL", "CAST_ROUND", "CAST_TRUNC")
ROUND_MODE = Param(
    name="round_mode",
    type="enum:RoundMode",
    values=(*NONE, *ROUNDED, "CAST_ODD"),
    spelling="AscendC::RoundMode::{}",
    declared="const RoundMode&",
)

# From dst and src to the modes [doc: ASCEND 3.5 and the vendor's page of Cast].
CHOICES: dict[tuple[str, ...], tuple[str, ...]] = {
    ("float32", "float16"): NONE,
    ("float16", "float32"): (*NONE, *ROUNDED, "CAST_ODD"),
    ("float32", "bfloat16"): NONE,
    ("bfloat16", "float32"): ROUNDED,
    ("float32", "int32"): (*NONE, *ROUNDED),
    ("int32", "float32"): ROUNDED,
    ("float32", "int16"): NONE,
    ("int16", "float32"): ROUNDED,
    ("float16", "int8"): NONE,
    ("int8", "float16"): (*NONE, *ROUNDED),
    ("float16", "uint8"): NONE,
    ("uint8", "float16"): (*NONE, *ROUNDED),
    ("float16", "int16"): (*NONE, *ROUNDED),
    ("int16", "float16"): ROUNDED,
    ("int32", "float16"): ROUNDED,
    ("int32", "bfloat16"): ROUNDED,
    ("int16", "int32"): NONE,
    ("int64", "int32"): NONE,
    ("int32", "int64"): NONE,
    ("int64", "float32"): ROUNDED,
    ("float32", "int64"): ROUNDED,
    ("float32", "float32"): ROUNDED,
}
DOC = (
    "Converts each lane to the dtype of dst with the given rounding; overflow saturates for "
    "integers, NaN becomes 0. float32 to float32 rounds to a whole number, -0 becomes 0."
)

DEQ_DOC = (
    "Converts int32 to half, multiplied by the scale that set_deq_scale left; rounds to nearest "
    "even whatever the mode."
)


def _text(form: str, start: str, rest: str) -> str:
    if form == "count":
        return f"{start}{{count}});"
    text = f"{start}{MASK_TEXTS[form]}, {rest}"
    return with_bits(text, const=True) if form == "bits" else text


def _cast(form: str, deq: bool = False) -> Instr:
    count = form == "count"
    masks = () if count else MASKS[form]
    strides = tuple(
        stride(f"{n}_{part}", "uint16_t" if part == "blk" else "uint8_t")
        for part in ("blk", "rep")
        for n in ("dst", "src")
    )
    template = unset_mask(("T", "U")) if form == "preset" else ""
    start = f"AscendC::Cast{template}({{dst}}, {{src}}, {{round_mode}}, "
    rest = "{repeat}, AscendC::UnaryRepeatParams({dst_blk}, {src_blk}, {dst_rep}, {src_rep}));"
    return Instr(
        key=("cast_deq" if deq else "cast") + ("" if count else f"_{form}"),
        name="Cast",
        pipe=Pipe.V,
        core=AIV,
        operands=tuple(
            Operand(
                name=n, spaces=UB, rw=rw, span="count" if count else masked_span(n, form), dtype=t
            )
            for n, rw, t in (("dst", "w", "T"), ("src", "r", "U"))
        ),
        params=(ROUND_MODE, *masks, *((COUNT_U32,) if count else (REPEAT, *strides))),
        types=("T", "U"),
        dtypes=(("float16", "int32"),) if deq else tuple(CHOICES),
        choices={} if deq else CHOICES,
        body="cast_deq" if deq else "cast",
        form=form,
        emit=_text(form, start, rest),
        template="" if count else "typename T, typename U, bool isSetMask = true",
        timing="vconv",
        doc=(DEQ_DOC if deq else DOC) + ("" if count else MASK_DOCS[form]),
        source="ASCEND 3.0, 3.5",
    )


ROWS: tuple[Instr, ...] = (
    *(_cast(form, deq) for deq in (False, True) for form in ("count", *MASKS)),
    Instr(
        key="set_deq_scale",
        name="SetDeqScale",
        pipe=Pipe.S,
        core=AIV,
        operands=(),
        params=(Param(name="scale", type="T", declared="T"),),
        dtypes=(("float16",),),
        sets={"deq_scale": "scale", "deq_form": "1"},
        emit="AscendC::SetDeqScale({scale});",
        cycles="SYNC_ISSUE",
        doc="Sets the scale of conversions from int32 to half.",
        source="ASCEND 3.1, 3.5",
    ),
)

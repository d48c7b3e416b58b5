# SPDX-License-Identifier: Apache-2.0
"""Rows that compare lanes into bits and choose lanes by bits."""

from __future__ import annotations

from dataclasses import replace

from tvm_ascend.isa.forms import (
    AIV,
    FLOATS,
    MASK_DOCS,
    MASK_TEXTS,
    MASKS,
    UB,
    Dtypes,
    repeat_span,
    stride,
    unset_mask,
    with_bits,
)
from tvm_ascend.isa.instr import Instr, Operand, Param, Pipe, Renamed

MODES = ("LT", "GT", "EQ", "LE", "GE", "NE")
CMP_MODE = Param(
    name="mode",
    type="enum:CMPMODE",
    values=MODES,
    spelling="AscendC::CMPMODE::{}",
    declared="CMPMODE",
)
SEL_MODES = ("VSEL_CMPMASK_SPR", "VSEL_TENSOR_SCALAR_MODE", "VSEL_TENSOR_TENSOR_MODE")
SEL_MODE = Param(
    name="mode",
    type="enum:SELMODE",
    values=SEL_MODES,
    spelling="AscendC::SELMODE::{}",
    declared="SELMODE",
)
COUNT = Param(name="count", type="uint32_t", low=0, high=2**31 - 1, declared="uint32_t")
# The 910B looks at no mask here [doc: the vendor's page of Compare].
MASK = Param(name="mask", type="uint64_t", low=0, high=128)
REPEATS = Param(name="repeat", type="uint8_t", low=0, high=255, declared="uint8_t")
TYPES = ("T", "U")
MASKED = "typename T, typename U, bool isSetMask = true"
SOURCES = ("float16", "float32", "int32")
COMPARED: Dtypes = tuple((t, u) for t in SOURCES for u in ("uint8", "int8"))
SCALED: Dtypes = tuple((t, "uint8") for t in SOURCES)
SELECTED: Dtypes = tuple(
    (t, u) for t in ("float16", "float32") for u in ("uint8", "uint16", "uint32", "uint64")
)
DOC = (
    "One bit per lane, the lowest first, whether the comparison holds; never for NaN, not even NE."
)


def _equal_only(dtypes: Dtypes) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {pair: ("EQ",) for pair in dtypes if pair[0] == "int32"}


def _bits(span: str) -> Operand:
    return Operand(name="dst", spaces=UB, rw="w", span=span, dtype="U")


def _sel_mask(span: str) -> Operand:
    return Operand(name="sel_mask", spaces=UB, rw="r", span=span, dtype="U")


def _source(name: str, span: str = "") -> Operand:
    return Operand(name=name, spaces=UB, rw="r", span=span or repeat_span(name))


def _compare(scalar: bool, repeat: bool) -> Instr:
    names = ("src0",) if scalar else ("src0", "src1")
    call = "CompareScalar" if scalar else "Compare"
    struct = "UnaryRepeatParams" if scalar else "BinaryRepeatParams"
    wide = "uint16_t" if scalar else "uint8_t"
    strides = tuple(
        stride(f"{n}_{part}", wide if part == "blk" else "uint8_t")
        for part in ("blk", "rep")
        for n in names
    )
    blk, rep = (", ".join(f"{{{n}_{part}}}" for n in names) for part in ("blk", "rep"))
    second = ", {scalar}" if scalar else ", {src1}"
    tail = (
        f"{{mask}}, {{repeat}}, AscendC::{struct}(1, {blk}, 8, {rep}));" if repeat else "{count});"
    )
    rest = f"({{dst}}, {{src0}}{second}, {{mode}}, {tail}"
    later = Renamed(cann="9.1", emit=f"AscendC::Compares{rest}")
    dtypes = SCALED if scalar else COMPARED
    return Instr(
        key=("compare_scalar" if scalar else "compare") + ("_repeat" if repeat else ""),
        name=call,
        pipe=Pipe.V,
        core=AIV,
        operands=(
            _bits("repeat * 16" if repeat else "ceildiv(count, 8)"),
            *(_source(n, "" if repeat else "count") for n in names),
        ),
        params=(
            *((Param(name="scalar", type="T", declared="const T"),) if scalar else ()),
            CMP_MODE,
            *((MASK, REPEATS, *strides) if repeat else (COUNT,)),
        ),
        types=TYPES,
        dtypes=dtypes,
        choices=_equal_only(dtypes),
        body="compare",
        emit=f"AscendC::{call}{rest}",
        template=MASKED if repeat else "",
        renamed=(later,) if scalar else (),
        timing="vcmpv",
        doc=DOC
        + (
            " Repeats of 256 bytes; their bits follow each other in dst, and `mask` is not looked "
            "at."
            if repeat
            else " The bytes of `count` lanes are a multiple of 256."
        ),
        source="ASCEND 3.2",
    )


def _select(scalar: bool) -> Instr:
    second = "{scalar}" if scalar else "{src1}"
    allowed = SEL_MODES[1:2] if scalar else (SEL_MODES[0], SEL_MODES[2])
    mask = _sel_mask("ceildiv(count + 128, 8)")
    return Instr(
        key="select_scalar" if scalar else "select",
        name="Select",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span="count"),
            mask,
            _source("src0", "count"),
            *(() if scalar else (_source("src1", "count"),)),
        ),
        params=(
            *((Param(name="scalar", type="T", declared="T"),) if scalar else ()),
            SEL_MODE,
            COUNT,
        ),
        types=TYPES,
        dtypes=SELECTED,
        choices=dict.fromkeys(SELECTED, allowed),
        body="select",
        emit=f"AscendC::Select({{dst}}, {{sel_mask}}, {{src0}}, {second}, {{mode}}, {{count}});",
        timing="vsel",
        repeats="ceildiv(count * itemsize, 256)",  # however wide the words of sel_mask are
        doc=(
            "src0 where the lane's bit is set, else "
            + ("the scalar." if scalar else "src1.")
            + ("" if scalar else " VSEL_CMPMASK_SPR uses the bits of the first repeat in all.")
        ),
        source="ASCEND 3.2",
    )


def _steps(names: tuple[str, ...]) -> tuple[Param, ...]:
    return tuple(stride(f"{name}_{part}") for part in ("blk", "rep") for name in names)


def _select_repeat(scalar: bool, form: str) -> Instr:
    """With strides; the bits of the repeats follow each other."""
    base = _select(scalar)
    sources = ("src0",) if scalar else ("src0", "src1")
    second = "{scalar}" if scalar else "{src1}"
    blk, rep = (
        ", ".join((f"{{dst_{p}}}", f"{{src0_{p}}}", one if scalar else f"{{src1_{p}}}"))
        for p, one in (("blk", "1"), ("rep", "8"))
    )
    text = (
        f"AscendC::Select({{dst}}, {{sel_mask}}, {{src0}}, {second}, {{mode}}, "
        f"{MASK_TEXTS[form]}, {{repeat}}, AscendC::BinaryRepeatParams({blk}, {rep}));"
    )
    return replace(
        base,
        key=f"{base.key}_{form}",
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span=repeat_span("dst")),
            _sel_mask("repeat * 16"),
            *map(_source, sources),
        ),
        params=(
            *base.params[:-1],
            *MASKS[form],
            Param(name="repeat", type="uint8_t", low=0, high=255, declared="uint8_t"),
            *_steps(("dst", *sources)),
        ),
        emit=with_bits(text) if form == "bits" else text,
        template=MASKED,
        repeats="repeat",
        doc=base.doc + MASK_DOCS[form],
    )


def _select_register(scalar: bool) -> Instr:
    """By CmpMask, or with CmpMask as the scalar; the vector mask chooses the lanes."""
    sources = ("src0",) if scalar else ("src0", "src1")
    blk, rep = (
        ", ".join((f"{{dst_{p}}}", f"{{src0_{p}}}", one if scalar else f"{{src1_{p}}}"))
        for p, one in (("blk", "1"), ("rep", "8"))
    )
    call = (
        "Select({dst}, {sel_mask}, {src0}"
        if scalar
        else "Select<{T}, AscendC::SELMODE::VSEL_CMPMASK_SPR>({dst}, {src0}, {src1}"
    )
    return Instr(
        key="select_cmp_mask_scalar" if scalar else "select_cmp_mask",
        name="Select",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span="extent"),
            *((_sel_mask("extent"),) if scalar else ()),
            *(_source(name, "extent") for name in sources),
        ),
        params=(
            Param(name="repeat", type="uint8_t", low=0, high=255, declared="uint8_t"),
            *_steps(("dst", *sources)),
        ),
        types=TYPES if scalar else ("T",),
        dtypes=SELECTED if scalar else FLOATS,
        body="select",
        form="preset",
        emit=f"AscendC::{call}, {{repeat}}, AscendC::BinaryRepeatParams({blk}, {rep}));",
        template="typename T, typename U" if scalar else "typename T, SELMODE selMode",
        timing="vsel",
        repeats=(
            "mask_counter * ceildiv(vector_mask_low * itemsize, 256) + (1 - mask_counter) * repeat"
        ),
        doc=(
            "src0 where the lane's bit is set, else "
            + ("the scalar in CmpMask." if scalar else "src1; CmpMask has the bits of a repeat.")
            + MASK_DOCS["preset"]
        ),
        source="ASCEND 3.2",
    )


def _compare_mask(form: str) -> Instr:
    """One repeat, into CmpMask."""
    template = unset_mask(("T",)) if form == "preset" else ""
    names = ("src0", "src1")
    text = (
        f"AscendC::Compare{template}({{src0}}, {{src1}}, {{mode}}, {MASK_TEXTS[form]}, "
        "AscendC::BinaryRepeatParams(1, {src0_blk}, {src1_blk}, 8, 8, 8));"
    )
    return Instr(
        key=f"compare_mask_{form}",
        name="Compare",
        pipe=Pipe.V,
        core=AIV,
        operands=tuple(
            _source(n, "extent" if form == "preset" else f"(7 * {n}_blk + 1) * block")
            for n in names
        ),
        params=(CMP_MODE, *MASKS[form], *(stride(f"{n}_blk") for n in names)),
        dtypes=FLOATS,
        body="compare_mask",
        form="preset" if form == "preset" else "",
        emit=with_bits(text, const=True) if form == "bits" else text,
        template="typename T, bool isSetMask = true",
        timing="vcmpv",
        repeats="1",
        doc=(
            "One bit per lane of one repeat into CmpMask, whether the comparison holds; never for "
            "NaN. Lanes that the mask leaves out give 0 [guess]."
        ),
        source="ASCEND 3.2",
    )


def _cmp_mask(verb: str, operand: str, rw: str, doc: str) -> Instr:
    """CmpMask from or to UB."""
    return Instr(
        key=f"{verb.lower()}_cmp_mask",
        name=f"{verb}CmpMask",
        pipe=Pipe.V,
        core=AIV,
        operands=(Operand(name=operand, spaces=UB, rw=rw, span="16 // itemsize", align="16"),),
        params=(),
        dtypes=tuple((t,) for t in ("uint8", "uint16", "uint32", "uint64", "float16", "float32")),
        body=f"{verb.lower()}_cmp_mask",
        emit=f"AscendC::{verb}CmpMask({{{operand}}});",
        timing="vcmpv",
        repeats="1",
        doc=doc,
        source="ASCEND 3.2",
    )


ROWS: tuple[Instr, ...] = (
    *(_compare(scalar, repeat) for scalar in (False, True) for repeat in (False, True)),
    *(_select(scalar) for scalar in (False, True)),
    *(_select_repeat(scalar, form) for scalar in (False, True) for form in ("repeat", "bits")),
    *(_select_register(scalar) for scalar in (False, True)),
    *map(_compare_mask, MASKS),
    _cmp_mask("Get", "dst", "w", "Stores the 128 bits of CmpMask; timed as a comparison [guess]."),
    _cmp_mask("Set", "src", "r", "Loads the 128 bits of CmpMask; timed as a comparison [guess]."),
)

# SPDX-License-Identifier: Apache-2.0
"""Rows that compare lanes into bits and choose lanes by bits."""

from __future__ import annotations

from tvm_ascend.isa.forms import AIV, UB, Dtypes, repeat_span, stride
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
    mask = Operand(name="mask", spaces=UB, rw="r", span="ceildiv(count + 128, 8)", dtype="U")
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
        emit=f"AscendC::Select({{dst}}, {{mask}}, {{src0}}, {second}, {{mode}}, {{count}});",
        timing="vsel",
        doc=(
            "src0 where the lane's bit is set, else "
            + ("the scalar." if scalar else "src1.")
            + ("" if scalar else " VSEL_CMPMASK_SPR uses the bits of the first repeat in all.")
        ),
        source="ASCEND 3.2",
    )


ROWS: tuple[Instr, ...] = (
    *(_compare(scalar, repeat) for scalar in (False, True) for repeat in (False, True)),
    *(_select(scalar) for scalar in (False, True)),
)

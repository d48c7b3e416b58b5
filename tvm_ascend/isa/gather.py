# SPDX-License-Identifier: Apache-2.0
"""Rows that collect elements by offsets, by bits, or by a pattern."""

from __future__ import annotations

from tvm_ascend.isa.forms import AIV, REPEAT, UB, WORDS, Dtypes, block, stride
from tvm_ascend.isa.instr import Instr, Operand, Param, Pipe

BASE = Param(name="src_base", type="uint32_t", low=0, high=2**18 - 1)
COUNT = Param(name="count", type="uint32_t", low=0, high=2**31 - 1)
MASK = Param(name="mask", type="uint64_t", low=0, high=128)
PATTERNED: Dtypes = (
    *((t, "uint16") for t in ("float16", "bfloat16", "int16", "uint16")),
    *((t, "uint32") for t in ("float32", "int32", "uint32")),
)
MODE = "GatherMaskMode mode = defaultGatherMaskMode"
# Where the elements lie is in the offsets: anywhere in the buffer.
SOURCE = Operand(name="src", spaces=UB, rw="r", span="extent", align="itemsize")
MASKED_COUNT = Param(name="mask", type="uint32_t", low=0, high=2**32 - 1)
MASK_PARAMS = (
    Param(name="reduce_mode", type="bool", low=0, high=1),
    MASKED_COUNT,
    Param(name="src_blk", type="uint8_t", low=0, high=255),
    Param(name="repeat", type="uint16_t", low=0, high=65535),
    Param(name="src_rep", type="uint16_t", low=0, high=65535),
)


def _offsets(span: str) -> Operand:
    return Operand(name="offset", spaces=UB, rw="r", span=span, dtype="uint32")


def _gather(repeat: bool) -> Instr:
    tail = "{mask}, {repeat}, {dst_rep}" if repeat else "{count}"
    lanes = "(repeat * 8 * block)"
    return Instr(
        key="gather_repeat" if repeat else "gather",
        name="Gather",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(
                name="dst",
                spaces=UB,
                rw="w",
                span="((repeat - 1) * dst_rep + 8) * block" if repeat else "count",
            ),
            SOURCE,
            _offsets("repeat * 128" if repeat else "count"),
        ),
        params=(
            BASE,
            *(
                (MASK, REPEAT, Param(name="dst_rep", type="uint16_t", low=0, high=65535))
                if repeat
                else (COUNT,)
            ),
        ),
        dtypes=WORDS,
        body="gather",
        emit=f"AscendC::Gather({{dst}}, {{src}}, {{offset}}, {{src_base}}, {tail});",
        timing="vgather",
        repeats=f"ceildiv({lanes} * 4, 256)" if repeat else "",
        doc=(
            "dst[i] is the element at byte `src_base + offset[i]` of src."
            + (
                " The offsets of the repeats follow each other, `mask` of them used in each."
                if repeat
                else ""
            )
        ),
        source="ASCEND 3.6",
    )


def _gather_mask(fixed: bool) -> Instr:
    pattern = Operand(
        name="pattern", spaces=UB, rw="r", span="extent", dtype="U"
    )  # how much of it counts depends on the mode
    chosen = Param(name="pattern", type="uint8_t", low=1, high=7)
    rep = Param(name="pattern_rep", type="uint8_t", low=0, high=255)
    struct = "AscendC::GatherMaskParams({src_blk}, {repeat}, {src_rep}, {pattern_rep})"
    return Instr(
        key="gather_mask_fixed" if fixed else "gather_mask",
        name="GatherMask",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span="extent"),
            Operand(name="src", spaces=UB, rw="r", span="extent"),
            *(() if fixed else (pattern,)),
        ),
        params=(*((chosen,) if fixed else ()), *MASK_PARAMS, rep),
        types=("T",) if fixed else ("T", "U"),
        dtypes=tuple((d[0],) for d in PATTERNED) if fixed else PATTERNED,
        body="gather_mask",
        emit=block(
            "uint64_t rsvdCnt = 0;",
            f"AscendC::GatherMask({{dst}}, {{src}}, {{pattern}}, {{reduce_mode}}, {{mask}}, "
            f"{struct}, rsvdCnt);",
        ),
        template=f"typename T, {MODE}" if fixed else f"typename T, typename U, {MODE}",
        timing="vreducev2",
        repeats="reduce_mode * ceildiv(mask * itemsize, 256) + (1 - reduce_mode) * repeat",
        doc=(
            "Packs the elements whose bit is set: with `reduce_mode` of the first `mask` elements, "
            "else of `repeat` repeats. "
            + (
                "Pattern 1 and 2 take the even and odd elements, 3 to 6 one of every four, 7 all."
                if fixed
                else "A bit per element; `pattern_rep` blocks from repeat to repeat."
            )
        ),
        source="ASCEND 3.2",
    )


ROWS: tuple[Instr, ...] = (
    _gather(repeat=False),
    _gather(repeat=True),
    Instr(
        key="gatherb",
        name="Gatherb",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(
                name="dst",
                spaces=UB,
                rw="w",
                span="((repeat - 1) * dst_rep + 7 * dst_blk + 1) * block",
            ),
            SOURCE,
            _offsets("repeat * 8"),
        ),
        params=(REPEAT, stride("dst_blk"), stride("dst_rep")),
        dtypes=(("uint16",), ("uint32",)),
        body="gatherb",
        emit=(
            "AscendC::Gatherb({dst}, {src}, {offset}, {repeat}, "
            "AscendC::GatherRepeatParams({dst_blk}, {dst_rep}));"
        ),
        timing="vgatherb",
        doc=(
            "Each of the 8 blocks of a repeat of dst is the 32-byte block at byte `offset[i]` of "
            "src."
        ),
        source="ASCEND 3.6",
    ),
    _gather_mask(fixed=False),
    _gather_mask(fixed=True),
)

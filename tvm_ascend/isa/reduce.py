# SPDX-License-Identifier: Apache-2.0
"""Rows that reduce on the Vector pipe: whole repeats, blocks and pairs of lanes."""

from __future__ import annotations

from dataclasses import dataclass

from tvm_ascend.isa.forms import (
    AIV,
    FLOATS,
    MASKS,
    PLACEHOLDER,
    UB,
    by_form,
    masked_span,
    with_bits,
)
from tvm_ascend.isa.instr import Instr, Operand, Param, Pipe, Renamed

OLD_TEMPLATE = "typename T, bool isSetMask = true"
NEW_TEMPLATE = "ReduceType reduceType, typename T, typename U, bool isSetMask = true"
MASK = Param(name="mask", type="int32_t", low=1, high=128)
ORDER = Param(
    name="order",
    type="enum:ReduceOrder",
    values=("ORDER_VALUE_INDEX", "ORDER_INDEX_VALUE", "ORDER_ONLY_INDEX"),
    spelling="AscendC::ReduceOrder::{}",
    declared="ReduceOrder",
)
ONLY_VALUE = ", AscendC::ReduceOrder::ORDER_ONLY_VALUE"
MASK_ARGUMENTS = by_form("{mask}", "mask", f"static_cast<int32_t>({PLACEHOLDER})")
DOCS = by_form(
    "",
    " The lanes are those of `mask_low` (0 to 63) and `mask_high` (64 to 127).",
    " The lanes are those of the vector mask register, in counter mode as many as it says.",
)


@dataclass(frozen=True, kw_only=True)
class _Reduction:
    """``{m}`` in ``old`` and ``new`` is the mask argument."""

    key: str
    kind: str
    name: str
    old: str
    new: str
    span: str
    timing: str
    doc: str
    align: str = ""
    body: str = ""
    order: bool = False

    def row(self, form: str) -> Instr:
        """The form with a mask count, a bit mask or the mask of the register."""
        preset = form == "preset"

        def call(name: str, args: str) -> str:
            text = f"AscendC::{name}({args.replace('{m}', MASK_ARGUMENTS[form])});"
            return with_bits(text, const=True) if form == "bits" else text

        unset = ", false" if preset else ""
        types = f"<AscendC::ReduceType::{self.kind.upper()}, {{T}}, {{T}}{unset}>"
        new_name = {"Whole": "ReduceRepeat", "Block": "ReduceDataBlock", "PairR": "ReducePairElem"}
        masks = (MASK,) if form == "repeat" else MASKS[form]
        wide = tuple(
            Param(name=name, type="int32_t", low=0, high=high)
            for name, high in (
                ("repeat", 255),
                ("dst_rep", 65535),
                ("src_blk", 65535),
                ("src_rep", 65535),
            )
        )
        return Instr(
            key=self.key if form == "repeat" else f"{self.key}_{form}",
            name=self.name,
            pipe=Pipe.V,
            core=AIV,
            operands=(
                Operand(
                    name="dst",
                    spaces=UB,
                    rw="w",
                    span="extent" if preset else self.span,
                    align=self.align,
                ),
                Operand(name="src", spaces=UB, rw="r", span=masked_span("src", form)),
            ),
            params=(*masks, *wide, *((ORDER,) if self.order else ())),
            dtypes=FLOATS,
            body=self.body or self.key,
            form="preset" if preset else "",
            emit=call(f"{self.name}<{{T}}{unset}>", self.old),
            template=OLD_TEMPLATE,
            renamed=(
                Renamed(
                    cann="9.1",
                    emit=call(f"{new_name[self.name[:5]]}{types}", self.new),
                    template=NEW_TEMPLATE,
                ),
            ),
            timing=self.timing,
            doc=self.doc + DOCS[form],
            source="ASCEND 3.3",
        )


def _whole(kind: str, timing: str) -> _Reduction:
    args = "{dst}, {src}, {m}, {repeat}, {dst_rep}, {src_blk}, {src_rep}"
    return _Reduction(
        key=f"whole_reduce_{kind}",
        kind=kind,
        name=f"WholeReduce{kind.capitalize()}",
        old=args if kind == "sum" else args + ONLY_VALUE,
        new=args + ONLY_VALUE,
        span="(repeat - 1) * dst_rep + 1",
        align="itemsize",
        timing=timing,
        doc=(
            f"One {kind} per repeat over its first `mask` lanes, by a pairwise tree; `dst_rep` in "
            f"elements."
        ),
    )


def _index(kind: str, timing: str) -> _Reduction:
    args = "{dst}, {src}, {m}, {repeat}, {dst_rep}, {src_blk}, {src_rep}, {order}"
    return _Reduction(
        key=f"reduce_index_{kind}",
        kind=kind,
        name=f"WholeReduce{kind.capitalize()}",
        old=args,
        new=args,
        span="((repeat - 1) * dst_rep + 1) * 2",
        align="itemsize",
        timing=timing,
        order=True,
        body=f"reduce_index_{kind}",
        doc=(
            f"The {kind} of each repeat and the lowest lane that holds it, as raw bits; `dst_rep` "
            "in pairs of elements, or in uint32 where only the lane is stored. NaN counts as the "
            f"{kind} [guess]."
        ),
    )


def _block(kind: str, timing: str) -> _Reduction:
    return _Reduction(
        key=f"block_reduce_{kind}",
        kind=kind,
        name=f"BlockReduce{kind.capitalize()}",
        old="{dst}, {src}, {repeat}, {m}, {dst_rep}, {src_blk}, {src_rep}",
        new="{dst}, {src}, {m}, {repeat}, {dst_rep}, {src_blk}, {src_rep}",
        span="((repeat - 1) * dst_rep + 1) * 8",
        align="8 * itemsize",
        timing=timing,
        body=f"block_reduce_{kind}",
        doc=(
            f"One {kind} for each of the 8 blocks of a repeat, by a pairwise tree; `dst_rep` in 8 "
            "elements. A block without an active lane leaves its result as it was."
        ),
    )


PAIR = _Reduction(
    key="pair_reduce_sum",
    kind="sum",
    name="PairReduceSum",
    old="{dst}, {src}, {repeat}, {m}, {dst_rep}, {src_blk}, {src_rep}",
    new="{dst}, {src}, {m}, {repeat}, {dst_rep}, {src_blk}, {src_rep}",
    span="((repeat - 1) * dst_rep + 1) * 4 * block",
    timing="vcpadd",
    body="pair_reduce_sum",
    doc=(
        "Sums of neighbouring lanes; `dst_rep` in 128 bytes. An inactive lane of a pair does not "
        "count, and a pair without an active one leaves its result as it was [guess]."
    ),
)

ROWS: tuple[Instr, ...] = tuple(
    reduction.row(form)
    for reduction in (
        _whole("sum", "vcadd"),
        _whole("max", "vcmax"),
        _whole("min", "vcmin"),
        _index("max", "vcmax"),
        _index("min", "vcmin"),
        _block("sum", "vcgadd"),
        _block("max", "vcgmax"),
        _block("min", "vcgmin"),
        PAIR,
    )
    for form in MASKS
)

# SPDX-License-Identifier: Apache-2.0
"""Rows that reduce on the Vector pipe: whole repeats, blocks and pairs of lanes."""

from __future__ import annotations

from dataclasses import dataclass

from tvm_ascend.isa.forms import AIV, BITS, FLOATS, UB, repeat_span, with_bits
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
BY_BITS = " The lanes are those of `mask_low` (0 to 63) and `mask_high` (64 to 127)."


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

    def row(self, bits: bool) -> Instr:
        """The form with a mask count or a bit mask."""

        def call(name: str, args: str) -> str:
            text = f"AscendC::{name}({args.replace('{m}', 'mask' if bits else '{mask}')});"
            return with_bits(text, const=True) if bits else text

        types = f"<AscendC::ReduceType::{self.kind.upper()}, {{T}}, {{T}}>"
        new_name = {"Whole": "ReduceRepeat", "Block": "ReduceDataBlock", "PairR": "ReducePairElem"}
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
            key=f"{self.key}_bits" if bits else self.key,
            name=self.name,
            pipe=Pipe.V,
            core=AIV,
            operands=(
                Operand(name="dst", spaces=UB, rw="w", span=self.span, align=self.align),
                Operand(name="src", spaces=UB, rw="r", span=repeat_span("src")),
            ),
            params=(*(BITS if bits else (MASK,)), *wide, *((ORDER,) if self.order else ())),
            dtypes=FLOATS,
            body=self.body or self.key,
            emit=call(f"{self.name}<{{T}}>", self.old),
            template=OLD_TEMPLATE,
            renamed=(
                Renamed(
                    cann="9.1",
                    emit=call(f"{new_name[self.name[:5]]}{types}", self.new),
                    template=NEW_TEMPLATE,
                ),
            ),
            timing=self.timing,
            doc=self.doc + (BY_BITS if bits else ""),
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
    reduction.row(bits)
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
    for bits in (False, True)
)

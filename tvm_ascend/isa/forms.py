# SPDX-License-Identifier: Apache-2.0
"""The forms that vector instructions share: count, mask count with repeats, and bit mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvm_ascend.isa.instr import CoreType, Instr, Operand, Param, Pipe, Renamed, Space

Dtypes = tuple[tuple[str, ...], ...]

FLOATS: Dtypes = (("float16",), ("float32",))
NUMBERS: Dtypes = (("float16",), ("float32",), ("int16",), ("int32",))
WORDS: Dtypes = (
    *(("float16",), ("float32",), ("int16",), ("int32",)),
    *(("uint16",), ("uint32",), ("bfloat16",)),
)
AIV = (CoreType.AIV,)
UB = (Space.UB,)

COUNT = Param(name="count", type="int32_t", low=0, high=2**31 - 1, declared="const int32_t&")
COUNT_U32 = Param(name="count", type="uint32_t", low=0, high=2**31 - 1)
MASK = Param(name="mask", type="uint64_t", low=0, high=128, declared="uint64_t")
REPEAT = Param(name="repeat", type="uint8_t", low=0, high=255)
BITS = (Param(name="mask_low", type="uint64_t"), Param(name="mask_high", type="uint64_t"))
REPEATED = " First `mask` lanes of each of `repeat` repeats; strides in 32-byte blocks."
BY_BITS = (
    " Lanes chosen by `mask_low` (0 to 63) and `mask_high` (64 to 127) in each of `repeat` "
    "repeats; strides in 32-byte blocks."
)


def stride(name: str, ctype: str = "uint8_t") -> Param:
    """A stride in blocks; a block stride of dst is at least 1."""
    low = 1 if name == "dst_blk" else 0  # 0 would not repeat the first block [doc: ASCEND 3.0]
    return Param(name=name, type=ctype, low=low, high=255 if ctype == "uint8_t" else 65535)


def repeat_span(operand: str) -> str:
    """Elements from the first to the end of the last block of a strided operand."""
    return f"((repeat - 1) * {operand}_rep + 7 * {operand}_blk + 1) * block"


def block(*statements: str) -> str:
    """Statements that share a scope: declarations, then a call."""
    return "{{\n" + "".join(f"  {statement}\n" for statement in statements) + "}}"


def with_bits(call: str, const: bool = False) -> str:
    """A call whose argument ``mask`` is the array of the two words."""
    declared = "const uint64_t" if const else "uint64_t"
    return block(f"{declared} mask[2] = {{{{{{mask_low}}, {{mask_high}}}}}};", call)


@dataclass(frozen=True, kw_only=True)
class Family:
    """One lane-wise operation; ``rows`` gives its forms.

    ``sources`` counts the tensor sources beside dst, which ``updates`` says is one too; ``scalar``:
    a scalar follows them. The sources and the scalar have the last type of ``types``. ``renamed``:
    the CANN version that brought another name, and that name.
    """

    key: str
    name: str
    lane: str
    dtypes: Dtypes
    timing: str
    doc: str
    source: str = "ASCEND 3.0, 3.1"
    types: tuple[str, ...] = ("T",)
    sources: int = 2
    updates: bool = False
    scalar: bool = False
    accumulates: bool = False
    count: Param = COUNT
    renamed: tuple[str, str] = ("", "")

    @property
    def names(self) -> tuple[str, ...]:
        """Operand names."""
        return ("dst", "src0", "src1") if self.sources == 2 else ("dst", "src")[: self.sources + 1]

    def operands(self, repeat: bool) -> tuple[Operand, ...]:
        """The operands of the count or of the repeat forms."""
        out = []
        for name in self.names:
            rw = "r" if name != "dst" else "rw" if self.updates else "w"
            kind = self.types[0] if name == "dst" else self.types[-1]
            span = repeat_span(name) if repeat else "count"
            out.append(Operand(name=name, spaces=UB, rw=rw, span=span, dtype=kind))
        return tuple(out)

    @property
    def scalars(self) -> tuple[Param, ...]:
        """The scalar parameter, if there is one."""
        return (Param(name="scalar", type=self.types[-1]),) if self.scalar else ()

    @property
    def arguments(self) -> str:
        """What every form of the call starts with."""
        return ", ".join(f"{{{n}}}" for n in (*self.names, *(p.name for p in self.scalars)))

    @property
    def strides(self) -> tuple[Param, ...]:
        """Block strides, then repeat strides."""
        wide = "uint8_t" if self.sources == 2 else "uint16_t"
        return tuple(
            stride(f"{name}_{part}", wide if part == "blk" else "uint8_t")
            for part in ("blk", "rep")
            for name in self.names
        )

    @property
    def masked_template(self) -> str:
        """Template parameters of the repeat forms."""
        return ", ".join(f"typename {t}" for t in self.types) + ", bool isSetMask = true"

    def texts(self, rest: str, bits: bool = False) -> dict[str, Any]:
        """The ``emit`` and ``renamed`` of a call with these arguments."""

        def call(name: str) -> str:
            text = f"AscendC::{name}{rest}"
            return with_bits(text) if bits else text

        cann, later = self.renamed
        renamed = (Renamed(cann=cann, emit=call(later)),) if later else ()
        return {"emit": call(self.name), "renamed": renamed}

    def count_row(self) -> Instr:
        """The contiguous form."""
        return Instr(
            key=self.key,
            name=self.name,
            pipe=Pipe.V,
            core=AIV,
            operands=self.operands(repeat=False),
            params=(*self.scalars, self.count),
            types=self.types,
            dtypes=self.dtypes,
            lane=self.lane,
            form="count",
            **self.texts(f"({self.arguments}, {{count}});"),
            template=self.masked_template if self.scalar and len(self.types) == 1 else "",
            timing=self.timing,
            doc=self.doc,
            source=self.source,
        )

    def repeat_row(self, form: str) -> Instr:
        """The form with a mask count or a bit mask."""
        struct = "BinaryRepeatParams" if self.sources == 2 else "UnaryRepeatParams"
        steps = ", ".join(f"{{{p.name}}}" for p in self.strides)
        mask = "{mask}" if form == "repeat" else "mask"
        rest = f"({self.arguments}, {mask}, {{repeat}}, AscendC::{struct}({steps}));"
        masks = (MASK,) if form == "repeat" else BITS
        return Instr(
            key=f"{self.key}_{form}",
            name=self.name,
            pipe=Pipe.V,
            core=AIV,
            operands=self.operands(repeat=True),
            params=(*self.scalars, *masks, REPEAT, *self.strides),
            types=self.types,
            dtypes=self.dtypes,
            lane=self.lane,
            form=form,
            **self.texts(rest, bits=form == "bits"),
            template=self.masked_template,
            timing=self.timing,
            accumulates=self.accumulates,
            doc=self.doc + (REPEATED if form == "repeat" else BY_BITS),
            source=self.source,
        )

    def rows(self) -> tuple[Instr, ...]:
        """Every form."""
        return (self.count_row(), self.repeat_row("repeat"), self.repeat_row("bits"))

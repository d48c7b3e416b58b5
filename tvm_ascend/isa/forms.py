# SPDX-License-Identifier: Apache-2.0
"""The forms that vector instructions share: count, and repeats with one of three masks."""

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
PRESET = (
    " Lanes of the vector mask register in each of `repeat` repeats, or in counter mode as many "
    "elements as it says, however many repeats that takes; strides in 32-byte blocks."
)
# What a call passes for the mask that isSetMask=false leaves to the register.
PLACEHOLDER = "AscendC::MASK_PLACEHOLDER"
BY_BITS = (
    " Lanes chosen by `mask_low` (0 to 63) and `mask_high` (64 to 127) in each of `repeat` "
    "repeats; strides in 32-byte blocks."
)


def stride(name: str, ctype: str = "uint8_t") -> Param:
    """A stride in blocks; a block stride of dst is at least 1."""
    low = 1 if name == "dst_blk" else 0  # 0 would not repeat the first block [doc: ASCEND 3.0]
    return Param(name=name, type=ctype, low=low, high=255 if ctype == "uint8_t" else 65535)


def by_form(repeat: Any, bits: Any, preset: Any) -> dict[str, Any]:
    """A choice for each form that repeats."""
    return {"repeat": repeat, "bits": bits, "preset": preset}


MASKS: dict[str, tuple[Param, ...]] = by_form((MASK,), BITS, ())
MASK_TEXTS: dict[str, str] = by_form("{mask}", "mask", PLACEHOLDER)
MASK_DOCS: dict[str, str] = by_form(REPEATED, BY_BITS, PRESET)


def unset_mask(types: tuple[str, ...]) -> str:
    """Template arguments of a call that leaves the mask to the register."""
    return f"<{', '.join(f'{{{t}}}' for t in types)}, false>"


def masked_span(operand: str, form: str) -> str:
    """Elements an operand of a form with repeats reaches; in counter mode there may be more."""
    return "extent" if form == "preset" else repeat_span(operand)


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

    def operands(self, form: str) -> tuple[Operand, ...]:
        """The operands of a form."""
        out = []
        for name in self.names:
            rw = "r" if name != "dst" else "rw" if self.updates else "w"
            kind = self.types[0] if name == "dst" else self.types[-1]
            span = "count" if form == "count" else masked_span(name, form)
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

    def texts(self, rest: str, form: str) -> dict[str, Any]:
        """The ``emit`` and ``renamed`` of a call with these arguments."""
        template = unset_mask(self.types) if form == "preset" else ""

        def call(name: str) -> str:
            text = f"AscendC::{name}{template}{rest}"
            return with_bits(text) if form == "bits" else text

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
            operands=self.operands("count"),
            params=(*self.scalars, self.count),
            types=self.types,
            dtypes=self.dtypes,
            lane=self.lane,
            form="count",
            **self.texts(f"({self.arguments}, {{count}});", "count"),
            template=self.masked_template if self.scalar and len(self.types) == 1 else "",
            timing=self.timing,
            doc=self.doc,
            source=self.source,
        )

    def repeat_row(self, form: str) -> Instr:
        """The form with a mask count, a bit mask or the mask of the register."""
        struct = "BinaryRepeatParams" if self.sources == 2 else "UnaryRepeatParams"
        steps = ", ".join(f"{{{p.name}}}" for p in self.strides)
        rest = f"({self.arguments}, {MASK_TEXTS[form]}, {{repeat}}, AscendC::{struct}({steps}));"
        return Instr(
            key=f"{self.key}_{form}",
            name=self.name,
            pipe=Pipe.V,
            core=AIV,
            operands=self.operands(form),
            params=(*self.scalars, *MASKS[form], REPEAT, *self.strides),
            types=self.types,
            dtypes=self.dtypes,
            lane=self.lane,
            form=form,
            **self.texts(rest, form),
            template=self.masked_template,
            timing=self.timing,
            accumulates=self.accumulates,
            doc=self.doc + MASK_DOCS[form],
            source=self.source,
        )

    def rows(self) -> tuple[Instr, ...]:
        """Every form."""
        return (self.count_row(), *map(self.repeat_row, MASKS))

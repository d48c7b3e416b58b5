# SPDX-License-Identifier: Apache-2.0
"""Rows of the Vector pipe: element-wise arithmetic, casts, fills, broadcasts and reductions."""

from __future__ import annotations

from tvm_ascend.isa.instr import CoreType, Instr, Operand, Param, Pipe, Renamed, Space

FLOATS = (("float16",), ("float32",))
NUMBERS = (("float16",), ("float32",), ("int16",), ("int32",))
AIV = (CoreType.AIV,)
UB = (Space.UB,)
ROUND_MODE = Param(
    name="round_mode",
    type="enum:RoundMode",
    values=(
        "CAST_NONE",
        "CAST_RINT",
        "CAST_FLOOR",
        "CAST_CEIL",
        "CAST_ROUND",
        "CAST_TRUNC",
        "CAST_ODD",
    ),
    spelling="AscendC::RoundMode::{}",
    declared="const RoundMode&",
)

COUNT = Param(name="count", type="int32_t", low=0, high=2**31 - 1, declared="const int32_t&")
MASK = Param(name="mask", type="uint64_t", low=0, high=128, declared="uint64_t")
REPEAT = Param(name="repeat", type="uint8_t", low=0, high=255)
MASKED = "typename T, bool isSetMask = true"


def _stride(name: str, ctype: str = "uint8_t") -> Param:
    low = 1 if name == "dst_blk" else 0  # 0 would not repeat the first block [doc: ASCEND 3.0]
    return Param(name=name, type=ctype, low=low, high=255 if ctype == "uint8_t" else 65535)


def _repeat_span(operand: str) -> str:
    return f"((repeat - 1) * {operand}_rep + 7 * {operand}_blk + 1) * block"


def _binary(
    key: str, name: str, lane: str, dtypes: tuple[tuple[str, ...], ...], timing: str, doc: str
) -> list[Instr]:
    names = ("dst", "src0", "src1")
    rw = ("w", "r", "r")
    count = Instr(
        key=key,
        name=name,
        pipe=Pipe.V,
        core=AIV,
        operands=tuple(
            Operand(name=n, spaces=UB, rw=a, span="count") for n, a in zip(names, rw, strict=True)
        ),
        params=(COUNT,),
        dtypes=dtypes,
        lane=lane,
        form="count",
        emit=f"AscendC::{name}({{dst}}, {{src0}}, {{src1}}, {{count}});",
        timing=timing,
        doc=doc,
        source="ASCEND 3.0, 3.1",
    )
    strides = tuple(_stride(f"{n}_{part}") for part in ("blk", "rep") for n in names)
    repeat = Instr(
        key=f"{key}_repeat",
        name=name,
        pipe=Pipe.V,
        core=AIV,
        operands=tuple(
            Operand(name=n, spaces=UB, rw=a, span=_repeat_span(n))
            for n, a in zip(names, rw, strict=True)
        ),
        params=(MASK, REPEAT, *strides),
        dtypes=dtypes,
        lane=lane,
        form="repeat",
        emit=(
            f"AscendC::{name}({{dst}}, {{src0}}, {{src1}}, {{mask}}, {{repeat}}, "
            "AscendC::BinaryRepeatParams({dst_blk}, {src0_blk}, {src1_blk}, "
            "{dst_rep}, {src0_rep}, {src1_rep}));"
        ),
        template=MASKED,
        timing=timing,
        accumulates=key != "div",
        doc=doc + " First `mask` lanes of each of `repeat` repeats; strides in 32-byte blocks.",
        source="ASCEND 3.0, 3.1",
    )
    return [count, repeat]


def _unary(
    key: str, name: str, lane: str, dtypes: tuple[tuple[str, ...], ...], timing: str, doc: str
) -> Instr:
    return Instr(
        key=key,
        name=name,
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span="count"),
            Operand(name="src", spaces=UB, rw="r", span="count"),
        ),
        params=(COUNT,),
        dtypes=dtypes,
        lane=lane,
        form="count",
        emit=f"AscendC::{name}({{dst}}, {{src}}, {{count}});",
        timing=timing,
        doc=doc,
        source="ASCEND 3.1",
    )


def _scalar(
    key: str, name: str, lane: str, dtypes: tuple[tuple[str, ...], ...], timing: str, doc: str
) -> Instr:
    return Instr(
        key=key,
        name=name,
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span="count"),
            Operand(name="src", spaces=UB, rw="r", span="count"),
        ),
        params=(Param(name="scalar", type="T"), COUNT),
        dtypes=dtypes,
        lane=lane,
        form="count",
        emit=f"AscendC::{name}({{dst}}, {{src}}, {{scalar}}, {{count}});",
        template=MASKED,
        timing=timing,
        doc=doc,
        source="ASCEND 3.1",
    )


def _whole_reduce(key: str, kind: str, timing: str) -> Instr:
    name = f"WholeReduce{kind.capitalize()}"
    only_value = ", AscendC::ReduceOrder::ORDER_ONLY_VALUE"
    args = "{dst}, {src}, {mask}, {repeat}, {dst_rep}, {src_blk}, {src_rep}"
    old_args = args if kind == "sum" else args + only_value
    return Instr(
        key=key,
        name=name,
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(
                name="dst", spaces=UB, rw="w", span="(repeat - 1) * dst_rep + 1", align="itemsize"
            ),
            Operand(name="src", spaces=UB, rw="r", span=_repeat_span("src")),
        ),
        params=(
            Param(name="mask", type="int32_t", low=1, high=128),
            Param(name="repeat", type="int32_t", low=0, high=255),
            Param(name="dst_rep", type="int32_t", low=0, high=65535),
            Param(name="src_blk", type="int32_t", low=0, high=65535),
            Param(name="src_rep", type="int32_t", low=0, high=65535),
        ),
        dtypes=FLOATS,
        body=key,
        emit=f"AscendC::{name}<{{T}}>({old_args});",
        template=MASKED,
        renamed=(
            Renamed(
                cann="9.1",
                emit=(
                    f"AscendC::ReduceRepeat<AscendC::ReduceType::{kind.upper()}, {{T}}, "
                    f"{{T}}>({args + only_value});"
                ),
                template="ReduceType reduceType, typename T, typename U, bool isSetMask = true",
            ),
        ),
        timing=timing,
        doc=(
            f"One {kind} per repeat over its first `mask` lanes, by a pairwise tree; `dst_rep` in "
            f"elements."
        ),
        source="ASCEND 3.3",
    )


CAST_DTYPES = (
    ("float32", "float16"),
    ("float16", "float32"),
    ("float32", "bfloat16"),
    ("bfloat16", "float32"),
    ("float32", "int32"),
    ("int32", "float32"),
    ("float32", "int16"),
    ("int16", "float32"),
    ("float16", "int8"),
    ("int8", "float16"),
    ("float16", "uint8"),
    ("uint8", "float16"),
    ("float16", "int16"),
    ("int16", "float16"),
    ("int32", "float16"),
)

ROWS: tuple[Instr, ...] = (
    *_binary("add", "Add", "src0 + src1", NUMBERS, "vadd", "Adds lane by lane."),
    *_binary("sub", "Sub", "src0 - src1", NUMBERS, "vsub", "Subtracts lane by lane."),
    *_binary(
        "mul",
        "Mul",
        "src0 * src1",
        NUMBERS,
        "vmul",
        "Multiplies lane by lane; integers keep the low bits.",
    ),
    *_binary("div", "Div", "div(src0, src1)", FLOATS, "vdiv", "Divides lane by lane."),
    *_binary(
        "max", "Max", "max(src0, src1)", NUMBERS, "vmax", "Larger lane; NaN if either is NaN."
    ),
    *_binary(
        "min", "Min", "min(src0, src1)", NUMBERS, "vmin", "Smaller lane; NaN if either is NaN."
    ),
    _unary("exp", "Exp", "exp(src)", FLOATS, "vexp", "Raises e to each lane."),
    _unary(
        "ln", "Ln", "ln(src)", FLOATS, "vln", "Natural logarithm; ln(0) = -inf, ln(negative) = NaN."
    ),
    _unary("sqrt", "Sqrt", "sqrt(src)", FLOATS, "vsqrt", "Square root; negative gives NaN."),
    _unary(
        "rsqrt",
        "Rsqrt",
        "rsqrt(src)",
        FLOATS,
        "vrsqrt",
        "Reciprocal square root; low precision on the chip.",
    ),
    _unary(
        "reciprocal",
        "Reciprocal",
        "div(1, src)",
        FLOATS,
        "vrec",
        "Reciprocal; low precision on the chip.",
    ),
    _unary("abs", "Abs", "abs(src)", FLOATS, "vabs", "Absolute value."),
    _unary(
        "relu",
        "Relu",
        "relu(src)",
        (*FLOATS, ("int32",)),
        "vrelu",
        "max(x, 0); NaN passes, relu(-0) = 0.",
    ),
    _scalar("adds", "Adds", "src + scalar", NUMBERS, "vadds", "Adds a scalar to each lane."),
    _scalar("muls", "Muls", "src * scalar", NUMBERS, "vmuls", "Multiplies each lane by a scalar."),
    _scalar("maxs", "Maxs", "max(src, scalar)", NUMBERS, "vmaxs", "Larger of lane and scalar."),
    _scalar("mins", "Mins", "min(src, scalar)", NUMBERS, "vmins", "Smaller of lane and scalar."),
    Instr(
        key="cast",
        name="Cast",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(name="dst", spaces=UB, rw="w", span="count", dtype="T"),
            Operand(name="src", spaces=UB, rw="r", span="count", dtype="U"),
        ),
        params=(ROUND_MODE, Param(name="count", type="uint32_t", low=0, high=2**31 - 1)),
        types=("T", "U"),
        dtypes=CAST_DTYPES,
        body="cast",
        form="count",
        emit="AscendC::Cast({dst}, {src}, {round_mode}, {count});",
        timing="vconv",
        doc=(
            "Converts each lane to the dtype of dst with the given rounding; overflow saturates "
            "for integers."
        ),
        source="ASCEND 3.5",
    ),
    Instr(
        key="duplicate",
        name="Duplicate",
        pipe=Pipe.V,
        core=AIV,
        operands=(Operand(name="dst", spaces=UB, rw="w", span="count"),),
        params=(Param(name="scalar", type="T"), COUNT),
        dtypes=(*NUMBERS, ("bfloat16",), ("uint16",), ("uint32",)),
        lane="scalar",
        form="count",
        emit="AscendC::Duplicate({dst}, {scalar}, {count});",
        timing="vdup",
        doc="Fills lanes with a scalar.",
        source="ASCEND 3.4",
    ),
    Instr(
        key="brcb",
        name="Brcb",
        pipe=Pipe.V,
        core=AIV,
        operands=(
            Operand(
                name="dst",
                spaces=UB,
                rw="w",
                span="((repeat - 1) * dst_rep + 7 * dst_blk + 1) * block",
            ),
            Operand(name="src", spaces=UB, rw="r", span="8 * repeat"),
        ),
        params=(REPEAT, _stride("dst_blk", "uint16_t"), _stride("dst_rep", "uint16_t")),
        dtypes=(
            ("float16",),
            ("float32",),
            ("int16",),
            ("int32",),
            ("uint16",),
            ("uint32",),
            ("bfloat16",),
        ),
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
    _whole_reduce("whole_reduce_sum", "sum", "vcadd"),
    _whole_reduce("whole_reduce_max", "max", "vcmax"),
    _whole_reduce("whole_reduce_min", "min", "vcmin"),
)

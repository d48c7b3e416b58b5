# SPDX-License-Identifier: Apache-2.0
"""Rows of lane-wise arithmetic on the Vector pipe: binary, unary, with a scalar, and fused."""

from __future__ import annotations

from dataclasses import replace

from tvm_ascend.isa.forms import COUNT_U32, FLOATS, MASKS, NUMBERS, Dtypes, Family
from tvm_ascend.isa.instr import Instr, Param

BITWISE: Dtypes = (("int16",), ("uint16",))
SHIFTED: Dtypes = (("int16",), ("uint16",), ("int32",), ("uint32",))
RELU_SUMS: Dtypes = (("float16",), ("float32",), ("int16",))
WIDENING: Dtypes = (
    ("float16", "float16"),
    ("float32", "float32"),
    ("float32", "float16"),
)
NARROWING: Dtypes = (("float16", "float32"), ("int8", "float16"), ("int8", "int16"))
COUNT_PLAIN = Param(name="count", type="uint32_t", low=0, high=2**31 - 1, declared="uint32_t")


def _binary(key: str, name: str, lane: str, dtypes: Dtypes, timing: str, doc: str) -> Family:
    return Family(
        key=key,
        name=name,
        lane=lane,
        dtypes=dtypes,
        timing=timing,
        doc=doc,
        accumulates=key != "div",  # [doc: ASCEND 3.0]
    )


def _unary(key: str, name: str, lane: str, dtypes: Dtypes, timing: str, doc: str) -> Family:
    return Family(key=key, name=name, lane=lane, dtypes=dtypes, timing=timing, doc=doc, sources=1)


def _scalar(key: str, name: str, lane: str, dtypes: Dtypes, timing: str, doc: str) -> Family:
    return Family(
        key=key,
        name=name,
        lane=lane,
        dtypes=dtypes,
        timing=timing,
        doc=doc,
        sources=1,
        scalar=True,
    )


BINARY = (
    _binary("add", "Add", "src0 + src1", NUMBERS, "vadd", "Adds lane by lane."),
    _binary("sub", "Sub", "src0 - src1", NUMBERS, "vsub", "Subtracts lane by lane."),
    _binary(
        "mul",
        "Mul",
        "src0 * src1",
        NUMBERS,
        "vmul",
        "Multiplies lane by lane; integers keep the low bits.",
    ),
    _binary("div", "Div", "div(src0, src1)", FLOATS, "vdiv", "Divides lane by lane."),
    _binary("max", "Max", "max(src0, src1)", NUMBERS, "vmax", "Larger lane; NaN if either is NaN."),
    _binary(
        "min", "Min", "min(src0, src1)", NUMBERS, "vmin", "Smaller lane; NaN if either is NaN."
    ),
    _binary(
        "add_relu", "AddRelu", "relu(src0 + src1)", RELU_SUMS, "vaddrelu", "max(src0 + src1, 0)."
    ),
    _binary(
        "sub_relu", "SubRelu", "relu(src0 - src1)", RELU_SUMS, "vsubrelu", "max(src0 - src1, 0)."
    ),
    Family(
        key="bit_and",
        name="And",
        lane="bit_and(src0, src1)",
        dtypes=BITWISE,
        timing="vand",
        doc="Bitwise and; wider lanes are two of 16 bits.",
    ),
    Family(
        key="bit_or",
        name="Or",
        lane="bit_or(src0, src1)",
        dtypes=BITWISE,
        timing="vor",
        doc="Bitwise or; wider lanes are two of 16 bits.",
    ),
)

UNARY = (
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
    _unary(
        "bit_not",
        "Not",
        "bit_not(src)",
        BITWISE,
        "vnot",
        "Bitwise complement; wider lanes are two of 16 bits.",
    ),
)

SCALAR = (
    _scalar("adds", "Adds", "src + scalar", NUMBERS, "vadds", "Adds a scalar to each lane."),
    _scalar("muls", "Muls", "src * scalar", NUMBERS, "vmuls", "Multiplies each lane by a scalar."),
    _scalar("maxs", "Maxs", "max(src, scalar)", NUMBERS, "vmaxs", "Larger of lane and scalar."),
    _scalar("mins", "Mins", "min(src, scalar)", NUMBERS, "vmins", "Smaller of lane and scalar."),
    _scalar(
        "leaky_relu",
        "LeakyRelu",
        "leaky_relu(src, scalar)",
        FLOATS,
        "vlrelu",
        "Multiplies negative lanes by a scalar; NaN passes.",
    ),
    _scalar(
        "shift_left",
        "ShiftLeft",
        "shift_left(src, scalar)",
        SHIFTED,
        "vshl",
        "Shifts each lane left by a scalar; what leaves is lost.",
    ),
    _scalar(
        "shift_right",
        "ShiftRight",
        "shift_right(src, scalar)",
        SHIFTED,
        "vshr",
        "Shifts each lane right by a scalar; signed lanes keep their sign.",
    ),
)

FUSED = (
    Family(
        key="axpy",
        name="Axpy",
        lane="multiply_add(src, scalar, dst)",
        dtypes=WIDENING,
        types=("T", "U"),
        timing="vaxpy",
        sources=1,
        updates=True,
        scalar=True,
        doc=(
            "dst = src * scalar + dst; half lanes round once, float lanes after the product and "
            "after the sum [guess]."
        ),
    ),
    Family(
        key="mul_add_dst",
        name="MulAddDst",
        lane="multiply_add(src0, src1, dst)",
        dtypes=WIDENING,
        types=("T", "U"),
        timing="vmla",
        updates=True,
        doc="dst = src0 * src1 + dst; rounds as Axpy.",
    ),
    Family(
        key="fused_mul_add",
        name="FusedMulAdd",
        lane="multiply_add(src0, dst, src1)",
        dtypes=FLOATS,
        timing="vmadd",
        updates=True,
        doc="dst = src0 * dst + src1; rounds as Axpy.",
    ),
    Family(
        key="mul_add_relu",
        name="FusedMulAddRelu",
        renamed=("9.1", "MulAddRelu"),
        lane="relu(multiply_add(src0, dst, src1))",
        dtypes=FLOATS,
        timing="vmaddrelu",
        updates=True,
        doc="dst = max(src0 * dst + src1, 0); rounds as Axpy.",
    ),
    Family(
        key="add_relu_cast",
        name="AddReluCast",
        lane="relu(src0 + src1)",
        dtypes=NARROWING,
        types=("T", "U"),
        timing="vaddreluconv",
        count=COUNT_U32,
        doc="max(src0 + src1, 0), rounded to nearest even in the dtype of dst; integers saturate.",
    ),
    Family(
        key="sub_relu_cast",
        name="SubReluCast",
        lane="relu(src0 - src1)",
        dtypes=NARROWING,
        types=("T", "U"),
        timing="vsubreluconv",
        count=COUNT_U32,
        doc="max(src0 - src1, 0), rounded to nearest even in the dtype of dst; integers saturate.",
    ),
    Family(
        key="mul_cast",
        name="MulCast",
        lane="src0 * src1",
        dtypes=(("int8", "float16"), ("uint8", "float16")),
        types=("T", "U"),
        timing="vmulconv",
        count=COUNT_PLAIN,
        doc="src0 * src1 as half, then rounded to nearest even and saturated [guess: two steps].",
    ),
)


def _rounded(row: Instr) -> Instr:
    """The shift to the right with roundEn."""
    return replace(
        row,
        key=row.key.replace("shift_right", "shift_right_round"),
        dtypes=(("int16",), ("int32",)),
        lane="shift_right_round(src, scalar)",
        emit=row.emit.replace("));", "), true);"),
        doc=row.doc.replace(
            "signed lanes keep their sign", "the last bit that leaves is added, so halves round up"
        ),
    )


SHIFT_RIGHT = SCALAR[-1]
ROWS: tuple[Instr, ...] = (
    *(row for family in (*BINARY, *UNARY, *SCALAR, *FUSED) for row in family.rows()),
    *(_rounded(SHIFT_RIGHT.repeat_row(form)) for form in MASKS),
)

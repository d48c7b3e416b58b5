# SPDX-License-Identifier: Apache-2.0
"""Rows of the Cube: the matrix multiply and the Fixpipe that drains L0C."""

from __future__ import annotations

from dataclasses import replace

from tvm_ascend.isa.instr import CoreType, Instr, Operand, Param, Pipe, Space

AIC = (CoreType.AIC,)


def _u16(name: str, high: int) -> Param:
    return Param(name=name, type="uint16_t", low=0, high=high)


QUANT_PRE = Param(
    name="quant_pre",
    type="enum:QuantMode_t",
    values=(
        *("NoQuant", "F322F16", "F322BF16", "DEQF16", "QF322B8_PRE", "REQ8"),
        *("VDEQF16", "VQF322B8_PRE", "VREQ8"),
    ),
    spelling="QuantMode_t::{}",
)
DRAINS = {
    ("float32", "float32"): "NoQuant",
    ("float16", "float32"): "F322F16",
    ("bfloat16", "float32"): "F322BF16",
    ("int32", "int32"): "NoQuant",
}
"""What L0C is stored as without a scale: (stored, accumulated) -> quant_pre."""
_CYCLES = (
    "MMAD_ISSUE + ceildiv(m, 16) * ceildiv(n, 16) * ceildiv(k, block_a) * max(1, (itemsize_a - 2) "
    "* (1 - hf32))"
)
_SIZES = (_u16("m", 4095), _u16("n", 4095), _u16("k", 4095))
_INIT = Param(name="init", type="bool", low=0, high=1)
_K_ALIGN = Param(name="k_direction_align", type="bool", low=0, high=1)
PRODUCTS = (
    ("float32", "float16", "float16"),
    ("float32", "bfloat16", "bfloat16"),
    ("float32", "float32", "float32"),
    ("int32", "int8", "int8"),
)
UNIT_FLAG = Param(name="unit_flag", type="uint8_t", low=2, high=3)
UNIT_DOC = (
    " Waits for each 512 bytes of L0C by their flag, {wanted}; unit_flag 3 turns the flags, 2 "
    "leaves them as they were."
)
WRITES_UNITS = UNIT_DOC.format(wanted="until it is down")
READS_UNITS = UNIT_DOC.format(wanted="until it is up")
_ALIGNED = """\
{{{{
  AscendC::MmadParams mmadParams({{m}}, {{n}}, {{k}}, {unit_flag}, false, {init});
  mmadParams.kDirectionAlign = {{k_direction_align}};
  AscendC::Mmad({{dst}}, {{a}}, {{b}}, {bias}mmadParams);
}}}}"""


def _operands(dst_rw: str, a_columns: str) -> tuple[Operand, ...]:
    return (
        Operand(
            name="dst",
            spaces=(Space.L0C,),
            rw=dst_rw,
            span="ceildiv(m, 16) * ceildiv(n, 16) * 256",
            dtype="C",
            align="1024",
        ),
        Operand(
            name="a",
            spaces=(Space.L0A,),
            rw="r",
            span=f"ceildiv(m, 16) * {a_columns} * fractal",
            dtype="A",
        ),
        Operand(
            name="b",
            spaces=(Space.L0B,),
            rw="r",
            span="ceildiv(n, 16) * ceildiv(k, block) * fractal",
            dtype="B",
        ),
    )


_PLAIN: tuple[Instr, ...] = (
    Instr(
        key="mmad",
        name="Mmad",
        pipe=Pipe.M,
        core=AIC,
        operands=_operands("rw", "ceildiv(k, block)"),
        params=(*_SIZES, _INIT),
        types=("C", "A", "B"),
        dtypes=PRODUCTS,
        body="mmad",
        emit=(
            "AscendC::Mmad({dst}, {a}, {b}, AscendC::MmadParams({m}, {n}, {k}, 0, false, {init}));"
        ),
        cycles=_CYCLES,
        latency="MMAD_LATENCY",
        doc=(
            "dst[m, n] (+)= a[m, k] b[k, n]; L0A is ZZ, or for m = 1 one row of k elements, L0B is "
            "ZN, L0C is NZ; init starts the sum at zero."
        ),
        source="ASCEND 2.2, 3.9, 5.4, 5.5b",
    ),
    Instr(
        key="mmad_aligned",
        name="Mmad",
        pipe=Pipe.M,
        core=AIC,
        operands=_operands("rw", "ceildiv(k, 16) * 2"),
        params=(*_SIZES, _INIT, _K_ALIGN),
        types=("C", "A", "B"),
        dtypes=(("float32", "float32", "float32"),),
        body="mmad",
        emit=_ALIGNED.format(init="{init}", bias="", unit_flag="0"),
        cycles=_CYCLES,
        latency="MMAD_LATENCY",
        doc=(
            "Mmad of float32; with k_direction_align the rows of fractals of L0A are padded to an "
            "even number, as the transposing LoadData leaves them."
        ),
        source="ASCEND 2.3, 3.9",
    ),
    Instr(
        key="mmad_bias",
        name="Mmad",
        pipe=Pipe.M,
        core=AIC,
        operands=(
            *_operands("w", "ceildiv(k, 16) * max(1, 16 // block)"),
            Operand(name="bias", spaces=(Space.BT,), rw="r", span="n", dtype="V"),
        ),
        params=(*_SIZES, _K_ALIGN),
        types=("C", "A", "B", "V"),
        dtypes=tuple((*d, d[0]) for d in PRODUCTS),
        body="mmad",
        emit=_ALIGNED.format(init="true", bias="{bias}, ", unit_flag="0"),
        cycles=_CYCLES,
        latency="MMAD_LATENCY",
        doc="dst[m, n] = a[m, k] b[k, n] + bias[n], with the biases of the bias table.",
        source="ASCEND 3.9",
    ),
    Instr(
        key="fixpipe",
        name="Fixpipe",
        pipe=Pipe.FIX,
        core=AIC,
        operands=(
            Operand(
                name="dst",
                spaces=(Space.GM,),
                rw="w",
                span="(m_size - 1) * dst_stride + n_size",
                dtype="T",
            ),
            Operand(
                name="src",
                spaces=(Space.L0C,),
                rw="r",
                span="((ceildiv(n_size, 16) - 1) * src_stride + m_size) * 16",
                dtype="U",
            ),
        ),
        params=(
            _u16("n_size", 4095),
            _u16("m_size", 8192),
            _u16("src_stride", 65535),
            Param(name="dst_stride", type="uint32_t", low=0, high=2**32 - 1),
            Param(name="relu", type="bool", low=0, high=1),
            QUANT_PRE,
        ),
        types=("T", "U"),
        dtypes=tuple(DRAINS),
        body="fixpipe",
        emit=(
            "AscendC::Fixpipe<{T}, {U}, AscendC::CFG_ROW_MAJOR>({dst}, {src}, "
            "AscendC::FixpipeParamsV220({n_size}, {m_size}, {src_stride}, {dst_stride}, {relu}, "
            "{quant_pre}, 0, 1, 1, 1, 0));"
        ),
        template="typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR",
        cycles=(
            "max(m_size * n_size / FIXPIPE_ELEMENTS_PER_CYCLE, fixpipe_write(m_size, n_size * "
            "itemsize))"
        ),
        latency="FIXPIPE_LATENCY",
        doc=(
            "Drains an L0C tile to row-major GM: m_size rows of n_size elements, src_stride is "
            "L0C rows (aligned to 16), dst_stride the row pitch of GM in elements; quant_pre "
            "casts without a scale, relu is applied before the cast."
        ),
        source="ASCEND 3.10, 5.4",
    ),
)


def by_units(row: Instr, emit: str, doc: str) -> Instr:
    """A row with the flags of units of L0C."""
    return replace(
        row,
        key=f"{row.key}_unit_flag",
        params=(*row.params, UNIT_FLAG),
        emit=emit,
        doc=row.doc + doc,
    )


_MMAD, _, _BIAS, _FIXPIPE = _PLAIN
ROWS = (
    *_PLAIN,
    by_units(_MMAD, _MMAD.emit.replace("{k}, 0,", "{k}, {unit_flag},"), WRITES_UNITS),
    by_units(
        _BIAS,
        _ALIGNED.format(init="true", bias="{bias}, ", unit_flag="{unit_flag}"),
        WRITES_UNITS,
    ),
    by_units(_FIXPIPE, _FIXPIPE.emit.replace("1, 1, 1, 0)", "1, 1, 1, {unit_flag})"), READS_UNITS),
)

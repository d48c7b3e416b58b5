# SPDX-License-Identifier: Apache-2.0
"""Rows of the Cube: the matrix multiply and the Fixpipe that drains L0C."""

from __future__ import annotations

from tvm_ascend.isa.instr import CoreType, Instr, Operand, Param, Pipe, Space

AIC = (CoreType.AIC,)


def _u16(name: str, high: int) -> Param:
    return Param(name=name, type="uint16_t", low=0, high=high)


ROWS: tuple[Instr, ...] = (
    Instr(
        key="mmad",
        name="Mmad",
        pipe=Pipe.M,
        core=AIC,
        operands=(
            Operand(
                name="dst",
                spaces=(Space.L0C,),
                rw="rw",
                span="ceildiv(m, 16) * ceildiv(n, 16) * 256",
                dtype="C",
                align="1024",
            ),
            Operand(
                name="a",
                spaces=(Space.L0A,),
                rw="r",
                span="ceildiv(m, 16) * ceildiv(k, block) * fractal",
                dtype="A",
            ),
            Operand(
                name="b",
                spaces=(Space.L0B,),
                rw="r",
                span="ceildiv(n, 16) * ceildiv(k, block) * fractal",
                dtype="B",
            ),
        ),
        params=(
            _u16("m", 4095),
            _u16("n", 4095),
            _u16("k", 4095),
            Param(name="init", type="bool", low=0, high=1),
        ),
        types=("C", "A", "B"),
        dtypes=(
            ("float32", "float16", "float16"),
            ("float32", "bfloat16", "bfloat16"),
            ("int32", "int8", "int8"),
        ),
        body="mmad",
        emit=(
            "AscendC::Mmad({dst}, {a}, {b}, AscendC::MmadParams({m}, {n}, {k}, 0, false, {init}));"
        ),
        cycles="MMAD_ISSUE + ceildiv(m, 16) * ceildiv(n, 16) * ceildiv(k, block_a)",
        latency="MMAD_LATENCY",
        doc=(
            "dst[m, n] (+)= a[m, k] b[k, n]; L0A is ZZ, L0B is ZN, L0C is NZ; init starts the sum "
            "at zero."
        ),
        source="ASCEND 2.2, 3.9, 5.4, 5.5b",
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
            Param(
                name="quant_pre",
                type="enum:QuantMode_t",
                values=("NoQuant", "F322F16", "F322BF16"),
                spelling="QuantMode_t::{}",
            ),
        ),
        types=("T", "U"),
        dtypes=(
            ("float32", "float32"),
            ("float16", "float32"),
            ("bfloat16", "float32"),
            ("int32", "int32"),
        ),
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
            "casts, relu is applied before the cast."
        ),
        source="ASCEND 3.10, 5.4",
    ),
)

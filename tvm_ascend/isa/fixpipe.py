# SPDX-License-Identifier: Apache-2.0
"""Rows of the Fixpipe with quantisation, several matrices, NZ results, and results in L1."""

from __future__ import annotations

from dataclasses import dataclass

from tvm_ascend.isa.cube import QUANT_PRE, READS_UNITS, by_units
from tvm_ascend.isa.instr import CoreType, Instr, Operand, Param, Pipe, Space

AIC = (CoreType.AIC,)
GM, L1, L0C, FB = (Space.GM,), (Space.L1,), (Space.L0C,), (Space.FB,)
NARROW = (
    *(("float16", "float32"), ("bfloat16", "float32"), ("int8", "float32"), ("uint8", "float32")),
    *(("float16", "int32"), ("int8", "int32"), ("uint8", "int32")),
)
SCALED = tuple(d for d in NARROW if d not in {("float16", "float32"), ("bfloat16", "float32")})
ALL = (*NARROW, ("float32", "float32"), ("int32", "int32"))


def _u16(name: str, high: int, declared: str = "") -> Param:
    return Param(name=name, type="uint16_t", low=0, high=high, declared=declared)


def _flag(name: str, ctype: str = "bool") -> Param:
    return Param(name=name, type=ctype, low=0, high=1)


_WORD = Param(name="deq_scalar", type="uint64_t", low=0, high=2**63 - 1)
_DST_STRIDE = Param(name="dst_stride", type="uint32_t", low=0, high=2**32 - 1)
_SPAN_ND = "(nd_num - 1) * dst_nd_stride + (m_size - 1) * dst_stride + n_size"
_SRC_TILE = "((ceildiv(n_size, 16) - 1) * src_stride + m_size) * 16"
_DRAIN = "{count}m_size * n_size / FIXPIPE_ELEMENTS_PER_CYCLE"
_QUANTISED = (
    "quant_pre says how elements change: casts need no scale, the others multiply by one (of which "
    "10 mantissa bits count), add an offset and saturate, all as deq_scalar or the words of scale "
    "tell; relu comes first."
)


@dataclass(frozen=True, kw_only=True)
class _Form:
    """One layout of the result."""

    suffix: str
    space: tuple[Space, ...]
    config: str
    params: tuple[Param, ...]
    rest: str  # what follows deqScalar in the constructor
    span: str
    src_span: str
    cycles: str
    body: str
    dtypes: tuple[tuple[str, str], ...]
    doc: str

    def rows(self, vector: bool) -> tuple[Instr, Instr]:
        """Without and with the flags of units of L0C."""
        row = self.row(vector, "0")
        return row, by_units(row, self.row(vector, "{unit_flag}").emit, READS_UNITS)

    def row(self, vector: bool, unit: str) -> Instr:
        """With one scale for the tile, or with one for each column in L1."""
        scale = Operand(name="scale", spaces=L1, rw="r", span="n_size", dtype="uint64")
        cycles = f"{self.cycles} + n_size * 8 / TABLE_BYTES_PER_CYCLE" if vector else self.cycles
        template = "typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR"
        if vector:
            template += ", typename S = uint64_t"
        return Instr(
            key=f"fixpipe_{self.suffix}{'_vector' if vector else ''}",
            name="Fixpipe",
            pipe=Pipe.FIX,
            core=AIC,
            operands=(
                Operand(name="dst", spaces=self.space, rw="w", span=self.span, dtype="T"),
                Operand(name="src", spaces=L0C, rw="r", span=self.src_span, dtype="U"),
                *((scale,) if vector else ()),
            ),
            params=(
                _u16("n_size", 4095),
                _u16("m_size", 8192 if self.suffix == "nd" else 65535),
                _u16("src_stride", 65535),
                _DST_STRIDE,
                _flag("relu"),
                QUANT_PRE,
                *(() if vector else (_WORD,)),
                *self.params,
            ),
            types=("T", "U"),
            dtypes=tuple(d for d in self.dtypes if not vector or d in SCALED),
            body=self.body,
            emit=(
                f"AscendC::Fixpipe<{{T}}, {{U}}, AscendC::{self.config}>({{dst}}, {{src}}, "
                f"{'{scale}, ' if vector else ''}AscendC::FixpipeParamsV220({{n_size}}, "
                f"{{m_size}}, {{src_stride}}, {{dst_stride}}, {{relu}}, {{quant_pre}}, "
                f"{'0' if vector else '{deq_scalar}'}, {self.rest.replace('{unit}', unit)}));"
            ),
            template=template,
            cycles=cycles,
            latency="FIXPIPE_LATENCY",
            doc=f"{self.doc} {_QUANTISED}",
            source="ASCEND 3.10, 5.4",
        )


_NZ_SPAN = (
    "(ceildiv(n_size, max(block, {narrowest})) - 1) * dst_stride * block + m_size * max(block, 16)"
)
FORMS = (
    _Form(
        suffix="nd",
        space=GM,
        config="CFG_ROW_MAJOR",
        params=(
            _u16("nd_num", 65535),
            _u16("src_nd_stride", 512),
            _u16("dst_nd_stride", 65535),
        ),
        rest="{nd_num}, {src_nd_stride}, {dst_nd_stride}, {unit}",
        span=_SPAN_ND,
        src_span=f"(nd_num - 1) * src_nd_stride * 256 + {_SRC_TILE}",
        cycles=(
            f"max({_DRAIN.format(count='nd_num * ')}, fixpipe_write(nd_num * m_size, n_size * "
            "itemsize))"
        ),
        body="fixpipe",
        dtypes=ALL,
        doc=(
            "Drains nd_num L0C tiles, src_nd_stride KB apart, to row-major matrices of GM, "
            "dst_nd_stride elements apart, with a row pitch of dst_stride elements."
        ),
    ),
    _Form(
        suffix="nz",
        space=GM,
        config="CFG_NZ",
        params=(_flag("channel_split"),),
        rest="1, 0, 0, {unit}, {channel_split}",
        span=_NZ_SPAN.format(narrowest="16 - 8 * channel_split"),
        src_span=_SRC_TILE,
        cycles=(
            f"max({_DRAIN.format(count='')}, fixpipe_write(ceildiv(n_size, 16), m_size * 16 * "
            "itemsize))"
        ),
        body="fixpipe_nz",
        dtypes=ALL,
        doc=(
            "Drains an L0C tile to columns of fractals in GM, dst_stride 32-byte blocks apart; "
            "8-bit results merge pairs of columns, channel_split halves those of float32."
        ),
    ),
    _Form(
        suffix="l1",
        space=L1,
        config="CFG_NZ",
        params=(),
        rest="1, 0, 0, {unit}, false",
        span=_NZ_SPAN.format(narrowest="16"),
        src_span=_SRC_TILE,
        cycles="LOAD_DATA_ISSUE + m_size * n_size / FIXPIPE_L1_ELEMENTS_PER_CYCLE",
        body="fixpipe_nz",
        dtypes=NARROW,
        doc=(
            "Drains an L0C tile to columns of fractals in L1, dst_stride 32-byte blocks apart; "
            "8-bit results merge pairs of columns."
        ),
    ),
)


# The number of matrices and their distance are in registers.
ANYTHING = str(2**30)


def _co12(suffix: str, space: tuple[Space, ...], flags: str, params: tuple[Param, ...]) -> Instr:
    """The form whose scale and matrix count come from registers."""
    return Instr(
        key=f"data_copy_co12_{suffix}",
        name="DataCopy",
        pipe=Pipe.FIX,
        core=AIC,
        operands=(
            Operand(
                name="dst",
                spaces=space,
                rw="w",
                span=ANYTHING if params else _NZ_SPAN.format(narrowest="16"),
                dtype="T",
            ),
            Operand(name="src", spaces=L0C, rw="r", span="32768", dtype="U"),
        ),
        params=(
            _u16("n_size", 4095),
            _u16("m_size", 65535),
            _DST_STRIDE,
            _u16("src_stride", 65535),
            QUANT_PRE,
            _flag("relu", "uint8_t"),
            *params,
        ),
        types=("T", "U"),
        dtypes=ALL if params else NARROW,
        body="data_copy_co12",
        emit=(
            "AscendC::DataCopy({dst}, {src}, AscendC::DataCopyCO12DstParams({n_size}, {m_size}, "
            f"{{dst_stride}}, {{src_stride}}, {{quant_pre}}, {{relu}}, {flags}));"
        ),
        cycles=(
            f"max({_DRAIN.format(count='max(1, nd_num) * ')}, fixpipe_write(m_size, n_size * "
            "itemsize))"
            if params
            else "LOAD_DATA_ISSUE + m_size * n_size / FIXPIPE_L1_ELEMENTS_PER_CYCLE"
        ),
        latency="FIXPIPE_LATENCY",
        doc=(
            f"Drains an L0C tile to {space[0].value} like Fixpipe, with the scale of "
            "set_quant_pre, or the scales at set_fixpipe_config."
        ),
        source="ASCEND 3.8, 3.10",
    )


ROWS: tuple[Instr, ...] = (
    *(row for form in FORMS for vector in (False, True) for row in form.rows(vector)),
    _co12("gm", GM, "{channel_split}, {nz2nd}", (_flag("channel_split"), _flag("nz2nd"))),
    _co12("l1", L1, "false, false", ()),
    Instr(
        key="set_fixpipe_config",
        name="SetFixPipeConfig",
        pipe=Pipe.S,
        core=AIC,
        operands=(Operand(name="pre", spaces=FB, rw="r", span="1", dtype="uint64"),),
        params=(),
        types=(),
        dtypes=((),),
        sets={"quant_pre_address": "pre"},
        emit="AscendC::SetFixPipeConfig({pre});",
        template="typename T = uint64_t, bool setRelu = false",
        cycles="REGISTER_ISSUE",
        doc="Where in the fixpipe buffer later copies out of L0C find the words of each column.",
        source="ASCEND 3.10",
    ),
    Instr(
        key="set_quant_pre",
        name="SetFixpipePreQuantFlag",
        pipe=Pipe.S,
        core=AIC,
        operands=(),
        params=(Param(name="config", type="uint64_t", low=0, high=2**63 - 1, declared="uint64_t"),),
        types=(),
        dtypes=((),),
        sets={"quant_pre": "config"},
        emit="AscendC::SetFixpipePreQuantFlag({config});",
        cycles="REGISTER_ISSUE",
        doc="The scale of later copies out of L0C.",
        source="ASCEND 3.10",
    ),
    Instr(
        key="set_fixpipe_nz2nd",
        name="SetFixpipeNz2ndFlag",
        pipe=Pipe.S,
        core=AIC,
        operands=(),
        params=(
            _u16("nd_num", 65535, "uint16_t"),
            _u16("src_nd_stride", 512, "uint16_t"),
            _u16("dst_nd_stride", 65535, "uint16_t"),
        ),
        types=(),
        dtypes=((),),
        sets={name: name for name in ("nd_num", "src_nd_stride", "dst_nd_stride")},
        emit="AscendC::SetFixpipeNz2ndFlag({nd_num}, {src_nd_stride}, {dst_nd_stride});",
        cycles="REGISTER_ISSUE",
        doc="How many matrices later row-major copies out of L0C hold, and their distances.",
        source="ASCEND 3.10",
    ),
)

# SPDX-License-Identifier: Apache-2.0
"""Rows that move data: MTE2 (into the core), MTE1 (L1 to L0), MTE3 (out of UB)."""

from __future__ import annotations

from dataclasses import replace

from tvm_ascend.isa.instr import CoreType, Instr, Operand, Param, Pipe, Renamed, Space

ANY = tuple(
    (t,)
    for t in (
        "float16",
        "bfloat16",
        "float32",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
    )
)
PADDED = (*ANY, ("int64",), ("uint64",))
BLOCK_COUNT = Param(name="block_count", type="uint16_t", low=0, high=4095)
BLOCK_LEN = Param(name="block_len", type="uint32_t", low=0, high=2097151)

_GM_SPAN = "((block_count - 1) * (block_len + {gm}_stride) + block_len) // itemsize"
_UB_SPAN = "((block_count - 1) * ({row} + {ub}_stride) + {row}) * block"
_ROW = "ceildiv(block_len, 32)"
_PADDED_ROW = "ceildiv(block_len + (left_padding + right_padding) * itemsize, 32)"


def _u16(name: str, low: int = 0, high: int = 65535) -> Param:
    return Param(name=name, type="uint16_t", low=low, high=high)


_FILLED_16 = (
    "AscendC::InitConstValueParams<int16_t>({repeat_times}, {block_num}, {dst_gap}, {value})"
)

FILL_L1 = Instr(
    key="fill_l1",
    name="InitConstValue",
    pipe=Pipe.MTE2,
    core=(CoreType.AIC,),
    operands=(
        Operand(
            name="dst",
            spaces=(Space.L1,),
            rw="w",
            span="((repeat_times - 1) * (block_num + dst_gap) + block_num) * block",
        ),
    ),
    params=(
        _u16("repeat_times", 0, 32767),
        _u16("block_num", 0, 32767),
        _u16("dst_gap", 0, 32767),
        Param(name="value", type="T"),
    ),
    dtypes=(
        ("float16",),
        ("bfloat16",),
        ("float32",),
        ("int32",),
        ("int16",),
        ("uint16",),
        ("uint32",),
    ),
    body="fill_matrix",
    emit=(
        "AscendC::InitConstValue({dst}, AscendC::InitConstValueParams<{T}>({repeat_times}, "
        "{block_num}, {dst_gap}, {value}));"
    ),
    renamed=(
        Renamed(
            cann="9.0",
            emit=(
                "AscendC::Fill({dst}, AscendC::InitConstValueParams<{T}>({repeat_times}, "
                "{block_num}, {dst_gap}, {value}));"
            ),
        ),
    ),
    cycles="ceildiv(repeat_times * block_num * 32, L1_FILL_BYTES_PER_CYCLE)",
    doc="Fills repeat_times groups of block_num 32-byte blocks of L1, dst_gap blocks apart.",
    source="ASCEND 3.4, 5.4",
)

ROWS: tuple[Instr, ...] = (
    Instr(
        key="data_copy_pad_in",
        name="DataCopyPad",
        pipe=Pipe.MTE2,
        core=(CoreType.AIV,),
        operands=(
            Operand(
                name="dst",
                spaces=(Space.UB,),
                rw="w",
                span=_UB_SPAN.format(ub="dst", row=_PADDED_ROW),
            ),
            Operand(name="src", spaces=(Space.GM,), rw="r", span=_GM_SPAN.format(gm="src")),
        ),
        params=(
            BLOCK_COUNT,
            BLOCK_LEN,
            Param(name="src_stride", type="uint32_t", low=0, high=2**32 - 1),
            Param(name="dst_stride", type="uint32_t", low=0, high=2**32 - 1),
            Param(name="is_pad", type="bool", low=0, high=1),
            Param(name="left_padding", type="uint8_t", low=0, high=31),
            Param(name="right_padding", type="uint8_t", low=0, high=31),
            Param(name="padding_value", type="T"),
        ),
        dtypes=PADDED,
        body="data_copy_pad_in",
        emit=(
            "AscendC::DataCopyPad({dst}, {src}, AscendC::DataCopyExtParams({block_count}, "
            "{block_len}, {src_stride}, {dst_stride}, 0), "
            "AscendC::DataCopyPadExtParams<{T}>({is_pad}, {left_padding}, {right_padding}, "
            "{padding_value}));"
        ),
        cycles="gm_read(block_count, block_len, src_stride)",
        latency="GM_READ_LATENCY",
        doc=(
            "Loads block_count rows of block_len bytes from GM; src_stride is the gap in bytes, "
            "dst_stride the gap in 32-byte blocks. Without is_pad the rest of a row's last block "
            "is undefined for the program."
        ),
        source="ASCEND 3.8",
    ),
    Instr(
        key="data_copy_pad_out",
        name="DataCopyPad",
        pipe=Pipe.MTE3,
        core=(CoreType.AIV,),
        operands=(
            Operand(name="dst", spaces=(Space.GM,), rw="w", span=_GM_SPAN.format(gm="dst")),
            Operand(
                name="src", spaces=(Space.UB,), rw="r", span=_UB_SPAN.format(ub="src", row=_ROW)
            ),
        ),
        params=(
            BLOCK_COUNT,
            BLOCK_LEN,
            Param(name="src_stride", type="uint32_t", low=0, high=2**32 - 1),
            Param(name="dst_stride", type="uint32_t", low=0, high=2**32 - 1),
        ),
        dtypes=PADDED,
        body="data_copy_pad_out",
        emit=(
            "AscendC::DataCopyPad({dst}, {src}, AscendC::DataCopyExtParams({block_count}, "
            "{block_len}, {src_stride}, {dst_stride}, 0));"
        ),
        cycles="gm_write(block_count, block_len, dst_stride)",
        latency="GM_WRITE_LATENCY",
        doc=(
            "Stores block_count rows of block_len bytes to GM; src_stride in 32-byte blocks, "
            "dst_stride in bytes."
        ),
        source="ASCEND 3.8",
    ),
    Instr(
        key="data_copy_nd2nz",
        name="DataCopy",
        pipe=Pipe.MTE2,
        core=(CoreType.AIC,),
        operands=(
            Operand(
                name="dst",
                spaces=(Space.L1,),
                rw="w",
                span=(
                    "(nd_num - 1) * dst_nz_matrix_stride + (ceildiv(d_value, block) - 1) * "
                    "dst_nz_c0_stride * block + ((n_value - 1) * dst_nz_n_stride + 1) * block"
                ),
            ),
            Operand(
                name="src",
                spaces=(Space.GM,),
                rw="r",
                span="(nd_num - 1) * src_nd_matrix_stride + (n_value - 1) * src_d_value + d_value",
            ),
        ),
        params=(
            _u16("nd_num", 0, 4095),
            _u16("n_value", 0, 16384),
            _u16("d_value"),
            _u16("src_nd_matrix_stride"),
            _u16("src_d_value", 1),
            _u16("dst_nz_c0_stride", 0, 16384),
            _u16("dst_nz_n_stride", 0, 16384),
            _u16("dst_nz_matrix_stride"),
        ),
        dtypes=ANY,
        body="data_copy_nd2nz",
        emit=(
            "AscendC::DataCopy({dst}, {src}, AscendC::Nd2NzParams({nd_num}, {n_value}, {d_value}, "
            "{src_nd_matrix_stride}, {src_d_value}, {dst_nz_c0_stride}, {dst_nz_n_stride}, "
            "{dst_nz_matrix_stride}));"
        ),
        cycles="gm_read_nd2nz(nd_num * n_value, d_value * itemsize, src_d_value * itemsize)",
        latency="GM_READ_LATENCY",
        doc=(
            "Loads nd_num matrices (src_nd_matrix_stride and dst_nz_matrix_stride elements apart) "
            "of n_value rows of d_value elements (row pitch src_d_value elements) and lays them "
            "out NZ; the last 32-byte column group is zero-filled past d_value. Other strides of "
            "dst in 32-byte blocks."
        ),
        source="ASCEND 2.3, 3.8",
    ),
    FILL_L1,
    replace(
        FILL_L1,
        key="fill_l1_bytes",
        params=(*FILL_L1.params[:-1], Param(name="value", type="int16_t", low=-32768, high=32767)),
        dtypes=(("int8",), ("uint8",)),
        emit=f"AscendC::InitConstValue({{dst}}.ReinterpretCast<int16_t>(), {_FILLED_16});",
        renamed=(
            Renamed(
                cann="9.0",
                emit=f"AscendC::Fill({{dst}}.ReinterpretCast<int16_t>(), {_FILLED_16});",
            ),
        ),
        doc=(
            "Fills groups of 32-byte blocks of L1 that hold bytes, by way of a view as int16: each "
            "pair of bytes gets value."
        ),
    ),
    Instr(
        key="load_data_2d",
        name="LoadData",
        pipe=Pipe.MTE1,
        core=(CoreType.AIC,),
        operands=(
            Operand(
                name="dst",
                spaces=(Space.L0A, Space.L0B),
                rw="w",
                span="((repeat_times - 1) * (dst_gap + 1) + 1) * fractal",
            ),
            Operand(
                name="src",
                spaces=(Space.L1,),
                rw="r",
                span="(start_index + (repeat_times - 1) * src_stride + 1) * fractal",
            ),
        ),
        params=(
            _u16("start_index"),
            Param(name="repeat_times", type="uint8_t", low=0, high=255),
            _u16("src_stride"),
            _u16("dst_gap"),
            Param(name="if_transpose", type="bool", low=0, high=1),
        ),
        dtypes=tuple(
            (t,) for t in ("float16", "bfloat16", "float32", "int8", "uint8", "int32", "uint32")
        ),
        body="load_data_2d",
        emit=(
            "AscendC::LoadData({dst}, {src}, AscendC::LoadData2DParams({start_index}, "
            "{repeat_times}, {src_stride}, 0, {dst_gap}, {if_transpose}, 0));"
        ),
        cycles="LOAD_DATA_ISSUE + repeat_times * 512 / l0_bytes_per_cycle(dst)",
        latency="LOAD_DATA_LATENCY",
        doc=(
            "Copies repeat_times 512-byte fractals from L1 to L0A or L0B; src_stride is start to "
            "start in fractals, dst_gap the gap in fractals; if_transpose transposes each 16x16 "
            "fractal of a 16-bit dtype."
        ),
        source="ASCEND 2.4, 5.4",
    ),
)

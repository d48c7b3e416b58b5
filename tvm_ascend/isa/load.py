# SPDX-License-Identifier: Apache-2.0
"""Rows that fill L0A and L0B, beside LoadData 2D: transposed, img2col, constant, and from GM."""

from __future__ import annotations

from tvm_ascend.isa.instr import CoreType, Instr, Operand, Param, Pipe, Renamed, Space
from tvm_ascend.isa.registers import FMATRIX, SIDES

AIC = (CoreType.AIC,)
L0 = (Space.L0A, Space.L0B)
WORDS = tuple((t,) for t in ("float16", "bfloat16", "float32", "int8", "uint8", "int32", "uint32"))
FILLED = tuple(
    (t,) for t in ("float16", "bfloat16", "float32", "int32", "int16", "uint16", "uint32")
)


def _u16(name: str, low: int = 0, high: int = 65535, declared: str = "") -> Param:
    return Param(name=name, type="uint16_t", low=low, high=high, declared=declared)


def _u8(name: str, low: int = 0, high: int = 255) -> Param:
    return Param(name=name, type="uint8_t", low=low, high=high)


def _fmatrix(side: str) -> Instr:
    """The description of the feature map in L1 that LoadData 3D reads."""
    pads = ", ".join(f"{{{name}}}" for name in FMATRIX[2:])
    return Instr(
        key=f"set_fmatrix_{side}",
        name="SetFmatrix",
        pipe=Pipe.S,
        core=AIC,
        operands=(),
        params=(
            *(_u16(name, 0, 32767, "uint16_t") for name in FMATRIX[:2]),
            *(_u8(name) for name in FMATRIX[2:]),
        ),
        types=(),
        dtypes=((),),
        sets={f"{side}_{name}": name for name in FMATRIX},
        emit=(
            f"{{{{\n  const uint8_t padList[4] = {{{{{pads}}}}};\n"
            f"  AscendC::SetFmatrix({{l1_h}}, {{l1_w}}, padList, "
            f"AscendC::FmatrixMode::FMATRIX_{side.upper()});\n}}}}"
        ),
        cycles="REGISTER_ISSUE",
        doc=(
            f"Describes the {side} feature map in L1 to later LoadData: l1_h rows of l1_w pixels, "
            "and how many pixels of padding surround it."
        ),
        source="ASCEND 2.3, 2.4",
    )


# What L1 holds of pixels of 32 bytes.
_MOST_PIXELS = 16384
_PIXELS = "ceildiv(m_extension, 16) * ceildiv(k_extension, block) * 512"
_SLOWER = "min(1, max(filter_h, stride_w) - 1) * (min(1, filter_h - 1) * filter_h + 2 * stride_w)"

ROWS: tuple[Instr, ...] = (
    Instr(
        key="load_data_transpose",
        name="LoadDataWithTranspose",
        pipe=Pipe.MTE1,
        core=AIC,
        operands=(
            Operand(
                name="dst",
                spaces=L0,
                rw="w",
                span="((repeat_times - 1) * (dst_gap + 1) + (dst_frac_gap + 1) + 1) * fractal",
            ),
            Operand(
                name="src",
                spaces=(Space.L1,),
                rw="r",
                span="(start_index + (repeat_times - 1) * src_stride + 1) * 2 * fractal",
            ),
        ),
        params=(
            _u16("start_index"),
            _u8("repeat_times"),
            _u16("src_stride"),
            _u16("dst_gap"),
            _u16("dst_frac_gap"),
        ),
        dtypes=WORDS,
        body="load_data_transpose",
        emit=(
            "AscendC::LoadDataWithTranspose({dst}, {src}, AscendC::LoadData2dTransposeParams("
            "{start_index}, {repeat_times}, {src_stride}, {dst_gap}, {dst_frac_gap}, 0));"
        ),
        cycles=(
            "LOAD_DATA_ISSUE + repeat_times * max(2 - itemsize // 2 * 2, itemsize // 2) * 512 / "
            "l0_bytes_per_cycle(dst)"
        ),
        latency="LOAD_DATA_LATENCY",
        doc=(
            "Transposes repeat_times square blocks from L1: one 16x16 fractal of 16 bits, two "
            "16x32 of 8 bits, two 16x8 of 32 bits. src_stride counts blocks from start to start, "
            "dst_gap fractals between the first ones of two blocks, dst_frac_gap fractals between "
            "those of one block."
        ),
        source="ASCEND 2.4, 5.4",
    ),
    Instr(
        key="load_data_3d",
        name="LoadData",
        pipe=Pipe.MTE1,
        core=AIC,
        operands=(
            Operand(
                name="dst",
                spaces=L0,
                rw="w",
                span="ceildiv(m_extension, 16) * 16 * ceildiv(k_extension, 16) * 16",
            ),
            Operand(name="src", spaces=(Space.L1,), rw="r", span=f"channel_size * {_MOST_PIXELS}"),
        ),
        params=(
            _u16("channel_size"),
            Param(name="en_transpose", type="bool", low=0, high=1),
            Param(name="f_matrix_ctrl", type="bool", low=0, high=1),
            _u16("k_extension"),
            _u16("m_extension"),
            _u16("k_start"),
            _u16("m_start", 0, 32767),
            _u8("stride_w", 1, 63),
            _u8("stride_h", 1, 63),
            _u8("filter_w"),
            _u8("filter_h"),
            _u8("dilation_w", 1),
            _u8("dilation_h", 1),
        ),
        dtypes=WORDS,
        body="load_data_3d",
        emit=(
            "AscendC::LoadData({dst}, {src}, AscendC::LoadData3DParamsV2Pro({channel_size}, "
            "{en_transpose}, false, false, false, {f_matrix_ctrl}, "
            "static_cast<uint64_t>({m_start}) << 48 | static_cast<uint64_t>({k_start}) << 32 | "
            "static_cast<uint64_t>({m_extension}) << 16 | static_cast<uint64_t>({k_extension}), "
            "static_cast<uint64_t>({dilation_h}) << 40 | static_cast<uint64_t>({dilation_w}) << 32"
            " | static_cast<uint64_t>({filter_h}) << 24 | static_cast<uint64_t>({filter_w}) << 16 "
            "| static_cast<uint64_t>({stride_h}) << 8 | static_cast<uint64_t>({stride_w})));"
        ),
        cycles=(
            f"LOAD_DATA_ISSUE + {_PIXELS} * max(1 / l0_bytes_per_cycle(dst), min(1 / "
            f"IMG2COL_LEAST_BYTES_PER_CYCLE, {_SLOWER} / IMG2COL_BYTES_PER_CYCLE))"
        ),
        latency="LOAD_DATA_LATENCY",
        doc=(
            "Unrolls a feature map of L1 (NC1HWC0, described by SetFmatrix) to a matrix of output "
            "pixels by filter points, and loads m_extension rows from m_start and k_extension "
            "columns from k_start of it; columns run over channel groups, filter rows, filter "
            "columns, channels. L0A gets it ZZ, or transposed with en_transpose; L0B always "
            "transposed. Points outside the map are the padding value. f_matrix_ctrl takes the "
            "right description."
        ),
        source="ASCEND 2.4, 5.4",
    ),
    *map(_fmatrix, SIDES),
    Instr(
        key="set_load_data_padding_value",
        name="SetLoadDataPaddingValue",
        pipe=Pipe.S,
        core=AIC,
        operands=(),
        params=(Param(name="value", type="T", declared="const T"),),
        dtypes=WORDS,
        sets={"padding_value": "value", "padding_type": "T"},
        emit="AscendC::SetLoadDataPaddingValue({value});",
        cycles="REGISTER_ISSUE",
        doc="What later LoadData read outside the feature map.",
        source="ASCEND 2.4",
    ),
    Instr(
        key="fill_l0",
        name="InitConstValue",
        pipe=Pipe.MTE1,
        core=AIC,
        operands=(
            Operand(
                name="dst",
                spaces=L0,
                rw="w",
                span="((repeat_times - 1) * (block_num + dst_gap) + block_num) * fractal",
            ),
        ),
        params=(
            _u16("repeat_times", 0, 32767),
            _u16("block_num", 0, 32767),
            _u16("dst_gap", 0, 32767),
            Param(name="value", type="T"),
        ),
        dtypes=FILLED,
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
        cycles="LOAD_DATA_ISSUE + repeat_times * block_num * 512 / l0_bytes_per_cycle(dst)",
        latency="LOAD_DATA_LATENCY",
        doc="Fills repeat_times groups of block_num fractals of L0A or L0B, dst_gap of them apart.",
        source="ASCEND 3.9",
    ),
    Instr(
        key="load_data_2d_gm",
        name="LoadData",
        pipe=Pipe.MTE2,
        core=AIC,
        operands=(
            Operand(
                name="dst",
                spaces=(Space.L1, *L0),
                rw="w",
                span="((repeat_times - 1) * (dst_gap + 1) + 1) * fractal",
            ),
            Operand(
                name="src",
                spaces=(Space.GM,),
                rw="r",
                span="(start_index + (repeat_times - 1) * src_stride + 1) * fractal",
            ),
        ),
        params=(_u16("start_index"), _u8("repeat_times"), _u16("src_stride"), _u16("dst_gap")),
        dtypes=WORDS,
        body="load_data_2d",
        emit=(
            "AscendC::LoadData({dst}, {src}, AscendC::LoadData2DParams({start_index}, "
            "{repeat_times}, {src_stride}, 0, {dst_gap}, false, 0));"
        ),
        cycles="gm_read(repeat_times, 512, src_stride)",
        latency="GM_READ_LATENCY",
        doc=(
            "Loads repeat_times 512-byte fractals from GM; src_stride is start to start in "
            "fractals, dst_gap the gap in fractals."
        ),
        source="ASCEND 2.4, 3.9",
    ),
)

# SPDX-License-Identifier: Apache-2.0
"""Chips that are known in part: sizes and absent instructions, for checks but not for runs.

Compiling for one of them checks a kernel against the sizes and instructions below, and then says
what is not modelled. Numbers that no source states are those of the 910B1; they choose tiles on the
way there, and nothing is ever reported from them. Section numbers are those of the project's fact
sheet.
"""

from __future__ import annotations

from dataclasses import replace

from tvm_ascend.hw.ascend910b import ASCEND_910B1
from tvm_ascend.hw.chip import Deltas

ALL: tuple[str, ...] = ()
"""Absent wherever the result goes."""

# Availability of calls [doc: 3.13c], by the vendor's name, or by the path of a copy.
NOT_ON_910A = dict.fromkeys(
    (
        *("Maxs", "Mins", "LeakyRelu", "MulAddDst", "FusedMulAdd", "FusedMulAddRelu", "AddRelu"),
        *("MulCast", "AddReluCast", "CompareScalar", "CreateVecIndex", "GatherMask", "Gather"),
        *(
            "Brcb",
            "SetDeqScale",
            "CastDeq",
            "AddDeqRelu",
            "GetCmpMask",
            "SetCmpMask",
            "data_copy_nd2nz",
        ),
    ),
    ALL,
)
NOT_ON_FUSED = dict.fromkeys(
    (
        *("LoadDataWithTranspose", "Gatherb", "Sort32", "MrgSort", "Fixpipe"),
        *("data_copy_co12_gm", "data_copy_co12_l1", "data_copy_bt", "data_copy_bt_cast"),
        *("data_copy_fb", "data_copy_l1_out", "data_copy_l1_out_count"),
        *("CrossCoreSetFlag", "CrossCoreWaitFlag", "SetAtomicMax", "SetAtomicMin", "SetCtrlSpr"),
    ),
    ALL,
)
NOT_ON_950 = {
    "data_copy_l1_out": ALL,
    "data_copy_l1_out_count": ALL,
    "load_data_2d_gm": ("l0a", "l0b"),  # [doc: 5.6]
    "fill_l0": ALL,  # [doc: 3.4]
}
FUSED = (
    "one core that runs Cube and Vector instructions on memories that both see",
    "the timing of its instructions and paths",
    "its Ascend C (task types, moves out of L0C)",
)

ASCEND_910A = replace(
    ASCEND_910B1,
    name="910a",
    title="Ascend 910A",
    npu_arch="1001",  # [doc: 1.1]
    ub_bytes=256 * 1024,  # [doc: 1.2]
    l1_bytes=1024 * 1024,  # [doc: 1.2]
    l0c_bytes=256 * 1024,  # [doc: 1.2]
    bt_bytes=0,  # none [doc: 3.13c]
    fb_bytes=0,  # none [doc: 3.13c]
    event_ids=4,  # [doc: 4.2]
    usable_event_ids=4,  # which of them are reserved is not stated [guess: none]
    deltas=Deltas(absent=NOT_ON_910A | NOT_ON_FUSED, not_modelled=FUSED),
)

ASCEND_310P = replace(
    ASCEND_910A,
    name="310p",
    title="Ascend 310P",
    npu_arch="2002",  # [doc: 1.1]
    event_ids=8,  # [doc: 4.2]
    usable_event_ids=6,  # [doc: 4.2]
    deltas=Deltas(
        absent=NOT_ON_FUSED,
        not_modelled=(*FUSED, "its extra Vector cores"),  # [doc: 1.1]
    ),
)

ASCEND_950 = replace(
    ASCEND_910B1,
    name="950",
    title="Ascend 950",
    npu_arch="dav-3510",  # [doc: 1.1]
    aic_cores=32,  # used in the examples [doc: 1.3]
    aiv_cores=64,  # [doc: 1.3]
    clock_hz=1.65e9,  # [doc: 1.3]
    ub_bytes=256 * 1024,  # [doc: 1.2]
    ub_bank_groups=8,  # [doc: 1.7]
    l0c_bytes=256 * 1024,  # [doc: 1.2]
    bt_bytes=4 * 1024,  # [doc: 1.2]
    fb_bytes=16 * 1024,  # [doc: 1.2]
    deltas=Deltas(
        absent=NOT_ON_950,
        not_modelled=(
            "its vector unit, which works on registers",
            "the paths L0C to UB and UB to L1",
            "fractals of L0A, which are NZ there",
            "the timing of its instructions and paths",
            "its Ascend C (Fixpipe takes other parameters)",
        ),  # [doc: 2.2, 5.6]
    ),
)

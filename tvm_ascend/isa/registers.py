# SPDX-License-Identifier: Apache-2.0
"""Registers of a core that rows set for later instructions, and what each holds at first.

A row names what it sets in ``Instr.sets``. An instruction sees the values of the moment it is
issued, however late it runs. Timing texts may name registers like parameters.
"""

from __future__ import annotations

SIDES = ("left", "right")
"""The two feature-map descriptions, of LoadData into L0A and L0B by default."""

FMATRIX = ("l1_h", "l1_w", "pad_left", "pad_right", "pad_top", "pad_bottom")

ZERO_AT_FIRST: tuple[str, ...] = (
    "hf32",  # 1: Mmad rounds float32 operands to HF32 first
    "hf32_to_zero",  # 1: halfway cases of that go towards zero, 0: to the even neighbour
    "atomic",  # 0: stores replace, else 1 add, 2 max, 3 min
    "atomic_type",  # the dtype of that, as its place in the table of dtypes
    *(f"{side}_{name}" for side in SIDES for name in FMATRIX),
    "padding_value",  # a scalar word of dtype padding_type
    "padding_type",
    "quant_pre",  # scale, shift and offset of the scalar quantisation
    "quant_pre_address",  # byte of the fixpipe buffer with those of each column
    "nd_num",
    "src_nd_stride",
    "dst_nd_stride",
    "deq_scale",  # a scalar word of float16 or float32
    "deq_form",  # 0: none was set, 1: a scale of half, 2: scale, offset and sign
    "deq_offset",
    "deq_signed",
    "mask_counter",  # 1: the vector mask is a count of elements, 0: a bit for each lane
)

ALL_LANES = -1

REGISTERS: dict[str, int] = dict.fromkeys(ZERO_AT_FIRST, 0) | {
    # Bit 48 of CTRL, 0: results of half and bfloat16 saturate, so that inf becomes the largest
    # value and NaN zero. Sources contradict each other on the first value [doc: ASCEND 3.0].
    "ctrl_48": 1,
    "cast_saturates": 1,  # 0: integers that Cast cannot hold keep their low bits
    # The vector mask: lanes 0 to 63 (or the count of elements), and lanes 64 to 127. Every form
    # that carries a mask sets it; those with a count leave all lanes [doc: ASCEND 3.0].
    "vector_mask_low": ALL_LANES,
    "vector_mask_high": ALL_LANES,
}

# SPDX-License-Identifier: Apache-2.0
"""The supported chips, and those that kernels are only checked for, keyed by target model."""

from __future__ import annotations

from tvm_ascend.hw.ascend910b import (
    ASCEND_910B1,
    ASCEND_910B2,
    ASCEND_910B3,
    ASCEND_910B4,
    ASCEND_910B4_1,
    ASCEND_A3,
)
from tvm_ascend.hw.chip import ChipSpec, Deltas, VectorTiming
from tvm_ascend.hw.deltas import ASCEND_310P, ASCEND_910A, ASCEND_950

CHIPS: dict[str, ChipSpec] = {
    chip.name: chip
    for chip in (ASCEND_910B1, ASCEND_910B2, ASCEND_910B3, ASCEND_910B4, ASCEND_910B4_1, ASCEND_A3)
}
CHECKED_CHIPS: dict[str, ChipSpec] = {
    chip.name: chip for chip in (ASCEND_910A, ASCEND_310P, ASCEND_950)
}
DEFAULT_CHIP = ASCEND_910B1.name

__all__ = ["CHECKED_CHIPS", "CHIPS", "DEFAULT_CHIP", "ChipSpec", "Deltas", "VectorTiming"]

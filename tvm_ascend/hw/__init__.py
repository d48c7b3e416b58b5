# SPDX-License-Identifier: Apache-2.0
"""The supported chips, keyed by the ``model`` of their target."""

from __future__ import annotations

from tvm_ascend.hw.ascend910b import (
    ASCEND_910B1,
    ASCEND_910B2,
    ASCEND_910B3,
    ASCEND_910B4,
    ASCEND_910B4_1,
    ASCEND_A3,
)
from tvm_ascend.hw.chip import ChipSpec, VectorTiming

CHIPS: dict[str, ChipSpec] = {
    chip.name: chip
    for chip in (ASCEND_910B1, ASCEND_910B2, ASCEND_910B3, ASCEND_910B4, ASCEND_910B4_1, ASCEND_A3)
}
DEFAULT_CHIP = ASCEND_910B1.name

__all__ = ["CHIPS", "DEFAULT_CHIP", "ChipSpec", "VectorTiming"]

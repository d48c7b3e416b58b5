# SPDX-License-Identifier: Apache-2.0
"""Sizes that instruction rows, layouts and the simulator are written in: equal on every chip."""

from __future__ import annotations

BLOCK_BYTES = 32
"""What strides count and copies move at least [doc: ASCEND 1.2]."""

REPEAT_BYTES = 256
"""What one repeat of a vector instruction covers [doc: ASCEND 1.2]."""

CUBE_SIDE = 16
"""Rows and columns of a product of the Cube [doc: ASCEND 2.1]."""

FRACTAL_BYTES = CUBE_SIDE * BLOCK_BYTES
"""One fractal of an operand of the Cube [doc: ASCEND 2.1]."""

LINE_BYTES = 512
"""One line of L2, the most that a request moves at once [doc: ASCEND 1.4]."""

SECTOR_BYTES = 32
"""The least of a line that L2 keeps: what HBM2 delivers at once [doc: JESD235]."""

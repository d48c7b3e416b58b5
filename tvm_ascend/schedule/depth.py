# SPDX-License-Identifier: Apache-2.0
"""How deep a pipelined loop is, where an override may say so."""

from __future__ import annotations

from collections.abc import Mapping

from tvm_ascend.errors import BadTile
from tvm_ascend.language.loops import DEFAULT_NUM_STAGES, MAX_STAGES

LOOP_STAGES = "num_stages"
GRID_STAGES = "grid_stages"
L0_STAGES = "l0_stages"


def depth_of(overrides: Mapping[str, int], name: str, chosen: int = DEFAULT_NUM_STAGES) -> int:
    """How many versions of its tiles a loop asks for: what the override says, or ``chosen``.

    Raises
    ------
    BadTile : the override is no number of versions that a tile can have.
    """
    depth = int(overrides.get(name, chosen))
    if not 1 <= depth <= MAX_STAGES:
        raise BadTile(name, depth, 1, MAX_STAGES)
    return depth

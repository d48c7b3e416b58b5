# SPDX-License-Identifier: Apache-2.0
"""What random streams are made of: one instruction with the bytes it touches and its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

UB_BYTES = 4096
GM_BYTES = 2048
BLOCK = 32
REPEAT_BYTES = 256
Pick = Callable[[int, int], int]
"""An integer from low to high, inclusive."""


@dataclass(frozen=True, eq=False)
class Op:
    """One instruction as issued.

    ``reads`` and ``writes``: bytes by memory. ``operands``: (memory, byte) of each. ``run`` changes
    memories, one uint8 array each. ``loop`` numbers the statement of a rolled loop, whose
    instances share one site; -1 outside of loops. ``atomic``: what it stores to GM is added to what
    is there, as int32.
    """

    pipe: str
    key: str
    dtype: Any
    operands: tuple[tuple[str, int], ...]
    params: tuple[Any, ...]
    reads: Mapping[str, np.ndarray] = field(repr=False)
    writes: Mapping[str, np.ndarray] = field(repr=False)
    run: Callable[[dict[str, np.ndarray]], None] = field(repr=False)
    loop: int = -1
    atomic: bool = False


def elements(start: np.ndarray | int, size: int) -> np.ndarray:
    """Bytes of elements by their first one, a row each."""
    return np.asarray(start)[..., None] + np.arange(size)

# SPDX-License-Identifier: Apache-2.0
"""Which casts, one after the other, convert between two dtypes."""

from __future__ import annotations

import functools
from heapq import heappop, heappush

from tvm_ascend.isa.dtypes import is_float
from tvm_ascend.isa.table import TABLE
from tvm_ascend.transform.access import itemsize

_EXACT = frozenset(
    {
        ("float16", "float32"),
        ("bfloat16", "float32"),
        ("int8", "float16"),
        ("uint8", "float16"),
        ("int16", "float32"),
        ("int32", "int64"),
    }
)
"""Conversions that keep every value."""

_LOSSY_COST = 10


def _round_mode(source: str, target: str) -> str:
    if (source, target) in _EXACT:
        return "CAST_NONE"
    return "CAST_RINT" if is_float(target) else "CAST_TRUNC"


def _allowed(source: str, target: str, wanted: str) -> bool:
    """Whether a step keeps the result right: a float must not be rounded before it becomes an int.

    Integers only widen: the chip saturates where TIR's cast wraps.
    """
    exact = (source, target) in _EXACT
    return exact or not (is_float(source) and is_float(target)) or is_float(wanted)


@functools.cache
def cast_path(source: str, target: str) -> tuple[tuple[str, str], ...] | None:
    """Return the steps ``(dtype, round mode)`` from one dtype to another, or None."""
    if source == target:
        return ()
    if not is_float(source) and not is_float(target) and itemsize(target) <= itemsize(source):
        return None
    queue: list[tuple[int, str, tuple]] = [(0, source, ())]
    seen = set()
    while queue:
        cost, at, steps = heappop(queue)
        if at == target:
            return steps
        if at in seen:
            continue
        seen.add(at)
        for to, frm in TABLE["cast"].dtypes:
            if frm == at and _allowed(at, to, target):
                step = 1 if (at, to) in _EXACT else _LOSSY_COST
                heappush(queue, (cost + step, to, (*steps, (to, _round_mode(at, to)))))
    return None

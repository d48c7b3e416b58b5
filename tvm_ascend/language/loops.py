# SPDX-License-Identifier: Apache-2.0
"""Loops of the tile language: element loops and pipelined loops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral

import tvm
from tvm import tirx
from tvm.script import tirx as tvm_script

from tvm_ascend.errors import ParallelOutsideKernel, StageCount

PARALLEL = "ascend.parallel"
NUM_STAGES = "ascend.num_stages"
STAGES_CHOICE = "ascend.stages_choice"
"""Annotation of a pipelined loop: the override that replaces its depth."""
DEFAULT_NUM_STAGES = 2
MAX_STAGES = 16
"""More versions than this would only fill memory: two or three hide every latency."""

_UNORDERED = (tirx.ForKind.PARALLEL, tirx.ForKind.VECTORIZED)


def is_parallel(loop: object) -> bool:
    """Whether iterations of a statement that is a loop have no order."""
    if not isinstance(loop, tirx.For):
        return False
    return PARALLEL in loop.annotations or loop.kind in _UNORDERED


_parallel_vars: ContextVar[list | None] = ContextVar("parallel_vars", default=None)


@contextmanager
def collect_parallel_vars() -> Iterator[list]:
    """Collect the loop variables of multi-extent T.Parallel loops while a function is parsed."""
    found: list = []
    token = _parallel_vars.set(found)
    try:
        yield found
    finally:
        _parallel_vars.reset(token)


def Parallel(*extents: tvm.ir.Expr | int):
    """Loop over elements with no order between iterations: ``for i, j in T.Parallel(m, n)``.

    ``T.atomic_add`` inside is a reduction.
    """
    if len(extents) == 1:
        return tvm_script.serial(0, extents[0], annotations={PARALLEL: 1})
    found = _parallel_vars.get()
    if found is None:
        raise ParallelOutsideKernel
    frame = tvm_script.grid(*extents)
    found.extend(frame.vars)
    return frame


def Pipelined(start: tvm.ir.Expr | int, stop: tvm.ir.Expr | int | None = None, num_stages: int = 2):
    """Loop whose copies overlap with the compute of other iterations, ``num_stages`` deep."""
    integer = isinstance(num_stages, Integral) and not isinstance(num_stages, bool)
    if not integer or not 1 <= num_stages <= MAX_STAGES:
        raise StageCount(num_stages, MAX_STAGES)
    if stop is None:
        start, stop = 0, start
    return tvm_script.serial(start, stop, annotations={NUM_STAGES: int(num_stages)})

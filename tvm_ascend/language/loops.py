# SPDX-License-Identifier: Apache-2.0
"""Loops of the tile language: element loops and pipelined loops."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from typing import Any

import tvm
from tvm import tirx
from tvm.script import tirx as tvm_script

from tvm_ascend.errors import ArgumentKind, NoThreads, ParallelOutsideKernel, StageCount
from tvm_ascend.language.numbers import integer

Bound = tvm.ir.Expr | int

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


def _loop(op: str, build: Any, start: Bound, stop: Bound | None, **rest: Any):
    start = integer(op, "the extent" if stop is None else "the first bound", start)
    stop = None if stop is None else integer(op, "the end", stop)
    return build(start, stop, **rest)


def _ordered(name: str):
    build = getattr(tvm_script, name)

    @functools.wraps(build)
    def loop(start: Bound, stop: Bound | None = None, *, step: Bound | None = None, **rest: Any):
        step = None if step is None else integer(f"T.{name}", "the step", step, bits=32)
        return _loop(f"T.{name}", build, start, stop, step=step, **rest)

    return loop


serial = _ordered("serial")
unroll = _ordered("unroll")
vectorized = _ordered("vectorized")
parallel = _ordered("parallel")


def _extent(op: str, extent: Any, bits: int = 64) -> Any:
    if isinstance(extent, tuple):
        return tuple(integer(op, "a bound", e, bits) for e in extent)
    return integer(op, "an extent", extent, bits)


@functools.wraps(tvm_script.grid)
def grid(*extents: Bound | tuple[Bound, Bound], **rest: Any):
    return tvm_script.grid(*(_extent("T.grid", e, bits=32) for e in extents), **rest)


@functools.wraps(tvm_script.launch_thread)
def launch_thread(thread: tirx.IterVar | str, extent: Bound):
    if not isinstance(thread, tirx.IterVar | str):
        raise ArgumentKind("T.launch_thread", "the thread", thread, "axes of the grid, blockIdx.x")
    tag = thread if isinstance(thread, str) else str(thread.thread_tag)
    if not tag.startswith("blockIdx."):
        raise NoThreads(tag, None)  # the statement that is made of it has the line of the grid
    return tvm_script.launch_thread(thread, integer("T.launch_thread", "the extent", extent))


def Parallel(*extents: Bound):
    """Loop over elements with no order between iterations: ``for i, j in T.Parallel(m, n)``.

    ``T.atomic_add`` inside is a reduction.
    """
    bits = 64 if len(extents) == 1 else 32  # of several, TVM makes the loops
    extents = tuple(_extent("T.Parallel", e, bits) for e in extents)
    if len(extents) == 1:
        return tvm_script.serial(0, extents[0], annotations={PARALLEL: 1})
    found = _parallel_vars.get()
    if found is None:
        raise ParallelOutsideKernel
    frame = tvm_script.grid(*extents)
    found.extend(frame.vars)
    return frame


def Pipelined(start: Bound, stop: Bound | None = None, num_stages: int = 2):
    """Loop whose copies overlap with the compute of other iterations, ``num_stages`` deep."""
    whole = isinstance(num_stages, Integral) and not isinstance(num_stages, bool)
    if not whole or not 1 <= num_stages <= MAX_STAGES:
        raise StageCount(num_stages, MAX_STAGES)
    stages = {NUM_STAGES: int(num_stages)}
    return _loop("T.Pipelined", tvm_script.serial, start, stop, annotations=stages)

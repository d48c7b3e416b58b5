# SPDX-License-Identifier: Apache-2.0
"""Flags and barriers by hand: between the pipes of a core, and between cores."""

from __future__ import annotations

import tvm

from tvm_ascend.errors import UnknownPipe
from tvm_ascend.isa.sync import PIPES
from tvm_ascend.language.numbers import integer, truth
from tvm_ascend.language.ops import call_expr


def _pipe(op: str, name: str) -> str:
    if str(name).upper() not in PIPES.values:
        raise UnknownPipe(op, name, list(PIPES.values))
    return str(name).upper()


def set_cross_flag(pipe: str, flag: object, mode: int = 2) -> tvm.ir.Call:
    """Raise a flag on other cores once everything earlier on the pipe has finished.

    ``mode`` 2: from the Cube core for its Vector cores, or from both of those for it; 1: between
    the Vector cores of a block; 0: between all cores of the kind.
    """
    flag = integer("T.set_cross_flag", "the flag", flag)
    return call_expr("cross_core_set_flag", str(mode), _pipe("T.set_cross_flag", pipe), flag)


def wait_cross_flag(flag: object) -> tvm.ir.Call:
    """Hold the core until that flag is up, and count it down."""
    return call_expr("cross_core_wait_flag", integer("T.wait_cross_flag", "the flag", flag))


def sync_all(mix: bool = False) -> tvm.ir.Call:
    """Hold every Vector core, or with ``mix`` every core, until all have come here."""
    return call_expr("sync_all_mix" if truth("T.sync_all", "mix", mix) else "sync_all")


def set_flag(source: str, target: str, flag: object) -> tvm.ir.Call:
    """Raise a flag for a pipe of the same core once the source pipe has come here."""
    event = "_".join(_pipe("T.set_flag", pipe) for pipe in (source, target))
    return call_expr("set_flag", event, integer("T.set_flag", "the flag", flag))


def wait_flag(source: str, target: str, flag: object) -> tvm.ir.Call:
    """Hold the target pipe until that flag is up, and lower it."""
    event = "_".join(_pipe("T.wait_flag", pipe) for pipe in (source, target))
    return call_expr("wait_flag", event, integer("T.wait_flag", "the flag", flag))


def pipe_barrier(pipe: str) -> tvm.ir.Call:
    """Hold a pipe until everything earlier on it has finished."""
    return call_expr("pipe_barrier", _pipe("T.pipe_barrier", pipe))


def barrier_all() -> tvm.ir.Call:
    """Hold every pipe of the core until all have finished."""
    return call_expr("pipe_barrier", "ALL")

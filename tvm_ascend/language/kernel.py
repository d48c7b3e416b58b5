# SPDX-License-Identifier: Apache-2.0
"""Signature, grid and on-chip buffers of a tile-language kernel."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np
import tvm
from tvm import tirx
from tvm.script import tirx as tvm_script

from tvm_ascend.errors import (
    ArgumentKind,
    EmptyShape,
    KernelExtents,
    NoUnitForDtype,
    UnknownCoreScope,
)
from tvm_ascend.hw.chip import VECTOR_CORES
from tvm_ascend.isa.dtypes import is_int
from tvm_ascend.isa.instr import CoreType
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.caller import called_from
from tvm_ascend.language.numbers import constant_integer, integer, truth

_AXES = ("blockIdx.x", "blockIdx.y", "blockIdx.z")
SUB_BLOCK = "subBlockIdx"
"""The axis of the Vector cores of an AI Core."""
SCOPE = "ascend.scope"
"""The attribute of statements for one kind of core."""
SCOPES = {"C": CoreType.AIC, "V": CoreType.AIV}


DTYPES = [dtype for (dtype,) in TABLE["get_value"].dtypes]
"""What a core can at least move and read."""


def _is_dtype(name: str) -> bool:
    """Whether TVM or numpy knows a dtype of this name."""
    for known in (tvm.DataType, np.dtype):
        try:
            known(name)
        except (ValueError, TypeError):
            continue
        return bool(name)
    return False


def _dtype(op: str, what: str, given: Any, allowed: list[str]) -> str:
    """The name of a dtype, which a program gives as text or as numpy's."""
    if isinstance(given, type) and issubclass(given, np.generic):
        given = np.dtype(given)
    if isinstance(given, tvm.ir.PrimType):
        given = given.dtype
    name = given.name if isinstance(given, np.dtype) else given
    if isinstance(name, str) and str(name) in allowed:
        return str(name)
    if isinstance(given, np.dtype) or (isinstance(name, str) and _is_dtype(str(name))):
        raise NoUnitForDtype(what, str(name), allowed)
    raise ArgumentKind(op, "the dtype", given, ", ".join(allowed))


def _sizes(what: str, shape: Any) -> tuple:
    sizes = shape if isinstance(shape, tuple | list | tvm.ir.Array) else (shape,)
    return tuple(integer(what, "a dimension", size) for size in sizes)


def Tensor(shape: tuple, dtype: str = "float32") -> tvm.ir.Var:
    """Annotate a kernel parameter: a dense row-major tensor in global memory."""
    with called_from(sys._getframe(1)):
        sizes = _sizes("T.Tensor", shape)
        if any(isinstance(n, int) and n < 1 for n in sizes):
            raise EmptyShape("T.Tensor", sizes)
        dtype = _dtype("T.Tensor", "T.Tensor", dtype, DTYPES)
    return tvm_script.Buffer(sizes, dtype)


def symbolic(name: str, dtype: str = "int32") -> tvm.ir.Var:
    """Make a dimension that is known only at run time: ``n = T.symbolic("n")``."""
    with called_from(sys._getframe(1)):
        if not isinstance(name, str):
            raise ArgumentKind("T.symbolic", "the name", name, "texts")
        dtype = _dtype("T.symbolic", f"`{name}`", dtype, [d for d in DTYPES if is_int(d)])
    return tirx.Var(name, dtype)


def _check_threads(threads: Any) -> None:
    for count in threads if isinstance(threads, tuple | list) else (threads,):
        if count is not None and constant_integer("T.Kernel", "threads", count) < 1:
            raise ArgumentKind(
                "T.Kernel",
                "threads",
                threads,
                "None and integers from 1, which have no meaning here",
            )


class Kernel:
    """The grid: ``with T.Kernel(M) as bx`` or ``with T.Kernel(M, N) as (bx, by)``.

    Iterations are spread over the cores of the chip in any number. ``threads`` is accepted so that
    kernels written for other targets parse, and has no meaning here: an Ascend core runs one
    instruction stream.

    With ``is_npu`` a block runs on an AI Core, a Cube core and two Vector cores at once, and the
    last variable is the number of the Vector core: ``with T.Kernel(M, is_npu=True) as (cid, vid)``.
    What either kind does stands in ``T.Scope("C")`` and ``T.Scope("V")``.
    """

    def __init__(
        self, *extents: tvm.ir.Expr | int, threads: int | None = None, is_npu: bool = False
    ) -> None:
        _check_threads(threads)
        if not 1 <= len(extents) <= len(_AXES):
            raise KernelExtents(len(extents))
        sizes = [integer("T.Kernel", "an extent", extent) for extent in extents]
        self._axes = [*zip(_AXES, sizes, strict=False)]
        if truth("T.Kernel", "is_npu", is_npu):
            self._axes.append((SUB_BLOCK, VECTOR_CORES))
        self._stack = ExitStack()

    def __enter__(self) -> tvm.ir.Var | list[tvm.ir.Var]:
        frames = [tvm_script.launch_thread(axis, extent) for axis, extent in self._axes]
        block = [self._stack.enter_context(frame) for frame in frames]
        return block[0] if len(block) == 1 else block

    def __exit__(self, *exc: Any) -> None:
        self._stack.__exit__(*exc)


def Scope(name: str) -> AbstractContextManager:
    """Statements for one kind of core: ``with T.Scope("C")`` for Cube, ``"V"`` for Vector cores."""
    if not isinstance(name, str) or name not in SCOPES:
        raise UnknownCoreScope(name, list(SCOPES))
    return tvm_script.attr(0, SCOPE, name)


def _alloc(name: str, scope: str, where: str):
    def alloc(shape: tuple, dtype: str = "float32") -> tvm.ir.Var:
        sizes = _sizes(f"T.{name}", shape)
        checked = _dtype(f"T.{name}", "a tile", dtype, DTYPES)
        return tvm_script.alloc_buffer(sizes, checked, scope=scope)

    alloc.__doc__ = f"Allocate a tile in {where}."
    return alloc


alloc_fragment = _alloc(
    "alloc_fragment",
    "local.fragment",
    "the unified buffer, or in L0C when a gemm accumulates into it",
)
alloc_shared = _alloc("alloc_shared", "shared", "the unified buffer, or in L1 when a gemm reads it")
alloc_ub = _alloc("alloc_ub", "shared.ub", "the unified buffer of a Vector core")
alloc_L1 = _alloc("alloc_L1", "shared.l1", "the L1 buffer of a Cube core")
alloc_L0A = _alloc("alloc_L0A", "local.l0a", "L0A, the left operand of the Cube")
alloc_L0B = _alloc("alloc_L0B", "local.l0b", "L0B, the right operand of the Cube")
alloc_L0C = _alloc("alloc_L0C", "local.l0c", "L0C, the accumulator of the Cube")

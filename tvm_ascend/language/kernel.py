# SPDX-License-Identifier: Apache-2.0
"""Signature, grid and on-chip buffers of a tile-language kernel."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from typing import Any

import tvm
from tvm import tirx
from tvm.script import tirx as tvm_script

from tvm_ascend.errors import EmptyShape, KernelExtents, NoUnitForDtype, UnknownCoreScope
from tvm_ascend.hw.chip import VECTOR_CORES
from tvm_ascend.isa.instr import CoreType
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.numbers import integer

_AXES = ("blockIdx.x", "blockIdx.y", "blockIdx.z")
SUB_BLOCK = "subBlockIdx"
"""The axis of the Vector cores of an AI Core."""
SCOPE = "ascend.scope"
"""The attribute of statements for one kind of core."""
SCOPES = {"C": CoreType.AIC, "V": CoreType.AIV}


DTYPES = [dtype for (dtype,) in TABLE["get_value"].dtypes]
"""What a core can at least move and read."""


def _checked(what: str, dtype: str) -> str:
    if str(dtype) not in DTYPES:
        raise NoUnitForDtype(what, str(dtype), DTYPES)
    return dtype


def _sizes(what: str, shape: Any) -> tuple:
    sizes = shape if isinstance(shape, tuple | list | tvm.ir.Array) else (shape,)
    return tuple(integer(what, "a dimension", size) for size in sizes)


def Tensor(shape: tuple, dtype: str = "float32") -> tvm.ir.Var:
    """Annotate a kernel parameter: a dense row-major tensor in global memory."""
    sizes = _sizes("T.Tensor", shape)
    if any(isinstance(n, int) and n < 1 for n in sizes):
        raise EmptyShape("T.Tensor", sizes)
    return tvm_script.Buffer(sizes, _checked("T.Tensor", dtype))


def symbolic(name: str, dtype: str = "int32") -> tvm.ir.Var:
    """Make a dimension that is known only at run time: ``n = T.symbolic("n")``."""
    return tirx.Var(name, dtype)


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
        del threads
        if not 1 <= len(extents) <= len(_AXES):
            raise KernelExtents(len(extents))
        sizes = [integer("T.Kernel", "an extent", extent) for extent in extents]
        self._axes = [*zip(_AXES, sizes, strict=False)]
        if is_npu:
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
    if name not in SCOPES:
        raise UnknownCoreScope(name, list(SCOPES))
    return tvm_script.attr(0, SCOPE, name)


def _alloc(name: str, scope: str, where: str):
    def alloc(shape: tuple, dtype: str = "float32") -> tvm.ir.Var:
        sizes = _sizes(f"T.{name}", shape)
        return tvm_script.alloc_buffer(sizes, _checked("a tile", dtype), scope=scope)

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

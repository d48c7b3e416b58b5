# SPDX-License-Identifier: Apache-2.0
"""One store of an element loop: element by element, or accumulating."""

from __future__ import annotations

from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend.transform.access import Access, access_of
from tvm_ascend.transform.selection import NotVectorizable

KIND_OF_NODE = {tirx.Add: "sum", tirx.Max: "max", tirx.Min: "min"}


@dataclass(frozen=True)
class ElementStore:
    """``buffer[indices] = value``, or ``kind(buffer[indices], value)`` where ``kind`` is set.

    ``clear`` starts the accumulation from nothing instead of the old element.
    """

    buffer: tvm.ir.Var
    indices: tuple
    value: tvm.ir.Expr
    kind: str = ""
    clear: bool = False


def element_store(stmt: tirx.BufferStore, loop_vars: list) -> ElementStore:
    """Read a store; one whose element does not move with every loop must accumulate."""
    buffer, indices = stmt.buffer, tuple(stmt.indices)
    access = affine(buffer, indices, loop_vars)
    if all(v in access.strides for v in loop_vars):
        return ElementStore(buffer, indices, stmt.value)
    for node, kind in KIND_OF_NODE.items():
        if isinstance(stmt.value, node):
            for old, new in ((stmt.value.a, stmt.value.b), (stmt.value.b, stmt.value.a)):
                if _is_load_of(old, buffer, indices):
                    return ElementStore(buffer, indices, new, kind)
    raise NotVectorizable(f"iterations store to the same element of `{buffer.name}`")


def _is_load_of(expr: tvm.ir.Expr, buffer: tvm.ir.Var, indices: tuple) -> bool:
    return (
        isinstance(expr, TensorLoad)
        and expr.source.same_as(buffer)
        and all(tvm_ffi.structural_equal(a, b) for a, b in zip(expr.indices, indices, strict=True))
    )


def affine(buffer: tvm.ir.Var, indices: tuple, variables: list) -> Access:
    """Describe an access that must be affine in the loop variables."""
    access = access_of(buffer, list(indices), variables)
    if access is None:
        raise NotVectorizable(f"the index of `{buffer.name}` is not affine")
    return access

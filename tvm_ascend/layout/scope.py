# SPDX-License-Identifier: Apache-2.0
"""Which memory a TVM storage scope names."""

from __future__ import annotations

from tvm_ascend.isa.instr import Space

SPACE_OF_SCOPE: dict[str, Space] = {
    "": Space.GM,
    "global": Space.GM,
    "shared.ub": Space.UB,
    "shared.l1": Space.L1,
    "local.l0a": Space.L0A,
    "local.l0b": Space.L0B,
    "local.l0c": Space.L0C,
    "local.bt": Space.BT,
    "local.fb": Space.FB,
}

UNPLACED_SCOPES = ("shared", "local.fragment", "local")
"""Scopes of the tile language that leave the choice of memory to InferScope."""


def space_of(buffer) -> Space | None:
    """Return the memory of ``buffer``, or None when its scope does not name one yet."""
    return SPACE_OF_SCOPE.get(buffer.scope())

# SPDX-License-Identifier: Apache-2.0
"""Copies of statements that share no definition with the original."""

from __future__ import annotations

from collections.abc import Mapping

import tvm_ffi
from tvm import tirx

from tvm_ascend.transform.tile_args import resized


def fresh_copy(stmt: tirx.Stmt, values: Mapping | None = None) -> tirx.Stmt:
    """The statement with new loop variables, bindings and buffers, and ``values`` put in."""
    new: dict = dict(values or {})

    def loop(node: tirx.For) -> None:
        new[node.loop_var] = tirx.Var(str(node.loop_var.name), str(node.loop_var.ty.dtype))

    def bind(node: tirx.Bind) -> None:
        new[node.var] = tirx.Var(str(node.var.name), str(node.var.ty.dtype))

    def allocate(node: tirx.AllocBuffer) -> None:
        new[node.buffer] = resized(node.buffer)

    tvm_ffi.structural_walk(
        stmt, [(tirx.For, loop), (tirx.Bind, bind), (tirx.AllocBuffer, allocate)]
    )
    return tvm_ffi.structural_map(stmt, [(tirx.Var, lambda v: new.get(v, v))])

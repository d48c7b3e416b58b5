# SPDX-License-Identifier: Apache-2.0
"""Loops that write tiles in any order: parallel ones, and serial ones that could be."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad, TensorRegion

from tvm_ascend.isa.instr import Space
from tvm_ascend.language.loops import is_parallel
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.transform.tile_args import as_region, is_const

_PARTS = (
    tirx.For,
    tirx.IfThenElse,
    tirx.SeqStmt,
    tirx.Bind,
    tirx.AllocBuffer,
    tirx.BufferStore,
    tirx.Evaluate,
)
_TILE_OPS = ("tile_fill", "tile_copy")


def is_element_nest(loop: tirx.For) -> bool:
    """Whether a loop only writes tiles, each element or region of one in its own iteration."""
    if is_parallel(loop):
        return True
    writes: list[tuple] = []
    return _only_writes(loop, writes) and all(_own(loop, *write) for write in writes)


def _only_writes(stmt: tirx.Stmt, writes: list[tuple]) -> bool:
    if not isinstance(stmt, _PARTS):
        return False
    if isinstance(stmt, tirx.BufferStore):
        writes.append((stmt.buffer, list(stmt.indices)))
    if isinstance(stmt, tirx.Evaluate):
        if key_of(stmt) not in _TILE_OPS:
            return is_const(stmt.value, 0)
        index = 0 if key_of(stmt) == "tile_fill" else 1
        writes.append(_place(as_region(stmt.value.args[index])))
    return all(_only_writes(part, writes) for part in _inner(stmt))


def _place(region: TensorRegion) -> tuple:
    return region.source, [x for part in region.region for x in (part.min, part.extent)]


def _inner(stmt: tirx.Stmt) -> list[tirx.Stmt]:
    if isinstance(stmt, tirx.For):
        return [stmt.body]
    if isinstance(stmt, tirx.IfThenElse):
        return [case for case in (stmt.then_case, stmt.else_case) if case is not None]
    return list(stmt.seq) if isinstance(stmt, tirx.SeqStmt) else []


def _own(loop: tirx.For, buffer: tvm.ir.Var, at: list) -> bool:
    """Whether a nest touches a tile at this one place only."""
    if space_of(buffer) is Space.GM:
        return True
    places: list = []

    def add(other: tvm.ir.Var, place: list) -> None:
        if other.same_as(buffer):
            places.append(place)

    rules = [
        (TensorLoad, lambda x: add(x.source, list(x.indices))),
        (tirx.BufferStore, lambda x: add(x.buffer, list(x.indices))),
        (TensorRegion, lambda x: add(*_place(x))),
    ]
    tvm_ffi.structural_walk(loop, rules)
    return all(
        len(place) == len(at) and all(map(tvm_ffi.structural_equal, place, at)) for place in places
    )

# SPDX-License-Identifier: Apache-2.0
"""Give every on-chip buffer a byte address."""

from __future__ import annotations

from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.errors import BufferLine, OnChipOverflow, innermost
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.instr import Space
from tvm_ascend.target import chip_of
from tvm_ascend.transform.lifetime import Lifetime, lifetimes
from tvm_ascend.transform.notes import note
from tvm_ascend.transform.place import Placement, place
from tvm_ascend.transform.sync.program import ADDRESS
from tvm_ascend.transform.sync.tree import build


@dataclass(frozen=True)
class MemoryEntry:
    """One buffer of a planned function; lines are the first and last that use it, 0 if unknown."""

    space: str
    name: str
    address: int
    bytes: int
    first_line: int
    last_line: int


@prim_func_pass(opt_level=0, name="ascend.PlanMemory")
class PlanMemory:
    """Annotate every on-chip allocation with its byte address.

    Before::

        x = T.alloc_buffer((64,), "float32", scope="shared.ub")

    After::

        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})

    While everything fits no two buffers share memory, because sharing makes units wait for each
    other. Else buffers share whose lifetimes do not overlap, first where that costs nothing. The
    sources of one vector instruction are kept in different banks. Runs before InsertSync, which
    orders accesses by address.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        chip = chip_of(func)
        addresses: dict[tirx.Var, int] = {}
        for space, placement in plan(func, chip).items():
            if placement.top > chip.capacity(space.value):
                raise _overflow(func, chip, space, placement)
            addresses |= placement.addresses
            if placement.shared:
                func = note(func, _shared_note(space, placement, chip))

        def annotate(alloc: tirx.AllocBuffer) -> tirx.AllocBuffer:
            if alloc.buffer not in addresses:
                return alloc
            address = tirx.IntImm("int32", addresses[alloc.buffer])
            annotations = {**alloc.annotations, ADDRESS: address}
            return tirx.AllocBuffer(alloc.buffer, annotations, alloc.span)

        return func.with_body(
            tvm_ffi.structural_map(func.body, [(tirx.AllocBuffer, annotate)]), func.span
        )


def plan(func: tirx.PrimFunc, chip: ChipSpec) -> dict[Space, Placement]:
    """A placement for every on-chip memory the function uses, whether it fits or not."""
    by_space: dict[Space, list[Lifetime]] = {}
    for life in lifetimes(build(func.body)):
        by_space.setdefault(life.space, []).append(life)
    return {space: place(lives, chip, space) for space, lives in by_space.items()}


def memory_map(func: tirx.PrimFunc) -> list[MemoryEntry]:
    """The memory map of a function from stage ``planned`` on, by memory and address."""
    entries = []
    for life in lifetimes(build(func.body)):
        address = int(life.alloc.annotations[ADDRESS])
        first, last = life.lines
        entries.append(MemoryEntry(life.space.value, life.name, address, life.bytes, first, last))
    return sorted(entries, key=lambda e: (e.space, e.address, e.first_line))


def _shared_note(space: Space, placement: Placement, chip: ChipSpec) -> str:
    return (
        f"PlanMemory: {placement.total:,} bytes of {space.value} do not fit in "
        f"{chip.capacity(space.value):,}, so buffers share memory ({placement.top:,} bytes used)"
    )


def _overflow(
    func: tirx.PrimFunc, chip: ChipSpec, space: Space, placement: Placement
) -> OnChipOverflow:
    lines = [
        BufferLine(life.name, life.bytes, life.versions, life.elements, *life.lines)
        for life in placement.crowd
    ]
    name = str(func.attrs["global_symbol"]) if func.attrs else "?"
    spans = [life.alloc.span for life in placement.crowd if life.alloc.span is not None]
    file = innermost(spans[0]).source_name.name if spans else ""
    return OnChipOverflow(name, space.value, chip.title, chip.capacity(space.value), lines, file)

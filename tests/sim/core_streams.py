# SPDX-License-Identifier: Apache-2.0
"""Random legal instruction streams of launches: Cube and Vector cores that share global memory.

A program is a list of (core, item) in an order in which they may run one after the other; what a
core issues is its part of the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sim.cube_ops import BACK_TO_BACK, FRACTAL, SIZES, draw_cube_op
from sim.machine import At, Gm, Machine, ub
from sim.stream_op import BLOCK, UB_BYTES, Op, Pick
from sim.streams import draw_op, signed, start_memory

Program = list[tuple[int, Any]]
FIRST_WORD = 3  # every int32 on chip to begin with


@dataclass(frozen=True)
class Launch:
    """The kind and the block of each core; ``mixed``: blocks of a Cube and two Vector cores."""

    kinds: tuple[str, ...]
    blocks: tuple[int, ...]
    mixed: bool = False

    def machine(self) -> Machine:
        kind = "MIX" if self.mixed else self.kinds[0]
        program = {"cores": {"AIC": 24, "AIV": 48}}
        if not self.mixed:
            program["kernel_type"] = f"MIX_{kind}_1_0"
        return Machine(
            core_type=kind,
            grid=len(set(self.blocks)),
            constants={"MMAD_BARRIER_FRACTALS": BACK_TO_BACK},
            program=program,
        )


def mixed(blocks: int) -> Launch:
    return Launch(
        ("AIC", "AIV", "AIV") * blocks, tuple(b for b in range(blocks) for _ in range(3)), True
    )


LAUNCHES = {
    "one Cube core": Launch(("AIC",), (0,)),
    "Cube cores": Launch(("AIC",) * 3, (0, 1, 2)),
    "Vector cores": Launch(("AIV",) * 3, (0, 1, 2)),
    "an AI Core": mixed(1),
    "two AI Cores": mixed(2),
}


def added(op: Op) -> Op:
    """The same store, added to what is there."""

    def run(memory: dict[str, np.ndarray]) -> None:
        before = memory["gm"].copy().view("int32")
        op.run(memory)
        words = np.unique(op.writes["gm"] // 4)
        memory["gm"].view("int32")[words] += before[words]

    return replace(op, run=run, atomic=True)


def draw_program(launch: Launch, pick: Pick, most: int) -> Program:
    """Instructions of all cores; where there are several, most of them use global memory."""
    program: Program = []
    while len(program) < most:
        core = pick(0, len(launch.kinds) - 1)
        op = draw_cube_op(pick) if launch.kinds[core] == "AIC" else draw_op(pick, exact=True)
        shared = "gm" in (*op.reads, *op.writes)
        if len(launch.kinds) > 1 and not shared and pick(0, 2):
            continue
        if "gm" in op.writes and pick(0, 2) == 0:
            op = added(op)
        program.append((core, op))
    return program


def start(machine: Machine, kind: str) -> None:
    """Gives all memory of the core its first values."""
    if kind == "AIV":
        machine.issue("duplicate", "int32", ub(0), FIRST_WORD, UB_BYTES // 4)
    else:
        machine.issue("fill_l1", "int32", At("l1", 0), 1, SIZES["l1"] // BLOCK, 0, FIRST_WORD)
        for space in ("l0a", "l0b"):
            count = SIZES[space] // FRACTAL
            machine.issue("fill_l0", "int32", At(space, 0), 1, count, 0, FIRST_WORD)
        machine.barrier()
        machine.issue("data_copy_bt", "int32", At("bt", 0), At("l1", 0), 1, SIZES["bt"] // 64, 0, 0)
        operands = (At("l0c", 0), At("l0a", 0), At("l0b", 0))
        machine.issue("mmad", ("int32", "int8", "int8"), *operands, 32, 64, 32, 1)
    machine.barrier()


def first_values(kind: str) -> dict[str, np.ndarray]:
    """The same in numpy, without GM."""
    if kind == "AIV":
        return {"ub": start_memory()["ub"]}
    words = {space: np.full(SIZES[space] // 4, FIRST_WORD, "int32") for space in SIZES}
    del words["gm"]
    words["l0c"][:] = 32 // 4 * FIRST_WORD**2  # one byte in four of a row is not zero
    return {space: array.view("uint8") for space, array in words.items()}


DUMPED = {"AIC": ("l1", "l0c"), "AIV": ("ub",)}


def dump(machine: Machine, core: int, kind: str) -> None:
    """Stores what a core holds to tensors of its own."""
    machine.barrier()
    if kind == "AIV":
        machine.store(Gm(f"ub {core}"), ub(0), UB_BYTES // 4, "int32")
        return
    blocks = SIZES["l1"] // BLOCK
    machine.issue("data_copy_l1_out", "int32", Gm(f"l1 {core}"), At("l1", 0), 1, blocks, 0, 0)
    rows = SIZES["l0c"] // 64
    operands = (Gm(f"l0c {core}"), At("l0c", 0))
    machine.issue("fixpipe", ("int32", "int32"), *operands, 16, rows, rows, 16, 0, "NoQuant")


def issue(machine: Machine, item: Any) -> int:
    """Appends an item; returns its site."""
    if not isinstance(item, Op):
        return item.issue(machine)
    if item.atomic:
        machine.issue("set_atomic_add", None, "int32")
    places = [Gm("data", b // 4) if s == "gm" else At(s, b) for s, b in item.operands]
    site = machine.issue(item.key, item.dtype, *places, *(signed(p) for p in item.params))
    if item.atomic:
        machine.issue("disable_dma_atomic", None)
    return site


def machine_of(launch: Launch, program: Program) -> tuple[Machine, list[int]]:
    """The program with its start and dump, and the site of each item."""
    machine = launch.machine()
    machine.tensor("data", start_memory()["gm"].view("int32").copy())
    for core, kind in enumerate(launch.kinds):
        for space in DUMPED[kind]:
            size = UB_BYTES if space == "ub" else SIZES[space]
            machine.tensor(f"{space} {core}", np.zeros(size // 4, "int32"))
    sites = [-1] * len(program)
    for core, kind in enumerate(launch.kinds):
        if core:
            machine.block()
        start(machine, kind)
        for i, (where, item) in enumerate(program):
            if where == core:
                sites[i] = issue(machine, item)
        dump(machine, core, kind)
    return machine, sites


def executed(launch: Launch, program: Program) -> dict[str, np.ndarray]:
    """The tensors after running the instructions one after the other."""
    gm = start_memory()["gm"].copy()
    memories = [first_values(kind) | {"gm": gm} for kind in launch.kinds]
    for core, item in program:
        if isinstance(item, Op):
            item.run(memories[core])
    tensors = {"data": gm}
    for core, kind in enumerate(launch.kinds):
        tensors |= {f"{space} {core}": memories[core][space] for space in DUMPED[kind]}
    return tensors


def same_values(machine: Machine, tensors: dict[str, np.ndarray]) -> bool:
    return all(np.array_equal(machine.arrays[n].view("uint8"), t) for n, t in tensors.items())


def operations(program: Sequence[tuple[int, Any]]) -> Program:
    """Without the syncs."""
    return [(core, item) for core, item in program if isinstance(item, Op)]

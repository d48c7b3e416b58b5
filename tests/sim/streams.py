# SPDX-License-Identifier: Apache-2.0
"""Random legal instruction streams of a vector core, drawn from the instruction table.

Each drawn instruction carries the exact bytes it reads and writes and what it computes, worked out
here with numpy from the row's operands and parameters. Nothing is asked of the simulator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sim.body_ops import body_op
from sim.machine import Gm, Machine, ub
from sim.stream_op import BLOCK, GM_BYTES, REPEAT_BYTES, UB_BYTES, Op, Pick, elements

from tvm_ascend.isa.instr import Instr
from tvm_ascend.isa.table import TABLE

# Not those that leave the mask to its register, which streams do not set.
LANE_ROWS = tuple(
    row for row in TABLE.values() if row.form in ("count", "repeat", "bits") and row.lane
)

MEANING: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "src0 + src1": lambda v: v["src0"] + v["src1"],
    "src0 - src1": lambda v: v["src0"] - v["src1"],
    "src0 * src1": lambda v: v["src0"] * v["src1"],
    "max(src0, src1)": lambda v: np.maximum(v["src0"], v["src1"]),
    "min(src0, src1)": lambda v: np.minimum(v["src0"], v["src1"]),
    "bit_and(src0, src1)": lambda v: v["src0"] & v["src1"],
    "bit_or(src0, src1)": lambda v: v["src0"] | v["src1"],
    "bit_not(src)": lambda v: ~v["src"],
    "relu(src)": lambda v: np.maximum(v["src"], 0),
    "src + scalar": lambda v: v["src"] + v["scalar"],
    "src * scalar": lambda v: v["src"] * v["scalar"],
    "max(src, scalar)": lambda v: np.maximum(v["src"], v["scalar"]),
    "min(src, scalar)": lambda v: np.minimum(v["src"], v["scalar"]),
    "scalar": lambda v: v["scalar"],
    "src": lambda v: v["src"],
}
"""Lane texts whose value is exact on integers."""

INTEGER_ROWS = tuple(
    (row, dtypes)
    for row in LANE_ROWS
    if row.lane in MEANING
    for dtypes in row.dtypes
    if len(row.types) == 1 and "int" in dtypes[0]
)


def lane_starts(row: Instr, name: str, at: int, size: int, lanes: int, p: dict) -> np.ndarray:
    """First byte of every element that an operand of a lane-wise row touches, in lane order."""
    if row.form == "count":
        return at + size * np.arange(p["count"])
    if row.form == "repeat":
        chosen = np.arange(p["mask"])
    else:
        words = (p["mask_low"], p["mask_high"])
        chosen = np.array([i for i in range(lanes) if words[i // 64] >> (i % 64) & 1], dtype=int)
    inside = chosen * size
    blk, rep = p.get(f"{name}_blk", 1), p.get(f"{name}_rep", REPEAT_BYTES // BLOCK)
    offsets = inside // BLOCK * blk * BLOCK + inside % BLOCK
    return (at + np.arange(p["repeat"])[:, None] * rep * BLOCK + offsets).reshape(-1)


def lane_params(row: Instr, lanes: int, pick: Pick) -> dict[str, int]:
    """Small legal parameters of a lane-wise row; the scalar and strides of at most two blocks."""
    out = {}
    for param in row.params:
        name = param.name
        if name == "mask":
            out[name] = pick(1, lanes)
        elif name in ("mask_low", "mask_high"):
            out[name] = pick(1, 2 ** min(lanes, 62) - 1) if name == "mask_low" or lanes > 64 else 0
        elif name == "count":
            out[name] = pick(1, 2 * lanes)
        elif name == "repeat":
            out[name] = pick(1, 3)
        elif name.endswith("_blk"):
            out[name] = pick(1, 2)
        elif name.endswith("_rep"):
            out[name] = pick(8, 10) + 8
        else:
            out[name] = pick(1, 7)
    return out


def lane_op(row: Instr, dtypes: tuple[str, ...], pick: Pick) -> Op | None:
    """A vector instruction; None where its operands would overlap in an undefined way."""
    kinds = dict(zip(row.types, dtypes, strict=True))
    dtype = {o.name: kinds.get(o.dtype, o.dtype) for o in row.operands}
    size = {name: 2 if d == "bfloat16" else np.dtype(d).itemsize for name, d in dtype.items()}
    lanes = REPEAT_BYTES // max(size.values())
    params = lane_params(row, lanes, pick)
    at = {o.name: BLOCK * pick(0, UB_BYTES // BLOCK - 1) for o in row.operands}
    starts = {n: lane_starts(row, n, at[n], size[n], lanes, params) for n in at}
    touched = {n: np.unique(elements(starts[n], size[n])) for n in at}
    if any(t.size == 0 or t[-1] >= UB_BYTES for t in touched.values()):
        return None
    low, high = (touched["dst"][i] // BLOCK for i in (0, -1))
    for name in at:
        if (
            name != "dst"
            and touched[name][0] // BLOCK <= high
            and low <= touched[name][-1] // BLOCK
        ):
            same = at[name] == at["dst"] and size[name] == size["dst"] and row.form == "count"
            if not same:
                return None

    def run(memory: dict[str, np.ndarray]) -> None:
        kind = np.dtype(dtype["dst"])
        values: dict[str, Any] = {
            n: memory["ub"][elements(starts[n], size[n])].view(kind)[..., 0]
            for n in at
            if n != "dst"
        }
        values |= {n: kind.type(v) for n, v in params.items() if n == "scalar"}
        with np.errstate(over="ignore"):
            result = np.broadcast_to(MEANING[row.lane](values), starts["dst"].shape).astype(kind)
        where = elements(starts["dst"], size["dst"])
        memory["ub"][where] = result[:, None].view("uint8").reshape(where.shape)

    read = [touched[o.name] for o in row.operands if "r" in o.rw]
    return Op(
        row.pipe.value,
        row.key,
        dtypes,
        tuple(("ub", at[o.name]) for o in row.operands),
        tuple(params[p.name] for p in row.params),
        {"ub": np.unique(np.concatenate(read))} if read else {},
        {"ub": touched["dst"]},
        run,
    )


def copy_op(pick: Pick, load: bool) -> Op | None:
    """DataCopyPad of rows with gaps, whole blocks on chip: into UB, or out of it."""
    rows, length = pick(1, 3), 4 * pick(1, 40)
    gm_gap, ub_gap = 4 * pick(0, 12), pick(0, 2)
    block = -(-length // BLOCK) * BLOCK
    gm_at, ub_at = 4 * pick(0, GM_BYTES // 4 - 1), BLOCK * pick(0, UB_BYTES // BLOCK - 1)
    gm = elements(gm_at + np.arange(rows) * (length + gm_gap), length)
    on_chip = elements(ub_at + np.arange(rows) * (block + ub_gap * BLOCK), block)
    if gm.max() >= GM_BYTES or on_chip.max() >= UB_BYTES:
        return None
    if load:

        def run(memory: dict[str, np.ndarray]) -> None:
            memory["ub"][on_chip] = 0
            memory["ub"][on_chip[:, :length]] = memory["gm"][gm]

        padding = (block - length) // 4
        params = (rows, length, gm_gap, ub_gap, 1, 0, padding, 0)
        places = (("ub", ub_at), ("gm", gm_at))
        touched = {"gm": gm.reshape(-1)}, {"ub": on_chip.reshape(-1)}
        return Op("MTE2", "data_copy_pad_in", ("int32",), places, params, *touched, run)

    def run_out(memory: dict[str, np.ndarray]) -> None:
        memory["gm"][gm] = memory["ub"][on_chip[:, :length]]

    touched = {"ub": on_chip[:, :length].reshape(-1)}, {"gm": gm.reshape(-1)}
    places = (("gm", gm_at), ("ub", ub_at))
    params = (rows, length, ub_gap, gm_gap)
    return Op("MTE3", "data_copy_pad_out", ("int32",), places, params, *touched, run_out)


def scalar_op(pick: Pick, load: bool) -> Op:
    """One element of UB, read or written by the scalar unit."""
    at, value = 4 * pick(0, UB_BYTES // 4 - 1), pick(-9, 9)
    where = at + np.arange(4)
    if load:
        return Op(
            "S", "get_value", ("int32",), (("ub", at),), (), {"ub": where}, {}, lambda _: None
        )

    def run(memory: dict[str, np.ndarray]) -> None:
        memory["ub"][where] = np.array([value], "int32").view("uint8")

    return Op("S", "set_value", ("int32",), (("ub", at),), (value,), {}, {"ub": where}, run)


def draw_op(pick: Pick, exact: bool) -> Op:
    """Any instruction; ``exact``: one whose values numpy gives bit by bit."""
    while True:
        kind = pick(-2, 9)
        if kind < 0:
            op = body_op(pick)
        elif kind < 5:
            if exact:
                row, dtypes = INTEGER_ROWS[pick(0, len(INTEGER_ROWS) - 1)]
            else:
                row = LANE_ROWS[pick(0, len(LANE_ROWS) - 1)]
                dtypes = row.dtypes[pick(0, len(row.dtypes) - 1)]
            op = lane_op(row, dtypes, pick)
        elif kind < 9:
            op = copy_op(pick, load=kind < 7)
        else:
            op = scalar_op(pick, load=bool(pick(0, 1)))
        if op is not None:
            return op


def moved(op: Op, by: int, loop: int) -> Op | None:
    """The instance of a loop's statement whose UB operands lie ``by`` bytes further."""
    shifted = [{**touched} for touched in (op.reads, op.writes)]
    for touched in shifted:
        if "ub" in touched:
            touched["ub"] = touched["ub"] + by
            if touched["ub"].max() >= UB_BYTES:
                return None

    def run(memory: dict[str, np.ndarray]) -> None:
        rolled = memory | {"ub": np.roll(memory["ub"], -by)}
        op.run(rolled)
        memory["ub"][:] = np.roll(rolled["ub"], by)

    places = tuple((s, b + by if s == "ub" else b) for s, b in op.operands)
    return Op(op.pipe, op.key, op.dtype, places, op.params, *shifted, run, loop)


def draw_stream(pick: Pick, most: int, exact: bool = True) -> list[Op]:
    """Instructions and loops over one, two or three buffers, in program order."""
    out: list[Op] = []
    loops = 0
    while len(out) < most:
        if pick(0, 3):
            out.append(draw_op(pick, exact))
            continue
        body = [draw_op(pick, exact) for _ in range(pick(1, 3))]
        trips, buffers, pitch = pick(2, 4), pick(1, 3), BLOCK * pick(1, 12)
        for i in range(trips):
            instances = [moved(op, i % buffers * pitch, loops + n) for n, op in enumerate(body)]
            out += [op for op in instances if op is not None]
        loops += len(body)
    return out[:most]


def machine_of(items: list[Any], **program: Any) -> tuple[Machine, list[int], np.ndarray]:
    """The stream as a program, the site of each item, and its GM; UB is defined to begin with."""
    memory = start_memory()
    gm = memory["gm"].view("int32").copy()
    machine = Machine(program=program)
    machine.tensor("data", gm)
    machine.tensor("dump", np.zeros(UB_BYTES // 4, "int32"))
    machine.issue("duplicate", "int32", ub(0), 3, UB_BYTES // 4)
    machine.barrier()
    sites: list[int] = []
    by_loop: dict[int, int] = {}
    for item in items:
        if not isinstance(item, Op):
            sites.append(item.issue(machine))
            continue
        places = [Gm("data", b // 4) if s == "gm" else ub(b) for s, b in item.operands]
        words = [b + gm.ctypes.data if s == "gm" else b for s, b in item.operands]
        if item.loop in by_loop:
            site = by_loop[item.loop]
            machine.blocks[-1].append([site, *words])
        else:
            params = [signed(p) for p in item.params]
            site = machine.issue(item.key, item.dtype, *places, *params)
            if item.loop >= 0:
                by_loop[item.loop] = site
                for slot in range(len(words)):
                    machine.sites[site]["args"][slot] = {"d": slot}
                machine.blocks[-1][-1] = [site, *words]
        sites.append(site)
    machine.barrier()
    machine.store(Gm("dump"), ub(0), UB_BYTES // 4, "int32")
    return machine, sites, gm


def signed(word: Any) -> Any:
    """A 64-bit mask as the signed word that programs carry."""
    return word - 2**64 if isinstance(word, int) and word >= 2**63 else word


def start_memory() -> dict[str, np.ndarray]:
    """What the memories hold before the stream."""
    gm = (np.arange(GM_BYTES // 4, dtype="int32") * 7 - 1000).view("uint8")
    return {"gm": gm, "ub": np.full(UB_BYTES // 4, 3, "int32").view("uint8")}


def executed(ops: list[Op]) -> dict[str, np.ndarray]:
    """The memories after running the instructions one after the other."""
    memory = start_memory()
    for op in ops:
        op.run(memory)
    return memory

# SPDX-License-Identifier: Apache-2.0
"""The tiles of a matrix multiply and a closed form of how long each takes.

The time is made of the same formulas and constants that time instructions in the simulator: one
core computes its share of output tiles; per tile the busiest of the pipes decides when loops are
double buffered, the sum of all when they are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.formula import ITEMSIZE, helpers
from tvm_ascend.language.loops import DEFAULT_NUM_STAGES
from tvm_ascend.layout.fractal import align, c0_of, ceildiv

TILE_NAMES = ("tile_m", "tile_n", "tile_k0", "k_steps", "a_steps", "num_stages", "l0_stages")
# A pipe waits for its buffers of a step and hands its results over.
_SYNCS = 2


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One matrix multiply, batch included."""

    batch: int
    m: int
    n: int
    k: int
    dtype: str
    out_dtype: str
    transpose_a: bool = False
    transpose_b: bool = False

    @property
    def itemsize(self) -> int:
        """Bytes of one input element."""
        return ITEMSIZE[self.dtype]


@dataclass(frozen=True, kw_only=True)
class Tile:
    """One point of the search space."""

    tile_m: int
    tile_n: int
    tile_k0: int
    k_steps: int
    a_steps: int = 1
    num_stages: int
    l0_stages: int

    @property
    def tile_k(self) -> int:
        """k of one L1 tile of the right operand; one of the left has ``a_steps`` times as much."""
        return self.tile_k0 * self.k_steps

    def decisions(self) -> dict[str, int]:
        """The choices by name, as ``schedule_matmul`` takes them."""
        return {name: getattr(self, name) for name in TILE_NAMES} | {"tile_k": self.tile_k}

    def settled(self, problem: Problem) -> Tile:
        """The same tile with depths no larger than the loops that they are of have iterations."""
        l1_trips = max(ceildiv(problem.k, self.tile_k * self.a_steps), self.a_steps)
        l0_trips = min(self.k_steps, ceildiv(problem.k, self.tile_k0))
        return replace(
            self,
            num_stages=min(self.num_stages, l1_trips),
            l0_stages=min(self.l0_stages, l0_trips),
        )

    def bytes_used(self, problem: Problem, c0: int) -> dict[str, int]:
        """On-chip bytes by memory, every stage counted; an L0C element has 4 bytes.

        Where k is no multiple of a tile, the last piece has buffers of its own.
        """
        item, rows, cols = problem.itemsize, self.tile_m, self.tile_n
        pieces, tail = divmod(problem.k, self.tile_k)
        a_tile = self.tile_k * self.a_steps
        inside = pieces if self.a_steps == 1 else self.a_steps
        a_depth = min(self.num_stages, problem.k // a_tile) * a_tile + align(tail, c0)
        b_depth = min(self.num_stages, inside) * self.tile_k + align(tail, c0)
        # A loop of one step is none: its L0 tiles belong to the loop over L1 tiles.
        versions = min(self.l0_stages, self.k_steps) if self.k_steps > 1 else self.num_stages
        l0_depth = versions * self.tile_k0 if pieces else 0
        steps, last = divmod(tail, self.tile_k0)
        l0_depth += min(self.l0_stages, steps) * self.tile_k0 + align(last, c0)
        return {
            "l1": (rows * a_depth + cols * b_depth) * item,
            "l0a": rows * l0_depth * item,
            "l0b": cols * l0_depth * item,
            "l0c": rows * cols * 4,
        }


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What the model thinks of a tile: cycles per output tile by pipe, and of the whole launch."""

    tile: Tile
    waves: int
    cores: int
    pipes: Mapping[str, float]
    cycles: float

    @property
    def bound(self) -> str:
        """The pipe that decides."""
        return max(self.pipes, key=lambda pipe: self.pipes[pipe])

    def __str__(self) -> str:
        t = self.tile
        a = f", k of A {t.tile_k * t.a_steps}" if t.a_steps > 1 else ""
        return (
            f"{t.tile_m}x{t.tile_n}x{t.tile_k} (k0 {t.tile_k0}{a}), stages {t.num_stages}/"
            f"{t.l0_stages}: {self.cycles:,.0f} cycles, bound by {self.bound}, {self.waves} tile(s)"
            f" on each of {self.cores} cores"
        )


def estimate(tile: Tile, problem: Problem, chip: ChipSpec) -> Estimate:
    """Closed-form time of a tile."""
    return Model(problem, chip).estimate(tile)


class Model:
    """The timing of one problem on one chip; parts that many tiles share are computed once.

    ``grid_stages`` is the depth of the loop over output tiles.
    """

    def __init__(
        self, problem: Problem, chip: ChipSpec, grid_stages: int = DEFAULT_NUM_STAGES
    ) -> None:
        self.problem = problem
        self.grid_stages = grid_stages
        self.chip = chip
        self.constants: dict[int, dict[str, float]] = {}
        self.loads: dict[tuple, float] = {}
        self.c0 = c0_of(problem.dtype, chip)
        self.out_itemsize = ITEMSIZE[problem.out_dtype]

    def estimate(self, tile: Tile) -> Estimate:
        p = self.problem
        grid = p.batch * ceildiv(p.m, tile.tile_m) * ceildiv(p.n, tile.tile_n)
        cores = min(grid, self.chip.cores("AIC"))
        waves = ceildiv(grid, cores)
        if cores not in self.constants:
            self.constants[cores] = self.chip.timing_constants("AIC", cores)
        k = self.constants[cores]
        pipes = self.busy(tile, cores, k)
        pipes["MTE2"] += self.missing(k) / (cores * waves)
        steps, loads = ceildiv(p.k, tile.tile_k0), ceildiv(p.k, tile.tile_k)
        fill, use = pipes["MTE1"] / steps, pipes["M"] / steps
        latency = k["LOAD_DATA_LATENCY"] + k["MMAD_LATENCY"]
        inner, step = _pipelined(steps / loads, fill, latency, use, tile.l0_stages)
        load = pipes["MTE2"] / loads
        arrival = load + k["GM_READ_LATENCY"]
        # MTE1 has read an L1 tile to its end while the Cube still has the last steps in L0.
        held = arrival + inner - max(use, tile.l0_stages * use - fill)
        # The scalar unit issues one load ahead (IssueAhead).
        ahead = (inner * self.issue_delay(tile, k) + arrival) / 2
        # A loop of one L1 tile is none: that tile belongs to the loop over output tiles.
        stages = tile.num_stages if loads > 1 else self.versions(tile, waves, "l1")
        period = max(load, steps / loads * step, held / stages, ahead if stages > 1 else held)
        # Products of the next tile wait until the accumulator is drained if there is only one; its
        # loads do not, as long as there are buffers for them.
        drain = pipes["FIX"] + k["MMAD_LATENCY"] + k["FIXPIPE_LATENCY"]
        wait = drain if self.versions(tile, waves, "l0c") == 1 else 0.0
        if loads > 1 and loads // tile.a_steps % stages:
            # The next tile begins with the buffer that this one ends with, so after all of it.
            first = max(held, period)
        else:
            first = period + max(0.0, wait - (stages * period - held))
        per_wave = max(first + (loads - 1) * period, steps * step + wait, pipes["FIX"])
        body = arrival + inner + (loads - 1) * period
        cycles = body + drain + (waves - 1) * per_wave + k["GM_WRITE_LATENCY"]
        return Estimate(tile=tile, waves=waves, cores=cores, pipes=pipes, cycles=cycles)

    def busy(self, tile: Tile, cores: int, k: Mapping[str, float]) -> dict[str, float]:
        """Cycles each pipe is busy for one output tile, over the whole of k."""
        p, block, c0 = self.problem, self.chip.cube_block, self.c0
        rows, cols = min(tile.tile_m, p.m), min(tile.tile_n, p.n)
        row_fractals, col_fractals = ceildiv(rows, block), ceildiv(cols, block)
        depth, steps = ceildiv(p.k, c0), ceildiv(p.k, tile.tile_k0)
        l0 = row_fractals / k["L0A_BYTES_PER_CYCLE"] + col_fractals / k["L0B_BYTES_PER_CYCLE"]
        sync = 2 * _SYNCS * k["SYNC_ISSUE"]
        key = (rows, cols, tile.tile_k, tile.a_steps, cores)
        if key not in self.loads:
            a_tile = tile.tile_k * tile.a_steps
            self.loads[key] = self.gm_read(rows, a_tile, p.transpose_a, k)
            self.loads[key] += self.gm_read(cols, tile.tile_k, not p.transpose_b, k)
        write = helpers(k)["fixpipe_write"](rows, cols * self.out_itemsize)
        return {
            "MTE2": self.loads[key],
            "MTE1": steps * (self.issues(tile) * k["LOAD_DATA_ISSUE"] + sync)
            + depth * l0 * self.chip.fractal_bytes,
            "M": steps * (k["MMAD_ISSUE"] + sync) + row_fractals * col_fractals * depth,
            "FIX": max(rows * cols / k["FIXPIPE_ELEMENTS_PER_CYCLE"], write),
        }

    def missing(self, k: Mapping[str, float]) -> float:
        """Cycles that all loads together take longer because every operand is not in L2 once."""
        p = self.problem
        operands = p.batch * p.k * (p.m + p.n) * p.itemsize
        slower = 1 / k["GM_MISS_BYTES_PER_CYCLE"] - 1 / k["GM_READ_BYTES_PER_CYCLE"]
        return operands * max(0.0, slower)

    def versions(self, tile: Tile, waves: int, memory: str) -> int:
        """How many copies the loop over output tiles keeps of what it has in a memory."""
        used = tile.bytes_used(self.problem, self.c0)[memory]
        fits = self.grid_stages * used <= self.chip.capacity(memory)
        # A last tile of one row gets zeros beside it, and InsertSync cannot tell them, at a place
        # that depends on the output tile, from zeros in the next copy.
        single = (
            memory == "l1" and self.problem.m > tile.tile_m and self.problem.m % tile.tile_m == 1
        )
        return min(self.grid_stages, waves) if fits and not single else 1

    def issue_delay(self, tile: Tile, k: Mapping[str, float]) -> float:
        """The share of one L1 tile's work that is over when the scalar unit has issued it all.

        It issues in program order and stops at a full queue; MTE1's fills first.
        """
        steps = min(tile.k_steps, ceildiv(self.problem.k, tile.tile_k0))
        entries = steps * (self.issues(tile) + _SYNCS) + _SYNCS
        return max(0.0, 1 - k["QUEUE_DEPTH"] / entries)

    def issues(self, tile: Tile) -> int:
        """LoadData instructions of one Cube step."""
        p, block = self.problem, self.chip.cube_block
        step_fractals = ceildiv(tile.tile_k0, self.c0)
        sides = ((tile.tile_m, p.m), (tile.tile_n, p.n))
        return sum(min(ceildiv(min(t, extent), block), step_fractals) for t, extent in sides)

    def gm_read(self, free: int, tile_k: int, k_rows: bool, k: Mapping[str, float]) -> float:
        """Cycles of the ND2NZ loads of one operand for one output tile."""
        p, depth = self.problem, min(tile_k, self.problem.k)
        bursts, length = (depth, free) if k_rows else (free, depth)
        read = helpers(k)["gm_read_nd2nz"](bursts, length * p.itemsize, 0)
        return read * ceildiv(p.k, tile_k)


def _pipelined(
    trips: float, load: float, latency: float, use: float, stages: int
) -> tuple[float, float]:
    """Cycles of a loop that loads and uses ``stages`` buffers in turn, and of one more trip."""
    once = load + latency + use
    period = max(load, use, once / stages)
    return once + (trips - 1) * period, period

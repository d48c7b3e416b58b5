# SPDX-License-Identifier: Apache-2.0
"""Tiles of a matrix multiply: which fit, how long each would take, and why the others lost.

The time is a closed form over the same constants that time instructions in the simulator: one core
computes its share of output tiles; per tile the busiest of the pipes decides when loops are double
buffered, the sum of all when they are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod

import tvm

from tvm_ascend import errors
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.formula import helpers
from tvm_ascend.layout.fractal import align, c0_of, ceildiv

TILE_NAMES = ("tile_m", "tile_n", "tile_k0", "k_steps", "num_stages", "l0_stages")
OVERRIDES = ("tile_m", "tile_n", "tile_k", "tile_k0", "num_stages", "l0_stages")
_MAX_TILE = {"tile_m": 512, "tile_n": 512, "tile_k0": 512}
_MAX_STAGES = 4
_STEPS = (1, 2, 3, 4, 6, 8, 12, 16)
# Each L0 buffer of a step is waited for and handed over once on both pipes.
_SYNCS_A_STEP = 4


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
        return tvm.DataType(self.dtype).itemsize


@dataclass(frozen=True, kw_only=True)
class Tile:
    """One point of the search space."""

    tile_m: int
    tile_n: int
    tile_k0: int
    k_steps: int
    num_stages: int
    l0_stages: int

    @property
    def tile_k(self) -> int:
        """k of one L1 tile."""
        return self.tile_k0 * self.k_steps

    def decisions(self) -> dict[str, int]:
        """The choices by name, as ``schedule_matmul`` takes them."""
        return {name: getattr(self, name) for name in TILE_NAMES} | {"tile_k": self.tile_k}

    def bytes_used(self, problem: Problem, c0: int) -> dict[str, int]:
        """On-chip bytes by memory, every stage counted; an L0C element has 4 bytes.

        Where k is no multiple of a tile, the last piece has buffers of its own.
        """
        item, rows, cols = problem.itemsize, self.tile_m, self.tile_n
        pieces, tail = divmod(problem.k, self.tile_k)
        l1_depth = min(self.num_stages, pieces) * self.tile_k + align(tail, c0)
        # A loop of one step is none: its L0 tiles belong to the loop over L1 tiles.
        versions = min(self.l0_stages, self.k_steps) if self.k_steps > 1 else self.num_stages
        l0_depth = versions * self.tile_k0 if pieces else 0
        steps, last = divmod(tail, self.tile_k0)
        l0_depth += min(self.l0_stages, steps) * self.tile_k0 + align(last, c0)
        return {
            "l1": (rows + cols) * l1_depth * item,
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
        return (
            f"{t.tile_m}x{t.tile_n}x{t.tile_k} (k0 {t.tile_k0}), stages {t.num_stages}/"
            f"{t.l0_stages}: {self.cycles:,.0f} cycles, bound by {self.bound}, {self.waves} tile(s)"
            f" on each of {self.cores} cores"
        )


@dataclass(frozen=True, kw_only=True)
class Tiling:
    """The chosen tile, the runners-up, and how many were dropped for which reason."""

    chosen: Tile
    estimate: Estimate
    runners_up: tuple[Estimate, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)

    def explain(self) -> list[str]:
        """Lines that answer "why this tile"."""
        lines = [f"chosen: {self.estimate}"]
        for other in self.runners_up:
            slower = other.cycles / self.estimate.cycles - 1
            lines.append(f"runner-up (+{slower:.1%}): {other}")
        lines += [f"dropped: {count} tiles, {reason}" for reason, count in self.dropped.items()]
        return lines


def candidates(problem: Problem, chip: ChipSpec) -> dict[str, list[int]]:
    """Values of each decision that are aligned and no larger than the problem needs.

    Combinations may still overflow a memory: see :func:`misfit`.
    """
    block, c0 = chip.cube_block, c0_of(problem.dtype, chip)
    steps = {"tile_m": (block, problem.m), "tile_n": (block, problem.n), "tile_k0": (c0, problem.k)}
    options = {
        name: _sizes(step, min(align(extent, step), _MAX_TILE[name]))
        for name, (step, extent) in steps.items()
    }
    whole = options["tile_k0"][-1]
    options["tile_k0"] = [k for k in options["tile_k0"] if k // c0 in _STEPS or k == whole]
    options["k_steps"] = [s for s in _STEPS if s <= ceildiv(problem.k, c0)]
    options["num_stages"] = [1, 2]
    options["l0_stages"] = [1, 2]
    return options


def _sizes(step: int, limit: int) -> list[int]:
    """Multiples of ``step`` up to ``limit``: every one while small, then coarser, and the limit."""
    sizes = [s for s in range(step, limit + 1, step) if s <= 8 * step or s % (4 * step) == 0]
    return sizes if sizes[-1] == limit else [*sizes, limit]


def misfit(tile: Tile, problem: Problem, chip: ChipSpec) -> str | None:
    """Why a tile cannot be used, or None."""
    for space, used in tile.bytes_used(problem, c0_of(problem.dtype, chip)).items():
        if used > chip.capacity(space):
            return f"{space} would need more than its {chip.capacity(space):,} bytes"
    if tile.tile_k >= align(problem.k, tile.tile_k0) + tile.tile_k0:
        return "the L1 tile is longer than k"
    return None


def estimate(tile: Tile, problem: Problem, chip: ChipSpec) -> Estimate:
    """Closed-form time of a tile."""
    return _Model(problem, chip).estimate(tile)


class _Model:
    """The timing of one problem on one chip; parts that many tiles share are computed once."""

    def __init__(self, problem: Problem, chip: ChipSpec):
        self.problem = problem
        self.chip = chip
        self.constants: dict[int, dict[str, float]] = {}
        self.loads: dict[tuple, float] = {}
        self.c0 = c0_of(problem.dtype, chip)
        self.out_itemsize = tvm.DataType(problem.out_dtype).itemsize

    def estimate(self, tile: Tile) -> Estimate:
        p = self.problem
        grid = p.batch * ceildiv(p.m, tile.tile_m) * ceildiv(p.n, tile.tile_n)
        cores = min(grid, self.chip.cores("AIC"))
        waves = ceildiv(grid, cores)
        if cores not in self.constants:
            self.constants[cores] = self.chip.timing_constants("AIC", cores)
        k = self.constants[cores]
        pipes = self.busy(tile, cores, k)
        steps, loads = ceildiv(p.k, tile.tile_k0), ceildiv(p.k, tile.tile_k)
        inner, _ = _pipelined(
            steps / loads,
            pipes["MTE1"] / steps,
            k["LOAD_DATA_LATENCY"],
            pipes["M"] / steps,
            tile.l0_stages,
        )
        body, period = _pipelined(
            loads, pipes["MTE2"] / loads, k["GM_READ_LATENCY"], inner, tile.num_stages
        )
        # One accumulator: the next tile's products wait until this one is drained, its loads do
        # not, as long as there are buffers for them.
        drain = pipes["FIX"] + k["MMAD_LATENCY"] + k["FIXPIPE_LATENCY"]
        products = loads * inner + drain
        per_wave = max(loads * period, products) if tile.num_stages > 1 else loads * period + drain
        cycles = body + drain + (waves - 1) * per_wave + k["GM_WRITE_LATENCY"]
        return Estimate(tile=tile, waves=waves, cores=cores, pipes=pipes, cycles=cycles)

    def busy(self, tile: Tile, cores: int, k: Mapping[str, float]) -> dict[str, float]:
        """Cycles each pipe is busy for one output tile, over the whole of k."""
        p, block, c0 = self.problem, self.chip.cube_block, self.c0
        rows, cols = min(tile.tile_m, p.m), min(tile.tile_n, p.n)
        row_fractals, col_fractals = ceildiv(rows, block), ceildiv(cols, block)
        depth, step_fractals = ceildiv(p.k, c0), ceildiv(tile.tile_k0, c0)
        steps = ceildiv(p.k, tile.tile_k0)
        issues = min(row_fractals, step_fractals) + min(col_fractals, step_fractals)
        l0 = row_fractals / k["L0A_BYTES_PER_CYCLE"] + col_fractals / k["L0B_BYTES_PER_CYCLE"]
        sync = _SYNCS_A_STEP * k["SYNC_ISSUE"]
        key = (rows, cols, tile.tile_k, cores)
        if key not in self.loads:
            self.loads[key] = self.gm_read(rows, cols, min(tile.tile_k, p.k), tile, k)
        write = helpers(k)["fixpipe_write"](rows, cols * self.out_itemsize)
        return {
            "MTE2": self.loads[key],
            "MTE1": steps * (issues * k["LOAD_DATA_ISSUE"] + sync)
            + depth * l0 * self.chip.fractal_bytes,
            "M": steps * (k["MMAD_ISSUE"] + sync) + row_fractals * col_fractals * depth,
            "FIX": max(rows * cols / k["FIXPIPE_ELEMENTS_PER_CYCLE"], write),
        }

    def gm_read(self, rows: int, cols: int, tile_k: int, tile: Tile, k) -> float:
        """Cycles of the ND2NZ loads of one output tile."""
        p, read, total = self.problem, helpers(k)["gm_read_nd2nz"], 0.0
        for free, k_rows in ((rows, p.transpose_a), (cols, not p.transpose_b)):
            bursts, length = (tile_k, free) if k_rows else (free, tile_k)
            total += read(bursts, length * p.itemsize, 0)
        return total * ceildiv(p.k, tile.tile_k)


def _pipelined(
    trips: float, load: float, latency: float, use: float, stages: int
) -> tuple[float, float]:
    """Cycles of a loop that loads and uses ``stages`` buffers in turn, and of one more trip."""
    once = load + latency + use
    period = max(load, use, once / stages)
    return once + (trips - 1) * period, period


def choose_tiling(problem: Problem, chip: ChipSpec, overrides: Mapping[str, int]) -> Tiling:
    """Rank every tile that fits and agrees with ``overrides``."""
    options = _overridden(candidates(problem, chip), overrides, problem, chip)
    dropped: dict[str, int] = {}
    model = _Model(problem, chip)
    ranked = [
        model.estimate(tile)
        for tile in _fitting(options, problem, chip, dropped)
        if tile.tile_k == overrides.get("tile_k", tile.tile_k)
    ]
    if not ranked:
        raise errors.TileDoesNotFit(dict(overrides), dropped)
    ranked.sort(key=_preference)
    return Tiling(
        chosen=ranked[0].tile,
        estimate=ranked[0],
        runners_up=tuple(ranked[1:6]),
        dropped={**dropped, "slower by the model": len(ranked) - 1},
    )


def _fitting(options, problem: Problem, chip: ChipSpec, dropped: dict[str, int]) -> Iterator[Tile]:
    """Yield the tiles that fit; ``dropped`` counts the others by reason.

    Decisions are taken in groups, each judged with the least value of those still open.
    """
    least = {name: min(values) for name, values in options.items()}
    groups = (("tile_m", "tile_n"), ("tile_k0", "l0_stages"), ("k_steps", "num_stages"))

    def extend(taken: dict[str, int], level: int) -> Iterator[Tile]:
        later = [len(options[name]) for group in groups[level + 1 :] for name in group]
        for values in product(*(options[name] for name in groups[level])):
            chosen = {**taken, **dict(zip(groups[level], values, strict=True))}
            tile = Tile(**{**least, **chosen})
            reason = misfit(tile, problem, chip)
            if reason is not None:
                dropped[reason] = dropped.get(reason, 0) + prod(later)
            elif level + 1 == len(groups):
                yield tile
            else:
                yield from extend(chosen, level + 1)

    yield from extend({}, 0)


def _preference(e: Estimate) -> tuple:
    """Fastest first; among equals the least work on all pipes, then the deeper pipeline."""
    tile = e.tile
    return e.cycles, sum(e.pipes.values()), -tile.l0_stages, tile.tile_m, tile.tile_n, tile.tile_k


def _overridden(options, overrides: Mapping[str, int], problem: Problem, chip: ChipSpec) -> dict:
    """The options with each overridden decision replaced by its one value, checked."""
    block, c0 = chip.cube_block, c0_of(problem.dtype, chip)
    steps = {"tile_m": block, "tile_n": block, "tile_k": c0, "tile_k0": c0}
    for name, value in overrides.items():
        if name not in OVERRIDES:
            continue
        step, most = steps.get(name, 1), _MAX_STAGES if name not in steps else None
        if value < step or value % step or (most is not None and value > most):
            raise errors.BadTile(name, value, step, most)
    options = {k: [overrides[k]] if k in overrides else v for k, v in options.items()}
    if "tile_k" in overrides:
        tile_k = overrides["tile_k"]
        options["tile_k0"] = [t for t in options["tile_k0"] if tile_k % t == 0]
        options["k_steps"] = sorted({tile_k // t for t in options["tile_k0"]})
        if not options["tile_k0"]:
            raise errors.BadTile("tile_k", tile_k, overrides["tile_k0"], None)
    return options

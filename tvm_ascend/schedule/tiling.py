# SPDX-License-Identifier: Apache-2.0
"""Tiles of a matrix multiply: which fit, which is the fastest, and why the others lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import product
from math import prod
from typing import Any

from tvm_ascend import errors
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.layout.fractal import align, c0_of, ceildiv
from tvm_ascend.schedule.depth import GRID_STAGES, depth_of
from tvm_ascend.schedule.tile_model import Estimate, Model, Problem, Tile

CHOICES = ("tile_m", "tile_n", "tile_k", "tile_k0", "a_steps", "num_stages", "l0_stages")
"""Decisions that overrides replace, each on its own."""
OVERRIDES = (*CHOICES, "k_steps")
"""Names that overrides take: ``k_steps`` is another way to give ``tile_k = k_steps * tile_k0``."""
_MAX_TILE = {"tile_m": 512, "tile_n": 512, "tile_k0": 512}
_MAX_STAGES = 4
_GROUPS = (
    ("tile_m", "tile_n"),
    ("tile_k0",),
    ("k_steps",),
    ("a_steps",),
    ("num_stages", "l0_stages"),
)
_STEPS = (1, 2, 3, 4, 6, 8, 12, 16)


@dataclass(frozen=True, kw_only=True)
class Tiling:
    """The chosen tile, the runners-up, and how many were dropped for which reason."""

    chosen: Tile
    estimate: Estimate
    runners_up: tuple[Estimate, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them."""
        return asdict(self)

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Tiling:
        """Inverse of ``as_dict``."""

        def estimate(values: Mapping[str, Any]) -> Estimate:
            return Estimate(**{**values, "tile": Tile(**values["tile"])})

        return Tiling(
            chosen=Tile(**fields["chosen"]),
            estimate=estimate(fields["estimate"]),
            runners_up=tuple(estimate(values) for values in fields["runners_up"]),
            dropped=dict(fields["dropped"]),
        )

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
    options["a_steps"] = [1, 2]
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
    if tile.a_steps > 1 and problem.k % (tile.tile_k * tile.a_steps):
        return "an L1 tile of A that spans several of B does not divide k"
    return None


def has_tile(problem: Problem, chip: ChipSpec) -> bool:
    """Whether the Cube can compute the problem with any tile."""
    options = candidates(problem, chip)
    least = {name: min(values) for name, values in options.items()}
    return misfit(Tile(**least), problem, chip) is None


def choose_tiling(problem: Problem, chip: ChipSpec, overrides: Mapping[str, int]) -> Tiling:
    """Rank every tile that fits and agrees with ``overrides``."""
    options = _overridden(candidates(problem, chip), overrides, problem, chip)
    dropped: dict[str, int] = {}
    model = Model(problem, chip, depth_of(overrides, GRID_STAGES))
    ranked = [
        model.estimate(tile)
        for tile in _fitting(options, problem, chip, dropped)
        if not _dropped(unmet(tile, problem, overrides), dropped)
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


def unmet(tile: Tile, problem: Problem, overrides: Mapping[str, int]) -> str | None:
    """Which override a tile does not obey, or None."""
    named = tile.settled(problem).decisions()
    for name in OVERRIDES:
        if overrides.get(name, named[name]) != named[name]:
            return f"{name} would not be {overrides[name]}"
    return None


def _dropped(reason: str | None, dropped: dict[str, int]) -> bool:
    """Count a reason, if there is one; whether there is."""
    if reason is not None:
        dropped[reason] = dropped.get(reason, 0) + 1
    return reason is not None


def _fitting(options, problem: Problem, chip: ChipSpec, dropped: dict[str, int]) -> Iterator[Tile]:
    """Yield the tiles that fit, each with as many buffers as fit; ``dropped`` counts the others.

    Decisions are taken in groups, each judged with the least value of those still open.
    """
    least = {name: min(values) for name, values in options.items()}

    def drop(reason: str, count: int) -> None:
        if count:
            dropped[reason] = dropped.get(reason, 0) + count

    def extend(taken: dict[str, int], level: int) -> Iterator[Tile]:
        later = prod(len(options[name]) for group in _GROUPS[level + 1 :] for name in group)
        choices = [options[name] for name in _GROUPS[level]]
        last = level + 1 == len(_GROUPS)
        # Deepest pipeline first: a deeper one is never slower.
        values = sorted(product(*choices), key=sum, reverse=True) if last else product(*choices)
        for tried, value in enumerate(values):
            chosen = {**taken, **dict(zip(_GROUPS[level], value, strict=True))}
            tile = Tile(**{**least, **chosen})
            reason = misfit(tile, problem, chip)
            if reason is not None:
                drop(reason, later)
            elif not last:
                yield from extend(chosen, level + 1)
            else:
                drop("more buffers fit", prod(len(c) for c in choices) - tried - 1)
                yield tile
                return

    yield from extend({}, 0)


def _preference(e: Estimate) -> tuple:
    """Fastest first; among equals the least work on all pipes, then the deeper pipeline."""
    tile = e.tile
    return e.cycles, sum(e.pipes.values()), -tile.l0_stages, tile.tile_m, tile.tile_n, tile.tile_k


def _overridden(options, overrides: Mapping[str, int], problem: Problem, chip: ChipSpec) -> dict:
    """The options with each overridden decision replaced by its one value, checked."""
    block, c0 = chip.cube_block, c0_of(problem.dtype, chip)
    allowed: dict[str, tuple[int, int | None]] = {
        "tile_m": (block, None),
        "tile_n": (block, None),
        "tile_k": (c0, None),
        "tile_k0": (c0, align(problem.k, c0)),
        "k_steps": (1, ceildiv(problem.k, c0)),
    }
    for name in OVERRIDES:
        step, most = allowed.get(name, (1, _MAX_STAGES))
        value = overrides.get(name, step)
        if value < step or value % step or (most is not None and value > most):
            raise errors.BadTile(name, value, step, most)
    _check_product(overrides, c0)
    options = {k: [overrides[k]] if k in overrides else v for k, v in options.items()}
    if "tile_k" in overrides:
        tile_k = overrides["tile_k"]
        if "k_steps" in overrides:
            options["tile_k0"] = [tile_k // overrides["k_steps"]]
        options["tile_k0"] = [t for t in options["tile_k0"] if tile_k % t == 0]
        options["k_steps"] = sorted({tile_k // t for t in options["tile_k0"]})
    return options


def _check_product(overrides: Mapping[str, int], c0: int) -> None:
    """Refuse overrides that contradict tile_k = k_steps * tile_k0."""
    names = ("tile_k", "k_steps", "tile_k0")
    given = {name: overrides[name] for name in names if name in overrides}
    if "tile_k" not in given:
        return
    factors = given.get("k_steps", 1) * given.get("tile_k0", c0)
    exact = factors == given["tile_k"] if len(given) == 3 else given["tile_k"] % factors == 0
    if not exact:
        raise errors.ContradictingOverrides(given)

# SPDX-License-Identifier: Apache-2.0
"""The tiling model: what fits, what is ranked first, and what it tells."""

import pytest

from tvm_ascend.hw import CHIPS
from tvm_ascend.schedule.tile_model import Problem, Tile, estimate
from tvm_ascend.schedule.tiling import candidates, choose_tiling, misfit

CHIP = CHIPS["910b1"]


def problem(m, n, k, **more):
    return Problem(batch=1, m=m, n=n, k=k, dtype="float16", out_dtype="float32", **more)


def tile(**changes):
    base = {
        "tile_m": 128,
        "tile_n": 128,
        "tile_k0": 64,
        "k_steps": 4,
        "num_stages": 2,
        "l0_stages": 2,
    }
    return Tile(**{**base, **changes})


SQUARE = problem(4096, 4096, 4096)


@pytest.mark.parametrize("shape", [(1, 1, 1), (126, 159, 80), (4096, 4096, 4096), (17, 5000, 33)])
def test_the_chosen_tile_fits(shape):
    chosen = choose_tiling(problem(*shape), CHIP, {}).chosen
    assert misfit(chosen, problem(*shape), CHIP) is None


@pytest.mark.parametrize(
    ("changes", "space"),
    [
        ({"tile_m": 256, "tile_n": 256}, "l0c"),
        ({"tile_m": 512, "tile_n": 16, "k_steps": 1}, "l0a"),
        ({"tile_m": 16, "tile_n": 512, "k_steps": 1}, "l0b"),
        ({"k_steps": 16}, "l1"),
    ],
)
def test_overflow_names_the_memory(changes, space):
    assert misfit(tile(**changes), SQUARE, CHIP).startswith(f"{space} would need more than its")


def test_more_work_is_never_faster():
    small, large = (estimate(tile(), problem(n, n, n), CHIP).cycles for n in (512, 1024))
    assert small < large


def test_two_stages_are_never_slower_than_one():
    one, two = (estimate(tile(num_stages=n), SQUARE, CHIP).cycles for n in (1, 2))
    assert two < one


def test_larger_tiles_move_fewer_bytes():
    small, large = (estimate(tile(tile_n=n), SQUARE, CHIP) for n in (64, 256))
    assert large.pipes["MTE2"] * large.waves < small.pipes["MTE2"] * small.waves


def test_explanation_lists_the_alternatives():
    tiling = choose_tiling(SQUARE, CHIP, {})
    first, *rest = tiling.explain()
    assert first.startswith("chosen: ")
    assert sum(line.startswith("runner-up (+") for line in rest) == 5
    assert any("l1 would need more than its 524,288 bytes" in line for line in rest)
    assert all(tiling.estimate.cycles <= other.cycles for other in tiling.runners_up)


def test_every_combination_is_accounted_for():
    options = candidates(SQUARE, CHIP)
    total = 1
    for values in options.values():
        total *= len(values)
    assert sum(choose_tiling(SQUARE, CHIP, {}).dropped.values()) + 1 == total

# SPDX-License-Identifier: Apache-2.0
"""The cost model's view of a candidate is what its tile program really does."""

from __future__ import annotations

import numpy as np
import pytest

from tvm_ascend.transform.lower_blocks import lower_schedule
from tvm_ascend.tune.features import NAMES, TileFeatures, features_of
from tvm_ascend.tune.space import Space

DECISIONS = {
    "tile_m": 128,
    "tile_n": 64,
    "tile_k0": 64,
    "k_steps": 2,
    "a_steps": 1,
    "num_stages": 2,
    "l0_stages": 2,
}


@pytest.fixture
def amounts(large_matmul, chip, scheduled):
    space = Space(large_matmul, chip)

    def amounts_of(**changes) -> dict[str, float]:
        sch = scheduled(space, large_matmul, {**DECISIONS, **changes})
        vector = features_of(lower_schedule(sch.mod["main"]), chip)
        assert vector.shape == (len(NAMES),)
        return dict(zip(NAMES, vector.tolist(), strict=True))

    return amounts_of


def log(value: float):
    return pytest.approx(np.log2(1 + value), rel=1e-5)


def test_bytes_and_operations_of_one_block(amounts):
    seen = amounts()
    assert seen["gm_l1_ops"] == log(2 * 4)
    assert seen["gm_l1_bytes"] == log((128 + 64) * 512 * 2)
    assert seen["l1_l0a_bytes"] == log(128 * 512 * 2)
    assert seen["l0c_gm_bytes"] == log(128 * 64 * 4)
    assert seen["gemm_ops"] == log(8)
    assert seen["gemm_products"] == log(128 * 64 * 512)
    assert [seen[f"gemm_{axis}"] for axis in "mnk"] == [log(128), log(64), log(64)]


@pytest.mark.parametrize(
    ("changes", "a", "b"), [({}, 2, 2), ({"k_steps": 4}, 4, 4), ({"a_steps": 2}, 4, 2)]
)
def test_cube_steps_for_one_load_of_each_operand(amounts, changes, a, b):
    seen = amounts(**changes)
    assert [seen["l1_l0a_per_load"], seen["l1_l0b_per_load"]] == [np.log2(a), np.log2(b)]


def test_on_chip_bytes_count_every_copy(amounts):
    seen = amounts()
    assert seen["l1_bytes"] == log(2 * (128 + 64) * 128 * 2)
    assert seen["l0a_bytes"] == log(2 * 128 * 64 * 2)
    assert seen["l0c_bytes"] == log(128 * 64 * 4)
    assert amounts(num_stages=1)["l1_bytes"] == log((128 + 64) * 128 * 2)


def test_grid_waves_and_idle_cores(amounts):
    seen = amounts()
    assert seen["grid"] == pytest.approx(5)  # 4 x 8 blocks on 24 cores
    assert seen["waves"] == pytest.approx(1)
    assert seen["idle_share"] == pytest.approx(1 - 32 / 48)


def test_every_decision_is_visible(amounts):
    base = amounts()
    for name, value in DECISIONS.items():
        other = 1 if name.endswith("stages") else value // 2 or 2
        assert amounts(**{name: other}) != base, name


def test_tiles_at_the_edge_count_as_whole_ones(matmul, chip, scheduled):
    space = Space(matmul, chip)
    decisions = {**space.default, "tile_m": 64, "tile_k0": 16, "k_steps": 1}
    func = lower_schedule(scheduled(space, matmul, decisions).mod["main"])
    seen = dict(zip(NAMES, features_of(func, chip).tolist(), strict=True))
    assert seen["gemm_m"] == log(64)


def test_extractor_gives_one_row_a_candidate(matmul, chip, scheduled):
    space = Space(matmul, chip)

    class Candidate:
        def __init__(self, decisions):
            self.sch = scheduled(space, matmul, decisions)

    extract = TileFeatures(space)._inst.extract_from
    candidates = [Candidate(d) for d in (space.legal[0], space.legal[-1], space.legal[0])]
    rows = [row.numpy() for row in extract(None, candidates)]
    assert [row.shape for row in rows] == [(1, len(NAMES) + 1)] * 3
    assert np.array_equal(rows[0], rows[2])
    assert not np.array_equal(rows[0], rows[1])

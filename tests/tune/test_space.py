# SPDX-License-Identifier: Apache-2.0
"""Decisions, the schedules they give, and the candidates that are refused."""

from __future__ import annotations

import pytest
from tvm.ir import assert_structural_equal

from tvm_ascend.errors import NothingToTune
from tvm_ascend.schedule.default import apply_default_schedule
from tvm_ascend.tune.database import workload
from tvm_ascend.tune.space import Space


def test_decisions_can_be_read_back_from_the_trace(matmul, chip, scheduled):
    space = Space(matmul, chip)
    for decisions in space.legal[::500]:
        assert space.decisions(scheduled(space, matmul, decisions).trace) == decisions


def test_default_decisions_give_the_default_schedule(matmul, chip, scheduled):
    space = Space(matmul, chip)
    ours = scheduled(space, matmul, space.default).mod["main"]
    theirs, rule, _ = apply_default_schedule(workload(matmul)["main"], chip, {})
    assert rule == space.rule
    assert_structural_equal(ours, theirs.without_attr("tirx.is_scheduled"))


def test_overrides_reproduce_the_schedule(matmul, chip, scheduled):
    space = Space(matmul, chip)
    for decisions in space.legal[::700]:
        ours = scheduled(space, matmul, decisions).mod["main"]
        overrides = space.overrides(decisions)
        theirs, _, _ = apply_default_schedule(workload(matmul)["main"], chip, overrides)
        assert_structural_equal(ours, theirs.without_attr("tirx.is_scheduled"))


def test_tiles_that_overflow_are_refused_with_the_memory(large_matmul, chip):
    space = Space(large_matmul, chip)
    huge = {**space.default, "tile_m": 512, "tile_n": 512, "tile_k0": 16}
    assert "l0c" in space.misfit(huge)
    assert huge not in space.legal
    assert space.misfit(space.default) is None


def test_fixed_choices_are_not_searched(large_matmul, chip):
    space = Space(large_matmul, chip, {"tile_m": 144, "num_stages": 1, "tile_k": 256})
    assert space.options["tile_m"] == [144]
    assert space.options["num_stages"] == [1]
    assert {d["tile_k0"] * d["k_steps"] for d in space.legal} == {256}
    assert space.overrides(space.default)["tile_m"] == 144


def test_weights_are_shares_of_the_legal_combinations(large_matmul, chip):
    space = Space(large_matmul, chip)
    for name, weights in space.weights.items():
        assert sum(weights) == pytest.approx(1)
        for value, weight in zip(space.options[name], weights, strict=True):
            assert (weight > 0) == any(d[name] == value for d in space.legal)


def test_a_function_without_decisions_has_nothing_to_tune(add_one, chip):
    with pytest.raises(NothingToTune, match=r"`add_one` has nothing to tune.*Cube"):
        Space(add_one, chip)

# SPDX-License-Identifier: Apache-2.0
"""Kernels of public examples: they compute what they say, and come out in the measured order."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tvm_ascend import SimOptions

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import documented
from kernels.add import buffered_add, overlapped_add, scalar_add
from kernels.copies import load_tiles
from kernels.gemm import gemm


@pytest.fixture(scope="module")
def outcomes():
    return [documented.outcome(case) for case in documented.CASES if case.make]


@pytest.mark.parametrize(
    "group",
    [
        "fp16 add 8192^2",
        "GM to UB",
        "GM to L1",
        "1000 Adds of 4096 floats",
        "GEMM 8192^3",
        "GEMM, 4 sizes",
    ],
)
def test_variants_come_out_in_the_measured_order(outcomes, group):
    variants = [o for o in outcomes if o.group == group]
    assert len(variants) > 1
    assert documented.misordered(variants) == []


def test_every_time_is_within_15_percent(outcomes):
    assert [str(o) for o in outcomes if abs(o.error) > 0.15] == []


def test_every_case_is_run_or_says_what_is_not_modelled(outcomes):
    left_out = [case for case in documented.CASES if not case.make]
    assert len(outcomes) + len(left_out) == len(documented.CASES) == 35
    assert all(case.lacks for case in left_out)
    assert not any(case.lacks for case in documented.CASES if case.make)
    assert documented.summary(outcomes)["cases"] == len(outcomes)


def test_a_wrong_order_a_wrong_time_and_a_wrong_share_are_found():
    fast = documented.Outcome("g", "fast", 10, 10, {"V": 0.5}, {"V": 0.5})
    slow = documented.Outcome("g", "slow", 20, 20, {"V": 0.5}, {"V": 0.5})
    assert documented.misordered([fast, slow]) == []
    turned = replace(slow, predicted_us=9)
    assert documented.misordered([fast, turned]) == [("g", "fast", "slow")]
    assert documented.misordered([turned, fast]) == [("g", "fast", "slow")]
    assert documented.misordered([fast, replace(turned, group="other")]) == []
    assert documented.misordered([fast, replace(turned, measured_us=10.2)]) == []
    found = documented.summary([fast, turned, replace(fast, shares={"V": 0.7})])
    assert found["within_15_percent"] == 2
    assert found["shares_within_10_points"] == 2
    assert found["mape"] == pytest.approx(0.55 / 3)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: scalar_add(n, length=256),
        lambda n: overlapped_add(n, length=256),
        lambda n: buffered_add(n, 3, 256),
        lambda n: buffered_add(n, 3, 256, documented.PLAIN),
    ],
)
def test_adds_compute_the_sum(make):
    x, y = (np.random.default_rng(s).integers(-50, 50, 2048).astype("float16") for s in (1, 2))
    z = np.empty_like(x)
    documented.simulate(make(2048), [x, y, z], SimOptions())
    assert np.array_equal(z, x + y)


@pytest.mark.parametrize(("out", "rounds"), [("float16", 1), ("float32", 2)])
def test_the_gemm_computes_the_product(out, rounds):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-2, 3, (512, 512)).astype("float16") for _ in range(2))
    c = np.empty((512, 512), out)
    documented.simulate(gemm(512, (2, 2), (4, 2), rounds, out), [a, b, c], SimOptions())
    assert np.array_equal(c, (a.astype("float32") @ b.astype("float32").T).astype(out))


@pytest.mark.parametrize(("target", "path"), [("ub", "gm_to_ub"), ("l1", "gm_to_l1")])
@pytest.mark.parametrize(("width", "parts"), [(255, 1), (256, 2)])
def test_loads_move_every_element_as_often_as_they_say(target, path, width, parts):
    func = load_tiles(target, (128, width), (32, 64), 2, 3, parts)
    options = SimOptions(strict=False)
    report = documented.simulate(func, [np.zeros(128 * width, "float16")], options)
    assert {hazard.kind for hazard in report.hazards} == {"race"}, "of tiles that nobody reads"
    assert report.bytes[path] == 3 * 128 * width * 2

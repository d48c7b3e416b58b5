# SPDX-License-Identifier: Apache-2.0
"""The cost model ranks by the closed form first and by what it learned later."""

from __future__ import annotations

import numpy as np
import pytest
from tvm.s_tir.meta_schedule.runner import RunnerResult
from tvm.s_tir.meta_schedule.search_strategy import MeasureCandidate
from tvm.s_tir.meta_schedule.tune_context import TuneContext

from tvm_ascend.tune.cost_model import TileCostModel
from tvm_ascend.tune.database import workload
from tvm_ascend.tune.search import without_cuda_intrinsics
from tvm_ascend.tune.space import Space


@pytest.fixture
def task(large_matmul):
    with without_cuda_intrinsics():
        return TuneContext(workload(large_matmul), target="ascend", num_threads=1)


@pytest.fixture(scope="module")
def candidates(large_matmul, chip, scheduled):
    space = Space(large_matmul, chip)
    # By chance: at equal distances some decision would alternate with the order.
    some = np.random.default_rng(0).choice(len(space.legal), 80, replace=False)
    chosen = [space.legal[i] for i in some]
    return space, [MeasureCandidate(scheduled(space, large_matmul, d), []) for d in chosen]


def rank_agreement(scores, times) -> float:
    """Spearman's correlation of scores with speed."""
    ranks = [np.argsort(np.argsort(x)) for x in (scores, -np.array(times))]
    return float(np.corrcoef(*ranks)[0, 1])


def test_the_first_scores_mix_the_closed_form_with_chance(candidates, task):
    space, chosen = candidates
    model = TileCostModel(space)._inst
    scores = model.predict(task, chosen)
    by_model = [space.estimate(space.default) / space.estimate(d) for d in decisions(candidates)]
    followed = sum(np.isclose(scores, by_model))
    assert 0.25 * len(chosen) < followed < 0.75 * len(chosen)


def test_it_learns_what_the_closed_form_gets_wrong(candidates, task):
    space, chosen = candidates
    # Here deep pipelines are slow and nothing else matters: the opposite of the closed form.
    times = [1e-6 * d["num_stages"] * d["l0_stages"] * d["k_steps"] for d in decisions(candidates)]
    results = [RunnerResult([t], None) for t in times]
    model = TileCostModel(space)._inst
    model.update(task, chosen[::2], results[::2])
    scores = model.predict(task, chosen[1::2])
    assert rank_agreement(scores, times[1::2]) > 0.6
    assert (scores >= 0).all()


def test_failed_candidates_score_lowest(candidates, task):
    space, chosen = candidates
    failed = [d["num_stages"] == 2 for d in decisions(candidates)]
    results = [RunnerResult(None, "no") if f else RunnerResult([1e-6], None) for f in failed]
    model = TileCostModel(space)._inst
    model.update(task, chosen, results)
    scores = model.predict(task, chosen)
    assert scores[np.array(failed)].max() < scores[~np.array(failed)].min()


def decisions(candidates):
    space, chosen = candidates
    return [space.decisions(c.sch.trace) for c in chosen]

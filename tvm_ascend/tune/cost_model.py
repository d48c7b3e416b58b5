# SPDX-License-Identifier: Apache-2.0
"""The cost model of the search: XGBoost on our features, a closed form until it has data."""

from __future__ import annotations

import numpy as np
from tvm.ir.utils import derived_object
from tvm.s_tir.meta_schedule.cost_model.xgb_model import XGBConfig, XGBModel
from tvm.s_tir.meta_schedule.runner import RunnerResult

from tvm_ascend.tune.features import TileFeatures
from tvm_ascend.tune.space import Space

_RANDOM_SHARE = 0.5
# Parents are drawn in proportion to their scores: the power makes good ones count.
_PRESSURE = 6
_PENALTY = 2.0


@derived_object
class TileCostModel(XGBModel._cls):
    """TVM's XGBoost model on our features.

    TVM scores candidates at random until enough were measured. Here half of them are scored by the
    closed form that chooses the default schedule: the first batch then shows the trees both good
    tiles and the rest of the space, without which they would take unlike tiles for good ones.
    """

    def __init__(self, space: Space, seed: int = 0, warmup: int = 16) -> None:
        super().__init__(
            extractor=TileFeatures(space),
            config=XGBConfig(seed=seed, nthread=1),
            num_warmup_samples=warmup,
        )
        self.space = space

    def update(self, context, candidates, results) -> None:
        """Learn from a batch; a failure counts as slower than everything that ran.

        TVM weighs a sample by its speed: with no speed at all failures would teach it nothing.
        """
        slowest = max((float(r.run_secs[0]) for r in results if r.run_secs), default=None)
        if slowest is not None:
            penalty = RunnerResult([_PENALTY * slowest], None)
            results = [r if r.run_secs else penalty for r in results]
        super().update(context, candidates, results)

    def predict(self, context, candidates) -> np.ndarray:
        """Scores of candidates; higher is better."""
        if self.data_size >= self.num_warmup_samples and self.booster is not None:
            return np.maximum(super().predict(context, candidates), 0) ** _PRESSURE
        cycles = [self.space.estimate(self.space.decisions(c.sch.trace)) for c in candidates]
        by_model = self.space.estimate(self.space.default) / np.array(cycles)
        by_chance = np.random.uniform(0, 1, len(candidates))
        return np.where(
            np.random.uniform(0, 1, len(candidates)) < _RANDOM_SHARE, by_chance, by_model
        )

# SPDX-License-Identifier: Apache-2.0
"""The cost model of the search: the closed form until there is data, XGBoost from then on."""

from __future__ import annotations

import numpy as np
from tvm.ir.utils import derived_object
from tvm.s_tir.meta_schedule.cost_model.xgb_model import XGBConfig, XGBModel

from tvm_ascend.tune.features import TileFeatures
from tvm_ascend.tune.space import Space

_NOISE = 0.05


@derived_object
class TileCostModel(XGBModel._cls):
    """TVM's XGBoost model on our features.

    TVM scores candidates at random until enough of them were measured. Here the model that chose
    the default schedule does, with a little noise so that ties do not crowd out everything else.
    """

    def __init__(self, space: Space, seed: int = 0, warmup: int = 16) -> None:
        super().__init__(
            extractor=TileFeatures(space),
            config=XGBConfig(seed=seed, nthread=1),
            num_warmup_samples=warmup,
        )
        self.space = space

    def predict(self, context, candidates) -> np.ndarray:
        """Scores of candidates; higher is better."""
        if self.data_size >= self.num_warmup_samples and self.booster is not None:
            return super().predict(context, candidates)
        cycles = np.array(
            [self.space.estimate(self.space.decisions(c.sch.trace)) for c in candidates]
        )
        return (
            self.space.estimate(self.space.default)
            / cycles
            * np.random.uniform(1, 1 + _NOISE, len(cycles))
        )

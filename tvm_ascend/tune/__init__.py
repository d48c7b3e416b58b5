# SPDX-License-Identifier: Apache-2.0
"""Learned search of tile sizes and pipeline depth on the simulator, through MetaSchedule."""

from tvm_ascend.tune.database import best
from tvm_ascend.tune.result import Trial, TuneResult
from tvm_ascend.tune.tuner import tune

__all__ = ["Trial", "TuneResult", "best", "tune"]

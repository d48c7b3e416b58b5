# SPDX-License-Identifier: Apache-2.0
"""The benchmark of the simulator says whether a goal is met."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import tvm_ascend

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import simulator


def test_a_missed_goal_is_named():
    assert "missed" not in str(simulator.Result("rate", 5.0, "M/s", 5.0, at_least=True))
    assert "missed" in str(simulator.Result("rate", 4.9, "M/s", 5.0, at_least=True))
    assert "missed" not in str(simulator.Result("ratio", 5.0, "x", 5.0, at_least=False))
    assert "missed" in str(simulator.Result("ratio", 5.1, "x", 5.0, at_least=False))


def test_the_chain_computes_what_it_says():
    kernel = tvm_ascend.compile(simulator.make_chain(2), out_idx=1)
    a = np.arange(128, dtype="float16") % 3
    want = a
    for _ in range(2):
        want = (want + want) * want - want
    assert np.array_equal(kernel(a), want)

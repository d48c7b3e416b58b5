# SPDX-License-Identifier: Apache-2.0
"""Bank-aware addresses are never slower than the lowest free ones."""

import numpy as np
import pytest

import tvm_ascend
from tvm_ascend import Options, SimOptions
from tvm_ascend.hw import CHIPS
from tvm_ascend.ops import OPS, Signature
from tvm_ascend.transform import place as place_module

TIMING_ONLY = SimOptions(numerics=False, hazards=False)
ROWS = (40, 1088)


def elementwise(inputs, dtype="float32"):
    return Signature(
        inputs=(ROWS,) * inputs, dtypes=(dtype,) * inputs, outputs=(ROWS,), out_dtypes=(dtype,)
    )


CASES = {
    "add": elementwise(2),
    "mul": elementwise(2, "float16"),
    "softmax": elementwise(1),
    "swiglu": Signature(
        inputs=((40, 2 * 1088),), dtypes=("float16",), outputs=(ROWS,), out_dtypes=("float16",)
    ),
}


def profile(op):
    func = OPS[op].make(CASES[op], CHIPS["910b1"])
    kernel = tvm_ascend.compile(func, "ascend", options=Options(cache=False))
    shapes = [(tuple(int(n) for n in p.shape), str(p.dtype)) for p in func.params]
    return kernel.run(*(np.empty(s, d) for s, d in shapes), sim=TIMING_ONLY)[1]


def vector(report):
    return sum(busy["V"] for busy in report.pipes.values())


@pytest.mark.parametrize("op", CASES)
def test_placed_kernels_are_never_slower_than_naive_ones(op, monkeypatch):
    placed = profile(op)
    gap = place_module._gap
    monkeypatch.setattr(
        place_module, "_gap", lambda life, taken, partners, _banks: gap(life, taken, partners, 0)
    )
    naive = profile(op)
    assert placed.cycles <= naive.cycles
    assert vector(placed) <= vector(naive)
    if op in ("add", "mul"):
        assert sum(placed.bank_conflicts.values()) < sum(naive.bank_conflicts.values())

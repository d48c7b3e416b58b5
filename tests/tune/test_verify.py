# SPDX-License-Identifier: Apache-2.0
"""The oracle agrees with numpy, and finds a wrong element."""

from __future__ import annotations

import numpy as np

from tvm_ascend.tune.verify import Oracle


class Fake:
    """A kernel that writes what it was given."""

    def __init__(self, outputs):
        self.outputs = outputs

    def __call__(self, *args):
        for position, value in self.outputs.items():
            args[position][...] = value


def test_expected_outputs_are_exact(matmul):
    oracle = Oracle(matmul)
    a, b, _ = (array.astype("int64") for array in oracle.inputs)
    assert oracle.outputs == [2]
    assert np.array_equal(oracle.expected[2], a @ b)
    assert set(oracle.inputs[0].ravel().tolist()) == set(range(-4, 5))
    assert oracle.disagreement(Fake({2: a @ b})) is None


def test_one_wrong_element_is_found(matmul):
    oracle = Oracle(matmul)
    wrong = oracle.expected[2].copy()
    wrong[100, 7] += 1
    found = oracle.disagreement(Fake({2: wrong}))
    assert found.startswith(f"1 of {wrong.size} elements of `C` are wrong; at (100, 7)")


def test_an_output_nobody_wrote_is_found(matmul):
    assert Oracle(matmul).disagreement(Fake({})) is not None


def test_inputs_depend_on_the_seed_only(matmul):
    same, other = Oracle(matmul, 3), Oracle(matmul, 4)
    assert all(map(np.array_equal, same.inputs, Oracle(matmul, 3).inputs))
    assert not np.array_equal(same.inputs[0], other.inputs[0])


def test_narrow_sums_stay_exact(chip):
    from tvm.script import tirx as T

    @T.prim_func(s_tir=True)
    def narrow(A: T.Buffer((8, 4096), "float16"), C: T.Buffer((8,), "float16")):
        for i, r in T.grid(8, 4096):
            with T.sblock("C"):
                vi, vr = T.axis.remap("SR", [i, r])
                with T.init():
                    C[vi] = T.float16(0)
                C[vi] = C[vi] + A[vi, vr]

    oracle = Oracle(narrow)
    assert np.array_equal(oracle.expected[1], oracle.inputs[0].astype("int64").sum(1))

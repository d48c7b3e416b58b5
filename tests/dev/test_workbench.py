# SPDX-License-Identifier: Apache-2.0
"""Choices are changed from outside, one at a time, logged, and refused when not legal."""

import numpy as np
import pytest

from tvm_ascend import dev
from tvm_ascend.demo import basics
from tvm_ascend.demo.kernels import make_matmul
from tvm_ascend.errors import AscendError, UnknownOverrideError, UnknownStageError

SIZE = (128, 128, 128)


@pytest.fixture(scope="module")
def bench():
    return dev.Workbench(make_matmul(*SIZE), basics.matmul_inputs(*SIZE), out_idx=2)


def test_one_choice_changes_and_the_others_stay(bench):
    before = bench.choices
    change = bench.set("tile_m", 32 if before["tile_m"] != 32 else 64)
    assert change.value_before == before["tile_m"]
    differing = {name for name, value in bench.choices.items() if before.get(name) != value}
    assert differing == {"tile_m"}
    assert change.same
    a, b = basics.matmul_inputs(*SIZE)
    assert np.array_equal(bench.outputs[0], a.astype("int64") @ b.astype("int64"))


def test_change_logs_figures_of_both_kernels(bench):
    change = bench.set("tile_n", 32 if bench.choices["tile_n"] != 32 else 64)
    assert bench.log[-1] is change
    assert change.cycles_before != change.cycles_after
    assert change.bytes_before != change.bytes_after
    assert f"{change.cycles_before} -> {change.cycles_after}" in str(change)


@pytest.mark.parametrize(("name", "value"), [("tile_m", 7), ("tile_m", 1 << 20), ("tile_m", 0)])
def test_illegal_value_is_refused_and_keeps_the_state(bench, name, value):
    before, kernel = bench.choices, bench.kernel
    with pytest.raises(AscendError):
        bench.set(name, value)
    assert bench.choices == before
    assert bench.kernel is kernel


def test_unknown_choice_lists_the_known_ones(bench):
    with pytest.raises(UnknownOverrideError, match="tile_m"):
        bench.set("tile_q", 3)


def test_show_and_diff_name_their_stages(bench):
    assert "tile_gemm" in dev.show(bench.kernel, "tiled")
    text = dev.diff(bench.kernel, "planned", "synced")
    assert any(line.startswith("+") and "set_flag" in line for line in text.splitlines())
    assert dev.diff(bench.kernel, "final", "final") == ""
    with pytest.raises(UnknownStageError, match="vectorized"):
        dev.show(bench.kernel, "nowhere")

# SPDX-License-Identifier: Apache-2.0
"""Choices are changed from outside, one at a time, logged, and refused when not legal."""

import numpy as np
import pytest

from tvm_ascend import Options, dev, tune
from tvm_ascend.demo import basics
from tvm_ascend.demo.kernels import make_matmul
from tvm_ascend.errors import (
    AscendError,
    KernelExpected,
    OptionError,
    UnknownEventError,
    UnknownOverrideError,
    UnknownStageError,
    UnknownSyncError,
)

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


@pytest.mark.parametrize(
    "look",
    [
        lambda x: dev.show(x, "final"),
        lambda x: dev.diff(x, "input", "final"),
        dev.syncs,
        lambda x: dev.break_sync(x, 0),
        lambda x: dev.break_statement(x, "MTE2_V"),
        dev.prove_sync,
        dev.why_tile,
    ],
)
@pytest.mark.parametrize("given", [None, "kernel", make_matmul(*SIZE)])
def test_what_is_no_kernel_is_refused(look, given):
    with pytest.raises(KernelExpected, match=rf"dev\.\w+ looks .* {type(given).__name__}"):
        look(given)


@pytest.mark.parametrize("index", ["0", None, 1.5, 10**6, -1, True])
def test_an_index_of_no_sync_is_refused(bench, index):
    with pytest.raises(UnknownSyncError, match=repr(index)):
        dev.break_sync(bench.kernel, index, *basics.matmul_inputs(*SIZE))


@pytest.mark.parametrize("event", ["FOO", "MTE2", "", None, 3])
def test_an_event_that_is_not_waited_for_is_refused(bench, event):
    with pytest.raises(UnknownEventError, match=rf"no event {event!r}; it waits for .*M_FIX"):
        dev.break_statement(bench.kernel, event, *basics.matmul_inputs(*SIZE))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("options", {}),
        ("options", {"cache": False}),
        ("seed", "x"),
        ("keep", None),
        ("progress", "loud"),
        ("work_dir", 3),
    ],
)
def test_tune_names_what_is_wrong(name, value):
    with pytest.raises(OptionError, match=f"`{name}`"):
        tune.tune(make_matmul(*SIZE), trials=1, **{name: value})


def test_wrong_arguments_of_the_workbench_and_of_best_are_named():
    with pytest.raises(OptionError, match="`options`"):
        dev.Workbench(make_matmul(*SIZE), (), options={})
    with pytest.raises(OptionError, match="`inputs`"):
        dev.Workbench(make_matmul(*SIZE), 3)
    with pytest.raises(OptionError, match="`database`"):
        tune.best(3, make_matmul(*SIZE))


def test_choices_that_cannot_stay_are_named_in_the_log():
    """Without overlap there are no loads to issue ahead, so that choice goes."""
    tiles = Options(overrides={"tile_k": 32, "tile_m": 64, "tile_n": 64})
    bench = dev.Workbench(make_matmul(*SIZE), basics.matmul_inputs(*SIZE), out_idx=2, options=tiles)
    assert bench.choices["issue_ahead"] == 1
    change = bench.set("num_stages", 1)
    assert change.others == {"issue_ahead": (1, None)}
    assert "issue_ahead 1 -> None" in str(change)
    assert change.same


@pytest.mark.parametrize("value", [-1, 0, 2, 10**9])
def test_a_choice_that_follows_from_pinned_ones_is_refused(bench, value):
    before = bench.choices
    with pytest.raises(AscendError, match="k_steps"):
        bench.set("k_steps", value)
    assert bench.choices == before

# SPDX-License-Identifier: Apache-2.0
"""The whole search: it finds, checks, stores, repeats itself, and fails with reasons."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tvm

from tvm_ascend import Options, compile, errors
from tvm_ascend.demo.kernels import make_layer_norm
from tvm_ascend.tune import best, measure, tune, tuner
from tvm_ascend.tune.database import key
from tvm_ascend.tune.space import Space

TRIALS = 4


@pytest.fixture(scope="module")
def tuned(matmul, tmp_path_factory):
    lines = []
    work_dir = tmp_path_factory.mktemp("tuned")
    return tune(matmul, trials=TRIALS, work_dir=work_dir, progress=lines.append), lines


def test_result_is_no_slower_than_the_default(tuned):
    result, _ = tuned
    assert len(result.trials) == TRIALS
    assert result.cycles <= result.default_cycles
    assert result.cycles == min(
        [result.default_cycles, *(t.cycles for t in result.trials if t.cycles is not None)]
    )
    assert result.checked >= 1
    assert not result.wrong


def test_progress_is_one_line_a_batch(tuned):
    result, lines = tuned
    assert f"{TRIALS}/{TRIALS}" in "".join(lines)
    assert f"best {result.cycles:,} cycles" in "".join(lines)
    assert all("\n" not in line for line in lines)


def test_text_says_what_changed_and_why(tuned):
    result, _ = tuned
    text = result.text()
    assert f"{result.default_cycles:,} -> {result.cycles:,} cycles" in text
    assert f"{TRIALS} trials" in text
    assert "gm_to_l1" in text
    assert "Cube busy" in text
    assert "why: " in text
    assert str(result.database) in text


def test_choices_reproduce_cycles_and_answer(tuned, matmul):
    result, _ = tuned
    kernel = compile(matmul, out_idx=2, options=Options(overrides=result.overrides, cache=False))
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, shape).astype("float16") for shape in ((126, 80), (80, 159)))
    (output,), report = kernel.run(a, b)
    assert np.array_equal(output, a.astype("int64") @ b.astype("int64"))
    assert report.cycles == result.cycles


def test_a_fresh_process_reads_the_best(tuned, tmp_path):
    result, _ = tuned
    script = tmp_path / "apply.py"
    conftest = Path(__file__).parent / "conftest.py"
    script.write_text(
        "import importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('kernels', {str(conftest)!r})\n"
        "kernels = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(kernels)\n"
        "from tvm_ascend.tune import best\n"
        f"print(best({str(result.work_dir)!r}, kernels.make_matmul(126, 159, 80)))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert eval(done.stdout) == dict(result.overrides)


def test_same_seed_same_search(tuned, matmul, tmp_path):
    result, _ = tuned
    again = tune(matmul, trials=TRIALS, work_dir=tmp_path, progress=False)
    assert again.trials == result.trials
    assert again.overrides == result.overrides


def test_another_seed_starts_from_what_is_stored(tuned, matmul, tmp_path):
    result, _ = tuned
    shutil.copytree(result.work_dir, tmp_path / "copy")
    more = tune(matmul, trials=2, work_dir=tmp_path / "copy", progress=False, seed=9)
    assert more.trials != result.trials[:2]
    assert more.cycles <= result.cycles
    assert best(tmp_path / "copy", matmul) == dict(more.overrides)


def test_fixed_choices_stay(matmul, tmp_path):
    fixed = Options(overrides={"num_stages": 1, "tile_m": 32})
    result = tune(matmul, trials=2, work_dir=tmp_path, options=fixed, progress=False)
    assert all(t.overrides["num_stages"] == 1 for t in result.trials)
    assert result.overrides["tile_m"] == 32


def test_a_small_space_ends_early(matmul, chip, tmp_path):
    space = Space(matmul, chip)
    fixed = {k: v for k, v in space.overrides(space.default).items() if k != "num_stages"}
    options = Options(overrides=fixed)
    result = tune(matmul, trials=40, work_dir=tmp_path, options=options, progress=False)
    assert 1 <= len(result.trials) <= 2


def test_wrong_answers_are_dropped_and_reported(tuned, matmul, tmp_path, monkeypatch):
    result, _ = tuned
    honest = tuner.Oracle.disagreement

    def lies_about_the_first(oracle, kernel):
        if dict(kernel.options.overrides) == dict(result.overrides):
            return "1 of 9 elements of `C` are wrong"
        return honest(oracle, kernel)

    monkeypatch.setattr(tuner.Oracle, "disagreement", lies_about_the_first)
    other = tune(matmul, trials=TRIALS, work_dir=tmp_path, progress=False)
    assert [t.overrides for t in other.wrong] == [result.overrides]
    assert other.overrides != result.overrides
    assert "WRONG" in other.text()
    assert best(tmp_path, matmul) == dict(other.overrides)


def test_when_every_candidate_fails_the_reasons_are_listed(matmul, tmp_path, monkeypatch):
    def refuse(*_):
        raise ValueError("nothing works today")

    monkeypatch.setattr(measure, "lower", refuse)
    with pytest.raises(errors.EveryCandidateFailed, match=r"4 x ValueError: nothing works today"):
        tune(matmul, trials=3, work_dir=tmp_path, progress=False)


@pytest.mark.parametrize("trials", [0, -1, 2.5, True])
def test_trials_must_be_at_least_one(matmul, trials, tmp_path):
    with pytest.raises(errors.TrialCount, match="integers from 1 on"):
        tune(matmul, trials=trials, work_dir=tmp_path)


def test_missing_xgboost_says_what_to_install(matmul, tmp_path, monkeypatch):
    find = tuner.importlib.util.find_spec
    monkeypatch.setattr(
        tuner.importlib.util, "find_spec", lambda name: None if name == "xgboost" else find(name)
    )
    with pytest.raises(errors.MissingPackage, match="pip install xgboost-cpu"):
        tune(matmul, trials=1, work_dir=tmp_path)


def test_nothing_to_tune(add_one, tmp_path):
    with pytest.raises(errors.NothingToTune, match="rule is 'elementwise'"):
        tune(add_one, trials=1, work_dir=tmp_path)
    scheduled = add_one.with_attr("tirx.is_scheduled", True)
    with pytest.raises(errors.NothingToTune, match="scheduled already"):
        tune(scheduled, trials=1, work_dir=tmp_path)


def test_a_tile_language_kernel_has_nothing_to_tune(tmp_path):
    with pytest.raises(errors.NothingToTune, match="says itself how it is tiled"):
        tune(make_layer_norm(8, 64, 64), trials=1, work_dir=tmp_path)


def test_unknown_choices_are_refused_before_the_search(matmul, tmp_path):
    options = Options(overrides={"tile_q": 3})
    with pytest.raises(errors.AscendError, match="tile_q"):
        tune(matmul, trials=1, work_dir=tmp_path, options=options, progress=False)
    with pytest.raises(errors.AscendError, match="tile_m"):
        tune(matmul, trials=1, work_dir=tmp_path, options=Options(overrides={"tile_m": 7}))


def test_a_module_of_one_function(matmul, tmp_path):
    module = tvm.IRModule({"renamed": matmul})
    result = tune(module, trials=1, work_dir=tmp_path, progress=False)
    assert result.kernel == "renamed"
    assert best(tmp_path, module) == dict(result.overrides)


def test_ctrl_c_keeps_the_best_so_far(matmul, tmp_path):
    def press_at_the_start(line):
        if f" 0/{TRIALS}" in line:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        tune(matmul, trials=TRIALS, work_dir=tmp_path, progress=press_at_the_start)
    assert signal.getsignal(signal.SIGINT) is before
    assert "tile_m" in best(tmp_path, matmul)


def test_a_search_leaves_no_trace_in_the_process(matmul, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"  # other processes have directories in the common one
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    modules, state = set(sys.modules), np.random.get_state()[1].tolist()
    tune(matmul, trials=1, work_dir=tmp_path, progress=False)
    assert "tvm.s_tir.tensor_intrin" not in set(sys.modules) - modules
    assert np.random.get_state()[1].tolist() == state
    assert list(temporary.iterdir()) == []


def test_work_dir_must_be_writable(matmul, tmp_path):
    occupied = tmp_path / "file"
    occupied.write_text("")
    with pytest.raises(errors.WorkDirNotWritable, match="work_dir"):
        tune(matmul, trials=1, work_dir=occupied, progress=False)


def test_no_record(matmul, tmp_path):
    with pytest.raises(errors.NoTuningRecord, match="910b1"):
        best(tmp_path, matmul)


def test_results_of_another_chip_are_not_taken(tuned, matmul):
    result, _ = tuned
    with pytest.raises(errors.NoTuningRecord, match="910b4"):
        best(result.work_dir, matmul, "huawei/ascend-910b4")


def test_a_damaged_database_is_named(tuned, matmul, chip, tmp_path):
    result, _ = tuned
    directory = tmp_path / key(chip)
    directory.mkdir()
    for path in result.database.iterdir():
        (directory / path.name).write_bytes(path.read_bytes()[:-30])
    with pytest.raises(errors.DamagedDatabase, match="cannot be read"):
        best(tmp_path, matmul)


@pytest.mark.parametrize("file", ["database_tuning_record.json", "database_workload.json"])
@pytest.mark.parametrize(
    "line",
    ["", "null", "[null, null]", "[0, null]", "[0, []]", "[0, [[[], []], [null], {}, []]]",
     "[9, [[[], []], [1.0], {}, []]]", "[0, [[[null], []], [1.0], {}, []]]", "{}", "[", "[0, 1]"],
)  # fmt: skip
def test_a_line_that_is_no_record_is_refused_by_number(tuned, matmul, chip, tmp_path, file, line):
    """TVM would take the process down over some of these."""
    result, _ = tuned
    directory = tmp_path / key(chip)
    shutil.copytree(result.database, directory)
    count = len((directory / file).read_text().splitlines())
    with (directory / file).open("a") as opened:
        opened.write(f"{line}\n")
    with pytest.raises(errors.DamagedDatabase, match=rf"line {count + 1} of {file}"):
        best(tmp_path, matmul)
    with pytest.raises(errors.DamagedDatabase, match="Remove the damaged lines"):
        tune(matmul, trials=1, work_dir=tmp_path, progress=False)


def test_the_kernel_is_unchanged_by_its_name_and_target(tuned, matmul):
    result, _ = tuned
    assert best(result.work_dir, matmul.with_attr("global_symbol", "other")) == dict(
        result.overrides
    )


@pytest.mark.slow
def test_64_trials_of_512_cubed(large_matmul, tmp_path):
    result = tune(large_matmul, trials=64, work_dir=tmp_path, progress=False)
    assert len(result.trials) == 64
    assert result.cycles <= result.default_cycles
    assert replace(result).speedup >= 1

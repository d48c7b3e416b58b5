# SPDX-License-Identifier: Apache-2.0
"""The demonstration runs, writes its files, and fails when a claim does not hold."""

import json
import re

import pytest

from tvm_ascend import demo
from tvm_ascend.__main__ import main
from tvm_ascend.demo.check import Check, table


def test_demo_passes_and_writes_every_artifact(tmp_path, capsys):
    assert demo.run(tmp_path, trials=4) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^\d+ checks, 0 failed$", printed, re.MULTILINE)
    for name in ("layer_norm", "matmul_512x512x512", "matmul_126x80x159"):
        assert "SetFlag" in (tmp_path / f"{name}.cce").read_text()
        assert "busy cycles" in (tmp_path / f"{name}.profile.txt").read_text()
        assert json.loads((tmp_path / f"{name}.trace.json").read_text())["traceEvents"]
    assert "nothing orders them" in (tmp_path / "broken_layer_norm.txt").read_text()
    assert any((tmp_path / "tuning").rglob("*.json"))


def test_failed_check_makes_the_exit_code(monkeypatch, tmp_path, capsys):
    seeded = [("seeded", lambda: [Check("wrong", False, "on purpose")])]
    monkeypatch.setattr(demo, "steps", lambda _out, _trials: seeded)
    assert demo.run(tmp_path, as_json=True) == 1
    assert json.loads(capsys.readouterr().out)[0]["passed"] is False


def test_step_that_raises_is_a_failed_check(monkeypatch, tmp_path, capsys):
    def broken():
        raise ValueError("seeded")

    fine = [Check("right", True, "still run")]
    todo = [("broken", broken), ("fine", lambda: fine)]
    monkeypatch.setattr(demo, "steps", lambda _out, _trials: todo)
    assert demo.run(tmp_path) == 1
    assert "FAIL  broken" in (printed := capsys.readouterr().out)
    assert "2 checks, 1 failed" in printed


def test_table_counts_failures():
    text = table([Check("a", True, "x"), Check("b", False, "y")])
    assert "FAIL  b" in text
    assert text.endswith("2 checks, 1 failed")


@pytest.mark.parametrize("trials", ["0", "-5", "many", "1.5"])
def test_trials_that_are_no_count_are_refused_before_anything_runs(trials, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["demo", "--trials", trials])
    assert f"'{trials}' is no integer from 1 on" in capsys.readouterr().err


def test_results_that_cannot_be_written_are_refused_before_anything_runs(tmp_path, capsys):
    taken = tmp_path / "taken"
    taken.write_text("a file")
    for out in (taken, taken / "below"):
        with pytest.raises(SystemExit, match="2"):
            main(["demo", "--out", str(out)])
        assert f"--out cannot be written to '{out}'" in capsys.readouterr().err
    assert taken.read_text() == "a file"

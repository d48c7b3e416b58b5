# SPDX-License-Identifier: Apache-2.0
"""The demonstration runs, writes its files, and fails when a claim does not hold."""

import json
import re

from tvm_ascend import demo
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

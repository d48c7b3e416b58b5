# SPDX-License-Identifier: Apache-2.0
"""The twin's generated headers are those of the table."""

from __future__ import annotations

from tvm_ascend.isa import gen_twin


def test_generated_files_are_fresh():
    assert gen_twin.stale() == []


def test_the_freshness_check_sees_an_old_file(tmp_path, monkeypatch):
    monkeypatch.setattr(gen_twin, "OUT", tmp_path)
    assert gen_twin.main(["--check"]) == 1
    assert gen_twin.main(["--write"]) == 0
    name = next(iter(gen_twin.files()))
    (tmp_path / name).write_text("")
    assert gen_twin.stale() == [name]

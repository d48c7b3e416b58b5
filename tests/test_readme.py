# SPDX-License-Identifier: Apache-2.0
"""Every code block of the README runs, and the output it shows is the real one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(found.group(1), found.group(2)) for found in BLOCK.finditer(README.read_text())]
PROGRAMS = [text for language, text in BLOCKS if language == "python"]
COMMANDS = [text for language, text in BLOCKS if language == "console"]


def run(program: str, folder: Path) -> str:
    path = folder / "readme_block.py"
    path.write_text(program)
    environment = os.environ | {"TVM_ASCEND_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, str(path)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_first_program_prints_what_the_readme_shows(tmp_path, request):
    printed = run(PROGRAMS[0], tmp_path)
    shown = re.compile(r"(It prints:\n\n```text\n)(.*?)(```\n)", re.DOTALL)
    text = README.read_text()
    if request.config.getoption("--update-golden"):
        README.write_text(shown.sub(lambda m: m.group(1) + printed + m.group(3), text))
        return
    assert printed == shown.search(text).group(2), "run pytest --update-golden on this file"


@pytest.mark.parametrize("number", range(1, len(PROGRAMS)))
def test_other_programs_run(number, tmp_path):
    run(PROGRAMS[number], tmp_path)


def test_commands_are_targets_of_the_makefile():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"make ([\w-]+)", README.read_text()))
    assert re.findall(r"^\$ make (\w+)", COMMANDS[0], re.MULTILINE) == ["demo", "test"]
    assert named <= targets


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)]+)\)", README.read_text()):
        assert (ROOT / link).exists(), link

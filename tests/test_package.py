# SPDX-License-Identifier: Apache-2.0
"""The project keeps its own rules: pins, sizes, licence lines, no names of places."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tvm_ascend
from tvm_ascend.doctor import PINS

ROOT = Path(__file__).resolve().parents[1]
HARD_CAP_LINES = 500
GENERATED = ("src/isa/", "tests/golden/")


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git work tree")
    return [path for line in listed.stdout.splitlines() if (path := ROOT / line).is_file()]


def sources() -> list[Path]:
    wanted = {".py", ".cc", ".h", ".cce", ".cmake"}
    return [
        path
        for path in tracked()
        if path.suffix in wanted and not str(path.relative_to(ROOT)).startswith(GENERATED)
    ]


def test_pins_agree():
    text = (ROOT / "pyproject.toml").read_text()
    for name, wanted in PINS.items():
        assert set(re.findall(rf'"{name}==([^"]+)"', text)) == {wanted}


def test_build_requirements_agree():
    text = (ROOT / "pyproject.toml").read_text()
    isolated = re.search(r"^requires = (\[.*\])$", text, re.MULTILINE).group(1)
    beforehand = re.search(r"^build = (\[.*\])$", text, re.MULTILINE).group(1)
    assert isolated == beforehand


def test_no_file_over_the_cap():
    sizes = {path: len(path.read_text().splitlines()) for path in sources()}
    assert {str(path): size for path, size in sizes.items() if size > HARD_CAP_LINES} == {}


def test_every_source_names_its_licence():
    assert [
        p for p in sources() if "SPDX-License-Identifier: Apache-2.0" not in p.read_text()
    ] == []


def test_files_end_with_one_newline_and_name_no_place():
    place = re.compile(r"https?://[^\s)>\"]*(?:pypi|mirror|simple)|/(?:home|root|work)/")
    for path in tracked():
        if path.suffix in {".so", ".png", ".npz"} or not path.stat().st_size:
            continue
        text = path.read_text()
        assert text.endswith("\n"), path
        assert path == Path(__file__).resolve() or not place.search(text), path


def test_no_package_called_utils():
    assert [p for p in sources() if p.stem in {"utils", "common", "helpers", "misc"}] == []


def test_version_is_the_installed_one():
    from importlib.metadata import version

    assert version("tvm-ascend") == tvm_ascend.__version__


def test_unknown_attribute_is_named():
    with pytest.raises(AttributeError, match="'tvm_ascend' has no attribute 'compil'"):
        _ = tvm_ascend.compil


def test_public_names_resolve():
    for name in ("compile", "Kernel", "Options", "SimOptions", "Report", "AscendError"):
        assert getattr(tvm_ascend, name).__name__ == name
        assert name in dir(tvm_ascend)


def test_import_adds_little_to_importing_tvm():
    """Only what must be known at `import tvm` is loaded: no compiler, no native library."""
    code = "import sys, tvm; print(sorted(m for m in sys.modules if m.startswith('tvm_ascend.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in re.findall(r"'([\w.]+)'", done.stdout)}
    assert loaded == {"backend", "target", "errors", "hw", "relax"}


@pytest.mark.parametrize(
    ("names", "mend"),
    [(["cmake"], "pip install cmake"), (["g++", "clang++"], "apt-get install g++")],
)
def test_missing_build_tool_is_a_clear_exit(tmp_path, names, mend):
    code = (
        "import setuptools, runpy; setuptools.setup = lambda **_: None;"
        "space = runpy.run_path('setup.py');"
        "space['find_tool'].__globals__['SCRIPTS'] = space['Path']('/nowhere');"
        f"space['find_tool']({names!r}, 'Do: {mend}')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.strip() == (
        f"tvm_ascend: cannot build the native library, {' or '.join(names)} not found. Do: {mend}"
    )


def test_reference_pages(tmp_path):
    code = [sys.executable, "-m", "tvm_ascend.dev.reference", "--out", str(tmp_path)]
    subprocess.run(code, check=True, capture_output=True)
    from tvm_ascend.isa.table import TABLE

    text = (tmp_path / "instructions.md").read_text()
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == sorted(
        TABLE, key=lambda key: text.index(f"\n## {key}\n")
    )
    for page in ("chips.md", "stages.md", "errors.md", "options.md"):
        assert (tmp_path / page).stat().st_size > 200


@pytest.fixture
def bare_machine(tmp_path):
    """A folder with the Makefile alone, and a PATH with a shell and nothing else."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "find", "mkdir", "touch"):
        (tools / name).symlink_to(shutil.which(name))
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "setup.py").touch()
    make = shutil.which("make")
    if make is None:
        pytest.skip("no make")

    def run(python):
        environment = {name: value for name, value in os.environ.items() if name != "CXX"}
        return subprocess.run(
            [make, "demo", f"PYTHON={python}"],
            cwd=tmp_path,
            env=environment | {"PATH": str(tools), "MAKEFLAGS": ""},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_make_names_a_missing_compiler_before_installing(bare_machine, tmp_path):
    done = bare_machine(sys.executable)
    assert done.returncode == 2
    assert "needs a C++17 compiler; on Debian: apt-get install g++" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_make_names_an_old_python_before_installing(bare_machine, tmp_path):
    old = tmp_path / "bin" / "old_python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = bare_machine(old)
    assert done.returncode == 2
    assert "needs Python 3.10 or later; try: make demo PYTHON=python3.12" in done.stderr
    assert not (tmp_path / ".venv").exists()

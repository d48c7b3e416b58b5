# SPDX-License-Identifier: Apache-2.0
"""The doctor names what is missing, what that means and what mends it, whatever is broken."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tvm_ascend import cann, doctor
from tvm_ascend.doctor import FOUND, MISSING, WRONG

REPORTED = {
    "python", "tvm_ascend", "tvm", "tvm-ffi", "target", "llvm", "compiler", "native library",
    "xgboost", "torch", "torch_npu", "CANN", "npu-smi",
}  # fmt: skip


def run(*arguments, cwd=None, **environment):
    return subprocess.run(
        [sys.executable, "-m", "tvm_ascend", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=120,
        check=False,
    )


def fake_program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def no_toolkit(monkeypatch, tmp_path):
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.setattr(cann, "usual_roots", lambda: [tmp_path / "Ascend"])


@pytest.fixture
def toolkit(no_toolkit, tmp_path):
    home = tmp_path / "Ascend" / "ascend-toolkit" / "latest"
    (home / "lib64").mkdir(parents=True)
    (home / "x86_64-linux").mkdir()
    info = home / "x86_64-linux" / "ascend_toolkit_install.info"
    info.write_text("package_name=Ascend-cann-toolkit\nversion=8.3.RC1\ninnerversion=V100R001\n")
    (home.parent / "set_env.sh").write_text("export ASCEND_HOME_PATH=...\n")
    return home


def test_json_lists_every_item():
    done = run("doctor", "--json")
    report = json.loads(done.stdout)
    assert {check["name"] for check in report["checks"]} == REPORTED
    assert done.returncode == (0 if report["ready"] else 1)
    for check in report["checks"]:
        assert check["status"] == FOUND or (check["meaning"] and check["mend"]), check


def test_runs_when_tvm_does_not_import(tmp_path):
    (tmp_path / "tvm").mkdir()
    (tmp_path / "tvm" / "__init__.py").write_text("raise OSError('libtvm_runtime.so: bad ELF')\n")
    done = run("doctor", "--json", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1, done.stderr
    by_name = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert by_name["tvm"]["status"] == WRONG
    assert "bad ELF" in by_name["tvm"]["detail"]
    assert "apache-tvm==0.27.0.post1" in by_name["tvm"]["mend"]


def test_using_the_package_without_tvm_points_at_the_doctor(tmp_path):
    (tmp_path / "tvm.py").write_text("raise ImportError('no tvm here')\n")
    done = subprocess.run(
        [sys.executable, "-c", "import tvm_ascend; tvm_ascend.compile"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=False,
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last == (
        "ImportError: tvm_ascend cannot work here: no tvm here. Run `python -m tvm_ascend doctor`."
    )


def test_wrong_version_is_named(monkeypatch):
    monkeypatch.setitem(doctor.PINS, "apache-tvm-ffi", "0.0.1")
    check = doctor.check_tvm_ffi()
    assert (check.status, check.blocks) == (WRONG, True)
    assert "needed 0.0.1" in check.detail
    assert "tensorize" in check.meaning


def test_runs_when_the_native_library_is_broken(tmp_path):
    copied = tmp_path / "tvm_ascend"
    package = Path(doctor.__file__).parent
    shutil.copytree(package, copied, ignore=shutil.ignore_patterns("lib", "__pycache__"))
    (copied / "lib").mkdir()
    (copied / "lib" / "libtvm_ascend.so").write_bytes(b"\x7fELF not really")
    done = run("doctor", "--json", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1, done.stderr
    by_name = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert by_name["native library"]["status"] == WRONG
    assert "libtvm_ascend.so" in by_name["native library"]["detail"]
    assert by_name["tvm"]["status"] == by_name["target"]["status"] == FOUND


def test_missing_native_library(monkeypatch):
    probe = doctor._probe
    nowhere = "from tvm_ascend.runtime import native; native.LIBRARY = native.Path('/nowhere.so');"
    monkeypatch.setattr(doctor, "_probe", lambda code: probe(nowhere + code))
    check = doctor.check_native_library()
    assert check.blocks
    assert "/nowhere.so does not load: it is not there" in check.detail
    assert "pip install" in check.mend


def test_native_library_that_crashes_is_a_finding(monkeypatch):
    crash = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    probe = doctor._probe
    monkeypatch.setattr(doctor, "_probe", lambda _: probe(crash))
    check = doctor.check_native_library()
    assert check.blocks
    assert check.detail == "the process died with signal 11"


def test_check_that_fails_is_a_finding(monkeypatch):
    def check_broken():
        raise OSError("disk on fire")

    monkeypatch.setattr(doctor, "CHECKS", (check_broken,))
    (check,) = doctor.examine()
    assert (check.name, check.status) == ("broken", WRONG)
    assert "disk on fire" in check.detail


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    check = doctor.check_compiler()
    assert check.status == MISSING
    assert "apt-get install g++" in check.mend


def test_compiler_that_cannot_compile(monkeypatch, tmp_path):
    fake_program(tmp_path, "g++", "echo 'cc1plus: not found' >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    check = doctor.check_compiler()
    assert check.status == WRONG
    assert "cc1plus: not found" in check.detail


def test_no_cann(no_toolkit):
    check = doctor.check_cann()
    assert (check.status, check.blocks) == (MISSING, False)
    assert "set_env.sh" in check.mend


def test_cann_without_set_env(toolkit):
    check = doctor.check_cann()
    assert check.status == WRONG
    assert "8.3.RC1" in check.detail
    assert "not sourced" in check.detail
    assert check.mend == f"source {toolkit.parent / 'set_env.sh'}"


def test_cann_without_library_path(toolkit, monkeypatch):
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit))
    assert "LD_LIBRARY_PATH lacks" in doctor.check_cann().detail
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/usr/lib:{toolkit}/lib64")
    assert doctor.check_cann().status == FOUND


def test_old_cann(toolkit, monkeypatch):
    info = toolkit / "x86_64-linux" / "ascend_toolkit_install.info"
    info.write_text("version=8.0.RC3\n")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit))
    assert "8.0.RC3" in doctor.check_cann().detail
    assert "needed 8.3 or later" in doctor.check_cann().detail


def test_stale_home_path(no_toolkit, monkeypatch):
    monkeypatch.setenv("ASCEND_HOME_PATH", "/nowhere/cann")
    check = doctor.check_cann()
    assert check.status == WRONG
    assert "no such folder" in check.detail


def test_npu_smi_states(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor.check_npu_smi().status == MISSING
    fake_program(tmp_path, "npu-smi", "echo 'dcmi module initialize failed' >&2; exit 1")
    assert doctor.check_npu_smi().detail == "dcmi module initialize failed"
    fake_program(tmp_path, "npu-smi", "echo 910B1")
    assert doctor.check_npu_smi().status == FOUND


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["doctor", "--colour"]])
def test_wrong_command_line_exits_with_two(arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert "usage: python -m tvm_ascend" in done.stderr

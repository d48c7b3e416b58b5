# SPDX-License-Identifier: Apache-2.0
"""A wheel holds all that a kernel needs, and works outside of the source tree."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import numpy as np
import tvm_ascend
from tvm_ascend import language as T

@T.prim_func
def double(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1) as bx:
        a = T.alloc_fragment((64,), "float32")
        T.copy(A, a)
        for i in T.Parallel(64):
            B[i] = a[i] + a[i]

x = np.arange(64, dtype="float32")
for executor in ("simulator", "twin"):
    options = tvm_ascend.Options(executor=executor, cache=False)
    assert (tvm_ascend.compile(double, out_idx=[1], options=options)(x) == x + x).all()
print(tvm_ascend.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, timeout=600)
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.slow
def test_one_wheel_serves_every_python(wheel):
    assert wheel.name.startswith("tvm_ascend-")
    assert "-py3-none-linux_" in wheel.name


@pytest.mark.slow
def test_wheel_holds_library_and_headers(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "tvm_ascend/py.typed",
        "tvm_ascend/lib/libtvm_ascend.so",
        "tvm_ascend/include/twin/kernel_operator.h",
        "tvm_ascend/include/twin/twin_api.h",
    } <= names
    assert not [name for name in names if name.startswith(("tests/", "src/", "build/"))]


@pytest.mark.slow
def test_wheel_works_outside_of_the_source_tree(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).parent == tmp_path / "site" / "tvm_ascend"

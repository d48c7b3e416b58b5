# SPDX-License-Identifier: Apache-2.0
"""Build the native library with CMake and ship it, with the twin's headers, in one py3 wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
SCRIPTS = Path(sys.executable).parent


def find_tool(names: list[str], mend: str) -> str:
    """Path of the first program found beside this Python or on PATH; a clear exit when none is."""
    path = os.pathsep.join([str(SCRIPTS), os.environ.get("PATH", "")])
    for name in filter(None, names):
        found = shutil.which(name, path=path)
        if found:
            return found
    wanted = " or ".join(filter(None, names))
    raise SystemExit(f"tvm_ascend: cannot build the native library, {wanted} not found. {mend}")


class CMakeBuild(build_ext):
    """Configure and build into ``tvm_ascend/lib`` of the source tree or of the wheel."""

    def run(self) -> None:
        cmake = find_tool(["cmake"], "Install it with: pip install cmake")
        ninja = find_tool(["ninja"], "Install it with: pip install ninja")
        cxx = find_tool(
            [os.environ.get("CXX", ""), "c++", "g++", "clang++"],
            "Install a C++17 compiler, e.g. apt-get install g++, or set CXX.",
        )
        package = ROOT if self.inplace else Path(self.build_lib).resolve()
        build_dir = ROOT / "build" / "native"
        self.cmake(
            [
                cmake,
                "-S", str(ROOT),
                "-B", str(build_dir),
                "-G", "Ninja",
                f"-DCMAKE_MAKE_PROGRAM={ninja}",
                f"-DCMAKE_CXX_COMPILER={cxx}",
                f"-DCMAKE_BUILD_TYPE={os.environ.get('TVM_ASCEND_BUILD_TYPE', 'Release')}",
                f"-DPython_EXECUTABLE={sys.executable}",
                f"-DTVM_ASCEND_LIB_DIR={package / 'tvm_ascend' / 'lib'}",
            ]
        )  # fmt: skip
        self.cmake([cmake, "--build", str(build_dir), "--parallel", str(os.cpu_count() or 1)])

    def cmake(self, command: list[str]) -> None:
        if subprocess.run(command, check=False).returncode:
            raise SystemExit(
                f"tvm_ascend: the native library did not build; the failing command was: "
                f"{' '.join(command)}"
            )

    def get_outputs(self) -> list[str]:
        lib = Path(self.build_lib) / "tvm_ascend" / "lib"
        return [str(path) for path in lib.glob("*")]


class BuildPy(build_py):
    """Copy the host headers of Ascend C beside the package, where the twin executor looks."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            into = Path(self.build_lib) / "tvm_ascend" / "include" / "twin"
            shutil.copytree(ROOT / "src" / "twin", into, dirs_exist_ok=True)
            shutil.copy(ROOT / "src" / "sim" / "twin_api.h", into)


class PlatformWheel(bdist_wheel):
    """The library uses no CPython interface: one wheel per platform serves every Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class NativeDistribution(Distribution):
    """A distribution that knows it holds machine code."""

    def has_ext_modules(self) -> bool:
        return True


setup(
    distclass=NativeDistribution,
    ext_modules=[Extension("tvm_ascend.lib.libtvm_ascend", sources=[])],
    cmdclass={"build_ext": CMakeBuild, "build_py": BuildPy, "bdist_wheel": PlatformWheel},
)

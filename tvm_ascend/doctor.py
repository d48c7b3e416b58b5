# SPDX-License-Identifier: Apache-2.0
"""``python -m tvm_ascend doctor``: what this machine has, what that means, what mends it.

Nothing here imports TVM or loads the native library: each is probed in a process of its own, so
that a crash in one of them is a line of the report.
"""

from __future__ import annotations

import json
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from . import compiler
from .cann import find_cann
from .isa.cann import OLDEST_CANN

PINS = {"apache-tvm": "0.27.0.post1", "apache-tvm-ffi": "0.1.14.post1"}
OLDEST_PYTHON = (3, 10)
PROBE_SECONDS = 120
FOUND, MISSING, WRONG = "found", "missing", "wrong"


@dataclass(frozen=True)
class Check:
    """One line of the report. ``required`` means no kernel runs without it."""

    name: str
    status: str
    detail: str
    meaning: str = ""
    mend: str = ""
    required: bool = False

    @property
    def blocks(self) -> bool:
        """Whether this finding keeps kernels from compiling and running on the simulator."""
        return self.required and self.status != FOUND


def _pip(what: str) -> str:
    return f"{sys.executable} -m pip install {what}"


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


def _distribution(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _run(command: list[str], text: str = "") -> tuple[bool, str]:
    """Run a command: (worked, the first line it printed, or the last line of its complaint)."""
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as reason:
        return False, str(reason)
    if done.returncode < 0:
        return False, f"the process died with signal {-done.returncode}"
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        return False, lines[-1] if lines else f"exit code {done.returncode}"
    return True, next(iter(done.stdout.strip().splitlines()), "")


def _probe(code: str) -> tuple[bool, str]:
    """Run Python code in a fresh process."""
    return _run([sys.executable, "-W", "ignore", "-c", code])


def check_python() -> Check:
    detail = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info >= OLDEST_PYTHON:
        return Check("python", FOUND, detail)
    needed = _dotted(OLDEST_PYTHON)
    mend = f"make test PYTHON=python{needed}"
    return Check("python", WRONG, detail, f"Python {needed} or later is needed", mend, True)


def check_package() -> Check:
    found, home = _distribution("tvm-ascend"), Path(__file__).parent
    if found is not None:
        return Check("tvm_ascend", FOUND, f"{found} ({home})")
    meaning = "`import tvm` alone does not know the target; `import tvm_ascend` first does"
    return Check("tvm_ascend", WRONG, f"not installed (imported from {home})", meaning, _pip("."))


def _pinned(name: str, distribution: str, module: str, meaning: str) -> Check:
    wanted, found = PINS[distribution], _distribution(distribution)
    mend = _pip(f"--force-reinstall {distribution}=={wanted}")
    if found is None and find_spec(module) is None:
        return Check(name, MISSING, "not installed", meaning, mend, True)
    worked, said = _probe(f"import {module}; print({module}.__version__)")
    if not worked:
        return Check(name, WRONG, f"{found} does not import: {said}", meaning, mend, True)
    if (found or said) != wanted:
        return Check(name, WRONG, f"{found or said}, needed {wanted}", meaning, mend, True)
    return Check(name, FOUND, wanted, required=True)


def check_tvm() -> Check:
    return _pinned("tvm", "apache-tvm", "tvm", "no kernel can be compiled")


def check_tvm_ffi() -> Check:
    meaning = "another version does not fit TVM: 0.1.15 ends the process in Schedule.tensorize"
    return _pinned("tvm-ffi", "apache-tvm-ffi", "tvm_ffi", meaning)


def check_target() -> Check:
    worked, said = _probe("import tvm; print(tvm.target.Target('ascend').attrs['model'])")
    if worked:
        return Check("target", FOUND, f"Target('ascend') resolves to {said}", required=True)
    meaning = "`import tvm` does not know the target"
    return Check("target", WRONG, said, meaning, _pip("--force-reinstall --no-deps ."), True)


def check_llvm() -> Check:
    worked, said = _probe(
        "import tvm; assert tvm.runtime.enabled('llvm'), 'this TVM has no LLVM';"
        "print('LLVM', tvm.target.codegen.llvm_version_major())"
    )
    if worked:
        return Check("llvm", FOUND, said, required=True)
    meaning = "the simulator's control programs cannot be compiled"
    return Check("llvm", MISSING, said, meaning, _pip(f"apache-tvm=={PINS['apache-tvm']}"), True)


def check_compiler() -> Check:
    command = compiler.find()
    meaning = "the native library cannot be rebuilt and the twin executor cannot run"
    mend = "apt-get install g++   (or set CXX to a C++17 compiler)"
    if command is None:
        said = f"{compiler.wanted()} is not on the PATH"
        return Check("compiler", MISSING, said, meaning, mend)
    check_only = [*command, "-std=c++17", "-x", "c++", "-fsyntax-only", "-"]
    worked, said = _run(check_only, "#include <string_view>\n")
    path = shlex.join(command)
    if not worked:
        return Check("compiler", WRONG, f"{path} compiles no C++17: {said}", meaning, mend)
    return Check("compiler", FOUND, f"{path}: {_run([*command, '--version'])[1]}")


def check_native_library() -> Check:
    worked, said = _probe(
        "from tvm_ascend.runtime import native; native.load();"
        "import tvm; print(tvm.get_global_func('tvm_ascend.version')())"
    )
    if worked:
        return Check("native library", FOUND, said, required=True)
    meaning = "the simulator and the twin cannot run; compiling to Ascend C still works"
    mend = _pip("--force-reinstall --no-deps .   (in the source tree; needs a C++ compiler)")
    return Check("native library", WRONG, said, meaning, mend, True)


def _optional(name: str, distributions: list[str], meaning: str, package: str) -> Check:
    found = next(filter(None, map(_distribution, distributions)), None)
    if found is not None:
        return Check(name, FOUND, found)
    return Check(name, MISSING, "not installed", meaning, _pip(package))


def check_xgboost() -> Check:
    meaning = "tuning has no cost model"
    return _optional("xgboost", ["xgboost-cpu", "xgboost"], meaning, "xgboost-cpu")


def check_torch() -> Check:
    return _optional("torch", ["torch"], "pass numpy arrays instead of torch tensors", "torch")


def check_torch_npu() -> Check:
    meaning = "tensors on an NPU cannot be passed; only needed with an NPU"
    package = "torch_npu   (the version that fits your torch and CANN)"
    return _optional("torch_npu", ["torch-npu"], meaning, package)


def check_cann() -> Check:
    needed = OLDEST_CANN
    install = f"install the CANN toolkit {needed} or later, then source its set_env.sh"
    no_compiler = "the NPU executor cannot find its compiler; the simulator does not need it"
    found = find_cann()
    if found is None:
        detail = "ASCEND_HOME_PATH is not set, no toolkit in the usual folders"
        meaning = "kernels run on the simulator only; Ascend C is still emitted"
        return Check("CANN", MISSING, detail, meaning, install)
    if not found.home.is_dir():
        detail = f"ASCEND_HOME_PATH names {found.home}: no such folder"
        return Check("CANN", WRONG, detail, no_compiler, "source the set_env.sh of your toolkit")
    detail, source = (
        f"{found.version or 'version unknown'} in {found.home}",
        f"source {found.set_env}",
    )
    if not found.is_supported:
        meaning = "the emitted Ascend C may not compile"
        return Check("CANN", WRONG, f"{detail}, needed {needed} or later", meaning, install)
    if not found.from_environment:
        return Check("CANN", WRONG, f"{detail}, set_env.sh is not sourced", no_compiler, source)
    if not found.libraries_on_path:
        meaning = "the runtime library of CANN does not load"
        return Check("CANN", WRONG, f"{detail}, LD_LIBRARY_PATH lacks its lib64", meaning, source)
    return Check("CANN", FOUND, f"{detail}, set_env.sh is sourced")


def check_npu_smi() -> Check:
    meaning = "no NPU is visible; kernels run on the simulator"
    mend = "install the Ascend driver and firmware, then: npu-smi info"
    path = shutil.which("npu-smi")
    if path is None:
        return Check("npu-smi", MISSING, "not on PATH", meaning, mend)
    worked, said = _run([path, "info"])
    return Check("npu-smi", FOUND, path) if worked else Check("npu-smi", WRONG, said, meaning, mend)


CHECKS: tuple[Callable[[], Check], ...] = (
    check_python,
    check_package,
    check_tvm,
    check_tvm_ffi,
    check_target,
    check_llvm,
    check_compiler,
    check_native_library,
    check_xgboost,
    check_torch,
    check_torch_npu,
    check_cann,
    check_npu_smi,
)


def _examined(check: Callable[[], Check]) -> Check:
    try:
        return check()
    except Exception as reason:
        name = check.__name__.removeprefix("check_")
        return Check(name, WRONG, f"cannot be examined: {reason!r}")


def examine() -> list[Check]:
    """Run every check; one that fails in an unforeseen way is itself a finding."""
    return [_examined(check) for check in CHECKS]


def render(checks: list[Check]) -> str:
    """The report as text: one line each, then what it means and what mends it."""
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{check.name:<{width}}  {check.status:<7}  {check.detail}")
        if check.meaning:
            lines.append(f"{'':<{width}}  means    {check.meaning}")
        if check.mend:
            lines.append(f"{'':<{width}}  mend     {check.mend}")
    blocked = ", ".join(check.name for check in checks if check.blocks)
    lines.append(
        f"Not ready: mend {blocked} first."
        if blocked
        else "Ready: kernels compile and run on the simulator."
    )
    return "\n".join(lines)


def main(as_json: bool) -> int:
    """Print the report; exit code 1 when something required is missing."""
    checks = examine()
    ready = not any(check.blocks for check in checks)
    if as_json:
        print(json.dumps({"ready": ready, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        print(render(checks))
    return 0 if ready else 1

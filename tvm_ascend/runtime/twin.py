# SPDX-License-Identifier: Apache-2.0
"""The twin executor: emitted Ascend C, compiled by a host compiler, on the simulator."""

from __future__ import annotations

import atexit
import functools
import json
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import tvm_ffi

from tvm_ascend import compiler
from tvm_ascend.errors import TwinCompileError, TwinCompilerBroken, TwinCompilerMissing
from tvm_ascend.options import SimOptions
from tvm_ascend.runtime import native
from tvm_ascend.runtime.launch import launch
from tvm_ascend.runtime.report import Report

# Wrapping and unfused arithmetic, as LLVM does it for the simulator's own path. No built-in
# functions: the compiler would take a kernel named like one for that function.
FLAGS = (
    *("-std=c++17", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-builtin"),
    *("-fwrapv", "-ffp-contract=off", "-w"),
)
_SIGNATURE = re.compile(r'extern "C" __global__ __aicore__ void (\w+)\(')


class TwinExecutor:
    """Runs one kernel's Ascend C; it is compiled at the first launch.

    Parameters
    ----------
    table : the program JSON, for its memories and timing constants.
    source : the emitted Ascend C.
    name : the kernel's name, for the compiler's messages.
    num_args : number of kernel parameters.
    """

    def __init__(self, table: str, source: str, name: str, num_args: int) -> None:
        self._table, self._source, self._name, self._num_args = table, source, name, num_args

    @cached_property
    def _program(self) -> dict:
        # Statements of the emitted text are not those that the table names.
        return json.loads(self._table) | {"untaken": []}

    @cached_property
    def _run(self) -> tvm_ffi.Function:
        """The program, parsed, with its library: arguments and options to a report."""
        library = build_twin(self._source, self._name, self._num_args)
        return prepare_twin(self._table, library)

    def launch(self, args: Sequence, options: SimOptions, fresh: Sequence[int] = ()) -> Report:
        """Run with tensors and integers in parameter order; outputs are written in place.

        ``fresh``: positions of tensors that were allocated for this launch and hold no values yet.
        """
        return launch(self._run, self._program, args, options, fresh)


def twin_include_dirs() -> tuple[Path, ...]:
    """Where the twin's headers are: in an installed package, or in the sources of a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "include" / "twin"
    if installed.is_dir():
        return (installed,)
    sources = package.parent / "src"
    return (sources / "twin", sources / "sim")


def find_compiler() -> list[str]:
    """The C++ compiler with the flags that ``CXX`` carries."""
    found = compiler.find()
    if found is None:
        raise TwinCompilerMissing(compiler.wanted())
    return found


@functools.lru_cache(maxsize=256)
def build_twin(source: str, kernel_name: str, num_args: int) -> Path:
    """Compile emitted Ascend C for this machine; equal sources are compiled once a process.

    Returns
    -------
    The shared library, in a directory of its own that lives as long as the process.

    Raises
    ------
    TwinCompilerMissing, TwinCompilerBroken : nothing is left on disk.
    TwinCompileError : the source stays where the message says.
    """
    command = find_compiler()
    folder = Path(tempfile.mkdtemp(prefix="tvm_ascend_twin_"))
    kernel, main, library = (folder / n for n in ("kernel.cce", "main.cc", "twin.so"))
    kernel.write_text(source)
    symbol = _SIGNATURE.search(source)
    assert symbol is not None, f"no kernel in the source of {kernel_name}"
    main.write_text(
        '#include "kernel.cce"\n#include "twin_main.h"\n'
        f"TVM_ASCEND_TWIN_MAIN({symbol[1]}, {num_args})\n"
    )
    includes = [f"-I{path}" for path in twin_include_dirs()]
    problem = _compile([*command, *includes], main, library)
    if problem is not None:
        try:
            _check_compiler(command)
        except TwinCompilerBroken:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        raise TwinCompileError(kernel_name, kernel, problem)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return library


def _compile(command: Sequence[str], source: Path, library: Path) -> str | None:
    """Compile one file; None when that made a library, else what the compiler said."""
    whole = [*command, *FLAGS, "-o", str(library), str(source)]
    try:
        done = subprocess.run(whole, capture_output=True, text=True, check=False)
    except OSError as error:  # a file that is no program
        return str(error)
    return done.stderr.strip() if done.returncode or not library.exists() else None


def _check_compiler(command: Sequence[str]) -> None:
    """Tell a compiler that compiles nothing from a source that does not compile."""
    with tempfile.TemporaryDirectory(prefix="tvm_ascend_twin_") as folder:
        source = Path(folder, "empty.cc")
        source.write_text("")
        problem = _compile(command, source, Path(folder, "empty.so"))
    if problem is not None:
        raise TwinCompilerBroken(shlex.join(command), problem)


def prepare_twin(program_json: str, library: Path) -> tvm_ffi.Function:
    """A twin as a function of arguments and options (JSON) that returns the report (JSON)."""
    native.load()
    return tvm_ffi.get_global_func("tvm_ascend.sim.prepare_twin")(program_json, str(library))

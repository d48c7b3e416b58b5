# SPDX-License-Identifier: Apache-2.0
"""What every row emits compiles against the twin's headers, for each naming and element type."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from final_functions import row_function

from tvm_ascend.codegen.ascendc import emit
from tvm_ascend.isa.table import TABLE
from tvm_ascend.runtime.twin import find_compiler, twin_include_dirs

INCLUDE = '#include "kernel_operator.h"\n'


def compiler_command(name):
    """The compiler of the twin, or clang++ where there is one."""
    if name == "default":
        return find_compiler()
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not on the PATH")
    return [path]


@pytest.mark.parametrize("compiler", ["default", "clang++"])
@pytest.mark.parametrize("cann", ["8.3", "9.1"])
def test_every_row_compiles(cann, compiler, tmp_path):
    command = compiler_command(compiler)
    sources = []
    for row in (row for row in TABLE.values() if row.since <= cann):
        for dtypes in row.dtypes:
            for literal in (True, False):
                name = "_".join((row.key, *dtypes, "literal" if literal else "variable"))
                function = row_function(name, row, dtypes, literal)
                sources.append(emit(function, cann).replace(INCLUDE, ""))
    path = tmp_path / "rows.cc"
    path.write_text(INCLUDE + "".join(sources))
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    includes = [f"-I{folder}" for folder in twin_include_dirs()]
    done = subprocess.run(
        [*command, *flags, *includes, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

# SPDX-License-Identifier: Apache-2.0
"""Emitted Ascend C: one statement per instruction row, and whole kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
from final_functions import (
    cube_kernel,
    loaded_bounds,
    mixed_kernel,
    row_function,
    scalar_kernel,
    unknown_function,
    vector_kernel,
)

from tvm_ascend.codegen import ascendc, cexpr, ctext
from tvm_ascend.codegen.ascendc import emit, row_text
from tvm_ascend.errors import NeedsNewerCann, ScalarCodeError
from tvm_ascend.isa.table import TABLE

VERSIONS = ("8.3", "9.1")


def statement(source: str) -> str:
    """The lines of a one-instruction kernel that follow its declarations."""
    lines = source.splitlines()
    declarations = (
        "AscendC::GlobalTensor",
        "AscendC::LocalTensor",
        "AscendC::TBuf",
        "AscendC::TPipe",
    )
    last = max(
        number
        for number, line in enumerate(lines)
        if line[2:].startswith((*declarations, "KERNEL_TASK", "pipe.Destroy"))
        or ".SetGlobalBuffer(" in line
    )
    return "\n".join(line for line in lines[last + 1 : -1] if "pipe.Init();" not in line) + "\n"


@pytest.mark.parametrize("row", TABLE.values(), ids=list(TABLE))
def test_emission(row, golden):
    known = [v for v in VERSIONS if v >= row.since]
    versions = [v for v in known if v == known[0] or row_text(row, v) != row.emit]
    text = ""
    for version in versions:
        for dtypes in row.dtypes:
            function = row_function("kernel", row, dtypes, True)
            text += f"// CANN {version}, {', '.join(dtypes)}\n{statement(emit(function, version))}"
        variable = row_function("kernel", row, row.dtypes[0], False)
        text += f"// run-time parameters\n{statement(emit(variable, version))}"
    golden(text, ".cce")


def test_a_call_that_the_headers_lack_is_refused():
    function = row_function("kernel", TABLE["set_ctrl_spr"], ())
    with pytest.raises(NeedsNewerCann, match=r"SetCtrlSpr.*CANN 9\.1 and later.*CANN 9\.0"):
        emit(function, "9.0")
    assert "SetCtrlSpr<48, 48>(1);" in emit(function, "9.1")


def test_names_follow_the_cann_version():
    row = TABLE["fill_l1"]
    assert row_text(row, "8.3") == row_text(row, "8.5") == row.emit
    assert row_text(row, "9.0") == row_text(row, "9.1") == row_text(row, "10.0") != row.emit


@pytest.mark.parametrize(
    "kernel",
    [vector_kernel, cube_kernel, mixed_kernel, scalar_kernel],
    ids=["vector", "cube", "mixed", "scalar"],
)
def test_whole_kernel(kernel, golden):
    golden(emit(kernel), ".cce")


def test_whole_kernel_with_newer_names(golden):
    golden(emit(cube_kernel, "9.1"), ".cce")


def test_bounds_that_read_memory_are_read_once():
    text = emit(loaded_bounds)
    header = next(line for line in text.splitlines() if "for (" in line)
    assert "GetValue" not in header
    # TIR itself names the lower bound twice: as the minimum and in the extent.
    assert text.count("GetValue") == 3


def test_a_function_without_a_text_names_the_line():
    with pytest.raises(ScalarCodeError, match=r"final_functions\.py:\d+: .*`popcount`"):
        emit(unknown_function)


def test_no_instruction_name_is_in_the_emitter():
    text = "".join(Path(m.__file__).read_text() for m in (ascendc, cexpr, ctext))
    words = set(text.replace("(", " ").replace(":", " ").split())
    names = {row.name for row in TABLE.values()} - {"Max", "Min"}
    assert not words & names

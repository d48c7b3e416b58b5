# SPDX-License-Identifier: Apache-2.0
"""Emitted Ascend C type-checks against CANN's own headers, as its CPU-debug mode compiles it.

Needs those headers: CONTRIBUTING says where ``TVM_ASCEND_CANN_HEADERS`` must point.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from final_functions import cube_kernel, row_function, scalar_kernel, vector_kernel

from tvm_ascend.codegen.ascendc import emit
from tvm_ascend.isa.table import TABLE
from tvm_ascend.runtime.twin import find_compiler

HEADERS = os.environ.get("TVM_ASCEND_CANN_HEADERS", "")
pytestmark = [
    pytest.mark.cann,
    pytest.mark.slow,
    pytest.mark.skipif(not HEADERS, reason="TVM_ASCEND_CANN_HEADERS is not set"),
]

# No headers of 8.3 are published; its names are those of 8.5.
TREE_OF = {"8.3": "8.5", "8.5": "8.5", "9.0": "9.0", "9.1": "9.1"}
INCLUDE = '#include "kernel_operator.h"\n'
FOLDERS = {
    "asc-devkit": (
        "",
        "include",
        "include/basic_api",
        "include/utils",
        "impl",
        "impl/basic_api",
        "impl/utils",
    ),
    "asc-tools": (
        "cpudebug/include",
        "cpudebug/utils",
        "cpudebug/utils/include",
        "cpudebug/utils/include/utils",
        "cpudebug/utils/include/basic_api",
    ),
}
# CPU debug of a 910B core.
DEFINES = (
    "__CCE_KT_TEST__=1",
    "ASCENDC_CPU_DEBUG=1",
    "__CCE_AICORE__=220",
    "__NPU_ARCH__=2201",
    # A run-time check that comes with the library of algorithms.
    "CHECK_FUNC_HIGHLEVEL_API(...)=",
)
# The headers take the intrinsics and these types of them from a library that is not published.
TYPES = {
    "pipe_t": "PIPE_S PIPE_V PIPE_M PIPE_MTE1 PIPE_MTE2 PIPE_MTE3 PIPE_ALL PIPE_MTE4 PIPE_MTE5 "
    "PIPE_V2 PIPE_FIX",
    "event_t": "EVENT_ID0 EVENT_ID1 EVENT_ID2 EVENT_ID3 EVENT_ID4 EVENT_ID5 EVENT_ID6 EVENT_ID7",
    "QuantMode_t": "NoQuant F322F16 F322BF16 DEQF16 VDEQF16 QF322B8_PRE VQF322B8_PRE REQ8 VREQ8",
    "cache_line_t": "SINGLE_CACHE_LINE ENTIRE_DATA_CACHE",
    "dcci_dst_t": "CACHELINE_ALL CACHELINE_UB CACHELINE_OUT CACHELINE_ATOMIC",
    "Order_t": "VALUE_INDEX INDEX_VALUE ONLY_VALUE ONLY_INDEX",
    "pad_t": "PAD_NONE PAD_MODE1 PAD_MODE2 PAD_MODE3 PAD_MODE4 PAD_MODE5 PAD_MODE6 PAD_MODE7",
    "mem_t": "L1 L0A L0B L0C UB BT",
    "addr_cal_mode_t": "inc dec",
    "ub_addr8_t": "VA0 VA1 VA2 VA3 VA4 VA5 VA6 VA7",
    "atomic_type_t": "ATOMIC_NONE ATOMIC_F32 ATOMIC_F16 ATOMIC_S16 ATOMIC_S32 ATOMIC_S8 "
    "ATOMIC_BF16",
    "atomic_op_t": "ATOMIC_SUM",
    "vpart_t": "L128 H128",
    "mem_dsb_t": "DSB_ALL DSB_DDR DSB_UB DSB_SEQ",
}
MISSING = (
    re.compile(r"error: '(\w+)' was not declared in this scope"),
    re.compile(r"error: there are no arguments to '(\w+)'"),
)
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}


class Tree:
    """The headers of one CANN version, and what they leave open."""

    def __init__(self, version: str, folder: Path) -> None:
        self.root, self.folder = Path(HEADERS) / version, folder
        self.intrinsics: set[str] = set()
        entry = self.root / "asc-devkit/include/basic_api/kernel_operator_intf.h"
        # The library of ready-made algorithms, which no emitted text uses, needs generated files.
        for name in re.findall(r'#include "(include/adv_api/[^"]+)"', entry.read_text()):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("")

    def check(self, text: str) -> str:
        """The compiler's errors in a text, with every missing intrinsic declared."""
        source = self.folder / "kernels.cc"
        source.write_text(text)
        while True:
            self._declare()
            errors = self._compile(source)
            inside = [line for line in errors.splitlines() if not line.startswith(str(source))]
            missing = {m for p in MISSING for line in inside for m in p.findall(line)}
            if not missing - self.intrinsics:
                return errors
            self.intrinsics |= missing

    def _declare(self) -> None:
        enums = [
            f"enum {name} {{ {', '.join(values.split())} }};\n" for name, values in TYPES.items()
        ]
        functions = [
            f"template <typename... A> int64_t {name}(A&&...);\n"
            for name in sorted(self.intrinsics)
        ]
        text = "#pragma once\n#include <cstdint>\n" + "".join([*enums, *functions])
        (self.folder / "stub_fun.h").write_text(text)

    def _compile(self, source: Path) -> str:
        folders = [self.folder]
        folders += [self.root / tree / f for tree, names in FOLDERS.items() for f in names]
        # The headers return what some intrinsics return from functions of void: permitted there,
        # and nowhere in our text.
        flags = ["-std=c++17", "-fsyntax-only", "-fpermissive", "-fmax-errors=0"]
        command = [*find_compiler(), *flags, *(f"-D{d}" for d in DEFINES)]
        command += [*(f"-I{folder}" for folder in folders), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
        lines = done.stderr.splitlines()
        errors = [line for line in lines if "error:" in line]
        errors += [line for line in lines if line.startswith(f"{source}:") and "permissive" in line]
        assert errors or not done.returncode, done.stderr
        return "\n".join(errors)


def kernels(cann: str) -> str:
    """Every row in every element type, and the whole kernels of the golden files."""
    functions = [
        row_function("_".join((row.key, *dtypes, str(literal))), row, dtypes, literal)
        for row in TABLE.values()
        for dtypes in row.dtypes
        for literal in (True, False)
    ]
    functions += [vector_kernel, cube_kernel, scalar_kernel]
    return INCLUDE + "".join(emit(f, cann).replace(INCLUDE, "") for f in functions)


@pytest.mark.parametrize("cann", TREE_OF)
def test_every_golden_kernel_type_checks(cann, tmp_path):
    assert Tree(TREE_OF[cann], tmp_path).check(kernels(cann)) == ""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("DataCopyExtParams(1, 128,", "DataCopyExtParams(1, 128, 0, 0, 0,"),
        ("AscendC::Muls(wide, wide, 2.0f, 64)", "AscendC::Muls(wide, tile, 2.0f, 64)"),
        ("HardEvent::V_MTE3", "HardEvent::MTE3_MTE3"),
        ("AscendC::RoundMode::CAST_NONE", "AscendC::RoundMode::CAST_NEAREST"),
        ("AscendC::Add(", "AscendC::Plus("),
    ],
)
def test_a_wrong_text_is_refused(right, wrong, tmp_path):
    text = emit(vector_kernel, "8.5")
    assert right in text
    tree = Tree("8.5", tmp_path)
    assert tree.check(text) == ""
    assert "kernels.cc" in tree.check(text.replace(right, wrong))

# SPDX-License-Identifier: Apache-2.0
"""Emitted Ascend C, compiled by g++, gives the bits and the cycles of the LLVM path."""

from __future__ import annotations

import json
import tempfile

import numpy as np
import pytest
import tvm
from final_functions import cube_kernel, scalar_kernel, vector_kernel

from tvm_ascend.codegen.ascendc import emit
from tvm_ascend.codegen.program import build_program
from tvm_ascend.errors import (
    RaceError,
    TwinCompileError,
    TwinCompilerBroken,
    TwinCompilerMissing,
)
from tvm_ascend.hw import CHIPS, DEFAULT_CHIP
from tvm_ascend.options import SimOptions
from tvm_ascend.runtime import twin
from tvm_ascend.runtime.simulator import SimulatorExecutor

CHIP = CHIPS[DEFAULT_CHIP]
EMPTY = 'extern "C" __global__ __aicore__ void k(GM_ADDR a) {\n}\n'


def inputs(*shapes_and_types, seed=0):
    rng = np.random.default_rng(seed)
    return [
        value if isinstance(value, int) else rng.integers(-4, 5, value[0]).astype(value[1])
        for value in shapes_and_types
    ]


CASES = {
    "vector": (vector_kernel, inputs(((8, 64), "float16"), ((8, 64), "float32"))),
    "cube": (
        cube_kernel,
        inputs(((32, 16), "float16"), ((16, 16), "float16"), ((32, 16), "float32")),
    ),
    "scalar": (scalar_kernel, inputs(((64,), "float16"), ((64,), "float32"), 9)),
}


def both(func, values):
    """Outputs and report of each path, from equal inputs."""
    program = build_program(func, CHIP)
    executors = (
        SimulatorExecutor(program.table, tvm.ir.save_json(program.control)),
        twin.TwinExecutor(program.table, emit(func), str(func.attrs["global_symbol"]), len(values)),
    )
    found = []
    for executor in executors:
        args = [v if isinstance(v, int) else tvm.runtime.tensor(v) for v in values]
        report = executor.launch(args, SimOptions())
        found.append(([a.numpy() for a in args if not isinstance(a, int)], report))
    return found


@pytest.mark.parametrize("case", CASES)
def test_twin_equals_the_llvm_path(case):
    (ours, our_report), (theirs, their_report) = both(*CASES[case])
    for a, b in zip(ours, theirs, strict=True):
        assert a.tobytes() == b.tobytes()
    assert our_report.cycles == their_report.cycles
    assert our_report.bytes == their_report.bytes


def test_the_vector_kernel_computes():
    a, _ = CASES["vector"][1]
    (_, b), _ = both(*CASES["vector"])[1]
    np.testing.assert_array_equal(b, a.astype("float32") * 4)


def test_the_cube_kernel_computes():
    a, b, _ = CASES["cube"][1]
    (_, _, c), _ = both(*CASES["cube"])[1]
    np.testing.assert_array_equal(c, a.astype("float32") @ b.astype("float32"))


def test_a_missing_wait_is_reported_by_the_twin_too():
    text = emit(vector_kernel)
    wait = "    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(0);\n"
    assert wait in text
    program = build_program(vector_kernel, CHIP)
    executor = twin.TwinExecutor(program.table, text.replace(wait, ""), "twice", 2)
    with pytest.raises(RaceError, match=r"kernel\.cce:\d+.*V_MTE3"):
        executor.launch([tvm.runtime.tensor(v) for v in CASES["vector"][1]], SimOptions())


def test_equal_sources_are_compiled_once():
    source = '#include "kernel_operator.h"\n' + EMPTY
    first = twin.build_twin(source, "k", 1)
    assert twin.build_twin(source, "k", 1) == first
    assert twin.build_twin(source + "\n", "k", 1).parent != first.parent


def test_source_that_does_not_compile_shows_what_the_compiler_said():
    with pytest.raises(TwinCompileError, match=r"(?s)kernel `odd`.*kernel\.cce.*Nothing"):
        twin.build_twin(EMPTY.replace("{\n", "{ Nothing();\n"), "odd", 1)


def test_another_number_of_parameters_does_not_compile():
    with pytest.raises(TwinCompileError, match="another number of parameters"):
        twin.build_twin('#include "kernel_operator.h"\n' + EMPTY, "k", 2)


def test_no_compiler_is_a_clear_error(monkeypatch):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(TwinCompilerMissing, match=r"`g\+\+`.*apt-get install g\+\+"):
        twin.find_compiler()


def test_the_chosen_compiler_must_exist(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(TwinCompilerMissing, match="no-such-compiler"):
        twin.find_compiler()


def test_a_command_that_is_no_command_is_named(monkeypatch):
    monkeypatch.setenv("CXX", "g++ '")
    with pytest.raises(TwinCompilerMissing, match="g\\+\\+ '"):
        twin.find_compiler()


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    """Where the twin's folders appear."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    twin.build_twin.cache_clear()
    return tmp_path


@pytest.mark.parametrize(
    ("command", "said"), [("c++ --bogusflag", "bogusflag"), ("/bin/true", "nothing")]
)
def test_a_compiler_that_compiles_nothing_is_told_from_wrong_source(
    monkeypatch, temporary, command, said
):
    monkeypatch.setenv("CXX", command)
    with pytest.raises(TwinCompilerBroken, match=rf"(?s){command.split()[-1]}.*{said}"):
        twin.build_twin(EMPTY, "k", 1)
    assert list(temporary.iterdir()) == []


def test_only_source_that_a_message_names_is_left_behind(monkeypatch, temporary):
    with pytest.raises(TwinCompileError) as caught:
        twin.build_twin(EMPTY.replace("{\n", "{ Nothing();\n"), "odd", 1)
    (left,) = temporary.iterdir()
    assert str(left) in str(caught.value)
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(TwinCompilerMissing):
        twin.build_twin(EMPTY, "k", 1)
    assert list(temporary.iterdir()) == [left]


def test_headers_of_an_installed_package_come_first(monkeypatch, tmp_path):
    package = tmp_path / "tvm_ascend"
    (package / "include" / "twin").mkdir(parents=True)
    monkeypatch.setattr(twin, "__file__", str(package / "runtime" / "twin.py"))
    assert twin.twin_include_dirs() == (package / "include" / "twin",)


def test_the_trace_names_the_emitted_statements(tmp_path):
    program = build_program(vector_kernel, CHIP)
    executor = twin.TwinExecutor(program.table, emit(vector_kernel), "twice", 2)
    args = [tvm.runtime.tensor(v) for v in CASES["vector"][1]]
    report = executor.launch(args, SimOptions(trace=True))
    events = json.loads(report.trace(tmp_path / "t.json").read_text())["traceEvents"]
    places = {e["args"]["where"] for e in events if e["ph"] == "X"}
    assert places
    assert all(place.startswith("kernel.cce:") for place in places)

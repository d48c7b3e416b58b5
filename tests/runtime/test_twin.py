# SPDX-License-Identifier: Apache-2.0
"""Emitted Ascend C, compiled by g++, gives the bits and the cycles of the LLVM path."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm.script import tirx as T

from tvm_ascend.codegen.ascendc import emit
from tvm_ascend.codegen.program import build_program
from tvm_ascend.errors import AscendError, TwinCompileError, TwinCompilerMissing
from tvm_ascend.hw import CHIPS, DEFAULT_CHIP
from tvm_ascend.language import ops  # noqa: F401  registers T.ascend
from tvm_ascend.options import SimOptions
from tvm_ascend.runtime import twin
from tvm_ascend.runtime.simulator import SimulatorExecutor

CHIP = CHIPS[DEFAULT_CHIP]
EMPTY = 'extern "C" __global__ __aicore__ void k(GM_ADDR a) {\n}\n'


@T.prim_func
def vector_kernel(A: T.Buffer((8, 64), "float16"), B: T.Buffer((8, 64), "float32")):
    T.func_attr({"global_symbol": "twice", "ascend.core_type": "AIV", "ascend.grid": 4})
    with T.launch_thread("blockIdx.x", 4) as bx:
        tile = T.alloc_buffer(
            (2, 64), "float16", scope="shared.ub", annotations={"ascend.address": 0}
        )
        wide = T.alloc_buffer(
            (64,), "float32", scope="shared.ub", annotations={"ascend.address": 256}
        )
        for row in range(2):
            T.ascend.data_copy_pad_in(
                tile[row % 2, 0], A[bx * 2 + row, 0], 1, 128, 0, 0, False, 0, 0, 0.0
            )
            T.ascend.set_flag("MTE2_V", row % 2)
            T.ascend.wait_flag("MTE2_V", row % 2)
            if row > 0:
                T.ascend.set_flag("MTE3_V", 0)
                T.ascend.wait_flag("MTE3_V", 0)
            T.ascend.cast(wide[0], tile[row % 2, 0], "CAST_NONE", 64)
            T.ascend.pipe_barrier("V")
            T.ascend.muls(wide[0], wide[0], 2.0, 64)
            T.ascend.pipe_barrier("V")
            T.ascend.add_repeat(wide[0], wide[0], wide[0], 64, 1, 1, 1, 1, 8, 8, 8)
            T.ascend.set_flag("V_MTE3", 0)
            T.ascend.wait_flag("V_MTE3", 0)
            T.ascend.data_copy_pad_out(B[bx * 2 + row, 0], wide[0], 1, 256, 0, 0)


@T.prim_func
def cube_kernel(
    A: T.Buffer((32, 16), "float16"),
    B: T.Buffer((16, 16), "float16"),
    C: T.Buffer((32, 16), "float32"),
):
    T.func_attr({"global_symbol": "gemm", "ascend.core_type": "AIC", "ascend.grid": 2})
    with T.launch_thread("blockIdx.x", 2) as bx:
        a1 = T.alloc_buffer((256,), "float16", scope="shared.l1", annotations={"ascend.address": 0})
        b1 = T.alloc_buffer(
            (256,), "float16", scope="shared.l1", annotations={"ascend.address": 512}
        )
        a2 = T.alloc_buffer((256,), "float16", scope="local.l0a", annotations={"ascend.address": 0})
        b2 = T.alloc_buffer((256,), "float16", scope="local.l0b", annotations={"ascend.address": 0})
        c1 = T.alloc_buffer((256,), "float32", scope="local.l0c", annotations={"ascend.address": 0})
        T.ascend.data_copy_nd2nz(a1[0], A[bx * 16, 0], 1, 16, 16, 0, 16, 16, 1, 0)
        T.ascend.data_copy_nd2nz(b1[0], B[0, 0], 1, 16, 16, 0, 16, 16, 1, 0)
        T.ascend.set_flag("MTE2_MTE1", 0)
        T.ascend.wait_flag("MTE2_MTE1", 0)
        T.ascend.load_data_2d(a2[0], a1[0], 0, 1, 1, 0, False)
        T.ascend.load_data_2d(b2[0], b1[0], 0, 1, 1, 0, True)
        T.ascend.set_flag("MTE1_M", 0)
        T.ascend.wait_flag("MTE1_M", 0)
        T.ascend.mmad(c1[0], a2[0], b2[0], 16, 16, 16, True)
        T.ascend.set_flag("M_FIX", 0)
        T.ascend.wait_flag("M_FIX", 0)
        T.ascend.fixpipe(C[bx * 16, 0], c1[0], 16, 16, 16, 16, False, "NoQuant")


@T.prim_func
def scalar_kernel(A: T.Buffer((64,), "float16"), B: T.Buffer((64,), "float32"), n: T.int32):
    T.func_attr({"global_symbol": "main", "ascend.core_type": "AIV", "ascend.grid": 1})
    with T.launch_thread("blockIdx.x", 1) as bx:
        for i in range(n):
            if i % 2 == 0 and n > 3:
                A[i] = A[i] * T.float16(0.1) + T.Cast("float16", T.sqrt(T.abs(B[i])))
            else:
                B[(i - 5) // 3 + 2 + bx] = T.if_then_else(
                    i < 3, T.max(B[i], T.float32(0)), T.float32(1e-5)
                )
            B[i] = T.Select(i > 1, B[1], B[2]) + T.exp(B[3]) + T.tanh(B[i])
        while B[0] > T.float32(0):
            B[0] = B[0] - T.float32(1)


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
    with pytest.raises(AscendError):
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


def test_headers_of_an_installed_package_come_first(monkeypatch, tmp_path):
    package = tmp_path / "tvm_ascend"
    (package / "include" / "twin").mkdir(parents=True)
    monkeypatch.setattr(twin, "__file__", str(package / "runtime" / "twin.py"))
    assert twin.twin_include_dirs() == (package / "include" / "twin",)

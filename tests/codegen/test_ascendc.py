# SPDX-License-Identifier: Apache-2.0
"""Emitted Ascend C: one statement per instruction row, and whole kernels."""

from __future__ import annotations

import pytest
from tvm.script import tirx as T

from tvm_ascend.codegen.ascendc import emit, row_text
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language import ops  # noqa: F401  registers T.ascend

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
        if line.strip().startswith((*declarations, "KERNEL_TASK", "pipe.Destroy"))
        or ".SetGlobalBuffer(" in line
    )
    return "\n".join(line for line in lines[last + 1 : -1] if "pipe.Init();" not in line) + "\n"


@pytest.mark.parametrize("row", TABLE.values(), ids=list(TABLE))
def test_emission(row, row_function, golden):
    versions = [v for v in VERSIONS if v == VERSIONS[0] or row_text(row, v) != row.emit]
    text = ""
    for version in versions:
        for dtypes in row.dtypes:
            function = row_function("kernel", row, dtypes, True)
            text += f"// CANN {version}, {', '.join(dtypes)}\n{statement(emit(function, version))}"
        variable = row_function("kernel", row, row.dtypes[0], False)
        text += f"// run-time parameters\n{statement(emit(variable, version))}"
    golden(text, ".cce")


def test_names_follow_the_cann_version():
    row = TABLE["fill_l1"]
    assert row_text(row, "8.3") == row_text(row, "8.5") == row.emit
    assert row_text(row, "9.0") == row_text(row, "9.1") == row_text(row, "10.0") != row.emit


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
            T.ascend.cast(wide[0], tile[row % 2, 0], "CAST_NONE", 64)
            T.ascend.pipe_barrier("V")
            T.ascend.muls(wide[0], wide[0], 2.0, 64)
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
        T.ascend.fill_l1(a1[0], 1, 16, 0, 0.0)
        T.ascend.pipe_barrier("MTE2")
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
def scalar_kernel(A: T.Buffer((64,), "float16"), half: T.Buffer((64,), "float32"), n: T.int32):
    T.func_attr({"global_symbol": "main", "ascend.core_type": "AIV", "ascend.grid": 1})
    with T.launch_thread("blockIdx.x", 1) as bx:
        for i in range(n):
            if i % 2 == 0 and n > 3:
                A[i] = A[i] * T.float16(0.1) + T.Cast("float16", T.sqrt(half[i]))
            else:
                half[(i - 5) // 3 + 2] = T.if_then_else(
                    i < 3, T.max(half[i], T.float32(0)), T.float32(1e-5)
                )
            for i_1 in range(bx, 4):
                for i_1 in range(2):
                    half[i_1] = T.Select(i_1 > 0, half[1], half[2]) + T.exp(half[3])
        while half[0] > T.float32(0):
            half[0] = half[0] - T.float32(1)


@pytest.mark.parametrize(
    "kernel", [vector_kernel, cube_kernel, scalar_kernel], ids=["vector", "cube", "scalar"]
)
def test_whole_kernel(kernel, golden):
    golden(emit(kernel), ".cce")


def test_whole_kernel_with_newer_names(golden):
    golden(emit(cube_kernel, "9.1"), ".cce")


def test_no_instruction_name_is_in_the_emitter():
    from pathlib import Path

    from tvm_ascend.codegen import ascendc, cexpr, ctext

    text = "".join(Path(m.__file__).read_text() for m in (ascendc, cexpr, ctext))
    words = set(text.replace("(", " ").replace(":", " ").split())
    names = {row.name for row in TABLE.values()} - {"Max", "Min"}
    assert not words & names

# SPDX-License-Identifier: Apache-2.0
"""Statements of a macro compile, and are named by their own line."""

from pathlib import Path

import numpy as np

from tvm_ascend import SimOptions, compile, dev
from tvm_ascend import language as T


@T.macro
def double(tile, extent):
    for i in T.Parallel(extent):
        tile[i] = tile[i] + tile[i]  # the line that reports name


@T.prim_func
def twice(A: T.Tensor((4, 64), "float32"), B: T.Tensor((4, 64), "float32")):
    with T.Kernel(4) as bx:
        tile = T.alloc_fragment((64,), "float32")
        T.copy(A[bx, :], tile)
        double(tile, 64)
        T.copy(tile, B[bx, :])


def test_a_kernel_with_a_macro_runs():
    a = np.arange(256, dtype="float32").reshape(4, 64)
    kernel = compile(twice, out_idx=1)
    assert np.array_equal(kernel(a), 2 * a)


def test_a_hazard_in_a_macro_names_the_line_of_the_macro():
    kernel = compile(twice, out_idx=1)
    hazard = dev.break_statement(kernel, "MTE2_V", np.ones((4, 64), "float32"))
    source = Path(__file__).read_text().splitlines()
    line = next(i for i, text in enumerate(source, 1) if "the line that reports name" in text)
    assert hazard.second.where.endswith(f"test_macro.py:{line}")
    assert kernel.profile(np.ones((4, 64), "float32"), sim=SimOptions(strict=False)).hazards == []


@T.macro
def scale_rows(tile, factors, rows):
    for i, j in T.Parallel(rows, 64):
        tile[i, j] = tile[i, j] * factors[i]


@T.prim_func
def scaled(A: T.Tensor((8, 64), "float32"), F: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        tile = T.alloc_fragment((8, 64), "float32")
        factors = T.alloc_fragment((8,), "float32")
        T.copy(A, tile)
        T.copy(F, factors)
        scale_rows(tile, factors, 8)
        T.copy(tile, A)


def test_statements_of_a_macro_may_need_a_tile_for_intermediate_values():
    a, f = np.arange(512, dtype="float32").reshape(8, 64), np.arange(8, dtype="float32")
    result = a.copy()
    kernel = compile(scaled)
    kernel(result, f)
    assert "scalar:" not in "".join(kernel.artifact.notes)
    assert np.array_equal(result, a * f[:, None])

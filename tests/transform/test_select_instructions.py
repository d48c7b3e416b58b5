# SPDX-License-Identifier: Apache-2.0
"""SelectInstructions: which instructions come out, what stays scalar, what is left alone."""

import numpy as np
import tvm_ffi
from tvm import tirx

from tests.transform.kernels import assert_equal, integers, run, select
from tvm_ascend import language as T
from tvm_ascend.language.ops import key_of
from tvm_ascend.transform.notes import notes_of


def keys(func):
    found = []
    tvm_ffi.structural_walk(func.body, [(tirx.Evaluate, lambda s: found.append(key_of(s)))])
    return found


def test_element_wise_loop_over_rows_is_one_run():
    @T.prim_func
    def kernel(A: T.Tensor((16, 64), "float32"), B: T.Tensor((16, 64), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((16, 64))
            T.copy(A, a)
            for i, j in T.Parallel(16, 64):
                a[i, j] = T.exp(a[i, j])
            T.copy(a, B)

    assert keys(select(kernel)) == ["data_copy_pad_in", "exp", "data_copy_pad_out"]


def test_row_statistics_reach_a_tile_by_broadcast():
    @T.prim_func
    def kernel(A: T.Tensor((16, 64), "float32"), B: T.Tensor((16, 64), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((16, 64))
            m = T.alloc_fragment((16,))
            T.copy(A, a)
            T.reduce_max(a, m, dim=1)
            for i, j in T.Parallel(16, 64):
                a[i, j] = a[i, j] - m[i]
            T.copy(a, B)

    assert keys(select(kernel))[1:-1] == ["whole_reduce_max", "brcb", "sub_repeat"]


def test_clearing_joins_the_accumulation():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32"), S: T.Tensor((1,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            s = T.alloc_fragment((1,))
            T.copy(A, a)
            T.clear(s)
            for i in T.Parallel(64):
                T.atomic_add(s[0], a[i])
            T.copy(s, S)

    assert keys(select(kernel)) == ["data_copy_pad_in", "whole_reduce_sum", "data_copy_pad_out"]


def test_a_power_of_two_divides_by_multiplying():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            T.copy(A, a)
            for i in T.Parallel(64):
                a[i] = a[i] / 8
            for i in T.Parallel(64):
                a[i] = a[i] / 3
            T.copy(a, A)

    assert keys(select(kernel))[1:-1] == ["muls", "duplicate", "div_repeat"]


def test_integer_sums_are_computed_in_the_narrow_dtype():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "int16"), B: T.Tensor((64,), "int16")):
        with T.Kernel(1):
            a = T.alloc_fragment((64,), "int16")
            T.copy(A, a)
            for i in T.Parallel(64):
                a[i] = a[i] * 2 + 1
            T.copy(a, B)

    assert keys(select(kernel))[1:-1] == ["muls", "adds"]


def test_rows_of_ub_are_padded_to_blocks():
    @T.prim_func
    def kernel(A: T.Tensor((4, 5), "float16")):
        with T.Kernel(1):
            a = T.alloc_fragment((4, 5), "float16")
            c = T.alloc_fragment((5, 1), "float16")
            T.copy(A, a)
            T.clear(c)
            T.copy(a, A)

    shapes = []
    tvm_ffi.structural_walk(
        select(kernel).body,
        [(tirx.AllocBuffer, lambda s: shapes.append([int(n) for n in s.buffer.ty.shape]))],
    )
    assert shapes == [[4, 16], [16, 1]]


def test_plain_loops_are_scalar_code_and_reported(rng):
    @T.prim_func
    def kernel(A: T.Tensor((6, 7), "float32"), B: T.Tensor((7, 6), "float32")):
        for i in range(6):
            for j in range(7):
                B[j, i] = A[i, j] + 1.0

    a = integers(rng, 6, 7)
    b = np.zeros((7, 6), "float32")
    (note,) = run(kernel, a, b)
    assert note.startswith("scalar: store to `B` (")
    assert "test_select_instructions.py:" in note
    assert_equal(b, a.T + 1)


def test_what_has_no_instruction_is_scalar_and_right(rng):
    @T.prim_func
    def kernel(
        A: T.Tensor((6, 40), "float32"),
        B: T.Tensor((40, 6), "float32"),
        C: T.Tensor((40,), "float32"),
        D: T.Tensor((40,), "int32"),
    ):
        with T.Kernel(1):
            a = T.alloc_fragment((6, 40))
            c = T.alloc_fragment((40,))
            T.copy(A, a)
            for i, j in T.Parallel(6, 40):
                B[j, i] = a[i, j]
            for i in T.Parallel(40):
                c[i] = T.Select(a[0, i] > 0.0, a[0, i], a[1, i])
            for i in T.Parallel(39):
                c[i] = c[i + 1]
            for i in T.Parallel(40):
                D[i] = i // 3
            T.copy(c, C)

    a = integers(rng, 6, 40)
    b, c, d = np.zeros((40, 6), "float32"), np.zeros(40, "float32"), np.zeros(40, "int32")
    notes = run(kernel, a, b, c, d)
    assert len(notes) == 4
    expected = np.where(a[0] > 0, a[0], a[1])
    expected[:39] = expected[1:].copy()
    assert_equal(b, a.T)
    assert_equal(c, expected)
    assert_equal(d, np.arange(40) // 3)


def test_stores_that_depend_on_each_other_across_iterations_stay_in_order(rng):
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            last = T.alloc_fragment((1,))
            T.copy(A, a)
            last[0] = 0.0
            for i in T.Parallel(64):
                last[0] = a[i]
                a[i] = last[0] + 1.0
            T.copy(a, B)

    a, b = integers(rng, 64), np.zeros(64, "float32")
    (note,) = run(kernel, a, b)
    assert "iterations store to the same element" in note
    assert_equal(b, a + 1)


def test_instructions_and_other_statements_are_left_alone():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            a = T.alloc_ub((64,))
            T.ascend.duplicate(a[0], T.float32(1), 64)
            T.ascend.pipe_barrier("V")

    func = select(kernel)
    assert keys(func) == ["duplicate", "pipe_barrier"]
    assert not notes_of(func)


def test_loops_without_order_of_any_kind_are_vectorised(rng):
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        for i in T.vectorized(64):
            B[i] = A[i] * 2.0
        for i in T.parallel(64):
            B[i] = B[i] + 1.0

    a, b = integers(rng, 64), np.zeros(64, "float32")
    assert not run(kernel, a, b)
    assert_equal(b, a * 2 + 1)

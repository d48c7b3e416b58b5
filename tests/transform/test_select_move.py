# SPDX-License-Identifier: Apache-2.0
"""Copies between global memory and UB: tails, casts, shapes."""

import numpy as np
import pytest

from tests.transform.kernels import assert_equal, integers, run, select
from tvm_ascend import language as T
from tvm_ascend.language.ops import key_of
from tvm_ascend.transform.notes import notes_of


def through_ub(shape, source, target, tile):
    @T.prim_func
    def kernel(A: T.Tensor(shape, source), B: T.Tensor(shape, target)):
        with T.Kernel(1):
            a = T.alloc_fragment(shape, tile)
            T.copy(A, a)
            T.copy(a, B)

    return kernel


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("float32", "float16"),
        ("int8", "float32"),
        ("float32", "int8"),
        ("uint8", "int32"),
        ("int32", "float16"),
        ("float16", "int32"),
        ("int16", "int32"),
        ("float32", "int32"),
        ("int8", "int8"),
        ("uint16", "uint16"),
    ],
)
def test_casts_on_copy(rng, source, target):
    low = 0 if source.startswith("u") else -100
    a = integers(rng, 3, 50, dtype=source, low=low, high=100)
    b = np.zeros((3, 50), target)
    assert not run(through_ub((3, 50), source, target, target), a, b)
    assert_equal(b, a)


def test_narrowing_an_integer_wraps_on_the_scalar_unit(rng):
    a = integers(rng, 40, dtype="int32", low=-1000, high=1000)
    b = np.zeros(40, "int8")
    notes = run(through_ub((40,), "int32", "int8", "int8"), a, b)
    assert "no instructions cast int32 to int8" in notes[0]
    assert_equal(b, a.astype("int8"))


@pytest.mark.parametrize("dtype", ["float16", "int32", "int8"])
def test_rest_of_a_tile_past_the_edge_is_zero(rng, dtype):
    @T.prim_func
    def kernel(A: T.Tensor((5, 50), dtype), B: T.Tensor((2, 3, 70), dtype)):
        with T.Kernel(2) as bx:
            a = T.alloc_fragment((3, 70), dtype)
            T.copy(A[bx * 3, 0], a)
            T.copy(a, B[bx, 0, 0])

    a = integers(rng, 5, 50, dtype=dtype)
    b = np.full((2, 3, 70), 7, dtype)
    run(kernel, a, b)
    expected = np.zeros((6, 70), dtype)
    expected[:5, :50] = a
    assert_equal(b, expected.reshape(2, 3, 70))


def test_strided_rows_and_slices(rng):
    @T.prim_func
    def kernel(A: T.Tensor((6, 5, 40), "float32"), B: T.Tensor((6, 40), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((6, 40))
            T.copy(A[:, 2, :], a)
            T.copy(a[2:4, :], B[0:2, :])
            T.copy(a[0, 0], B[2, 0])
            T.copy(a[0:3, 8:24], B[3:6, 8:24])

    a, b = integers(rng, 6, 5, 40), np.zeros((6, 40), "float32")
    run(kernel, a, b)
    assert_equal(b[0:2], a[2:4, 2])
    assert_equal(b[3:6, 8:24], a[0:3, 2, 8:24])


def test_columns_go_to_the_scalar_unit_and_are_reported(rng):
    @T.prim_func
    def kernel(A: T.Tensor((6, 5), "float32"), B: T.Tensor((6,), "float32")):
        with T.Kernel(1):
            b = T.alloc_fragment((6,))
            T.copy(A[:, 3], b)
            T.copy(b, B)

    a, b = integers(rng, 6, 5), np.zeros(6, "float32")
    (note,) = run(kernel, a, b)
    assert note.startswith("scalar: copy (")
    assert_equal(b, a[:, 3])


def test_between_tensors(rng):
    @T.prim_func
    def kernel(A: T.Tensor((70, 9), "float32"), B: T.Tensor((70, 9), "float16")):
        with T.Kernel(1):
            T.copy(A, B)

    a, b = integers(rng, 70, 9), np.zeros((70, 9), "float16")
    assert not run(kernel, a, b)
    assert_equal(b, a)


def test_more_rows_than_a_copy_takes():
    kernel = through_ub((5000, 3), "float32", "float32", "float32")
    func = select(kernel)
    assert not notes_of(func)
    assert "T.min(" not in func.script()  # split into rows the field holds, in constant pieces
    counts = [int(s.value.args[2]) for s in func.body.body.seq if key_of(s) == "data_copy_pad_in"]
    assert counts == [4095, 905]

# SPDX-License-Identifier: Apache-2.0
"""Element loops as vector instructions: meaning, bit by bit, on the strict simulator."""

import numpy as np
import pytest

from tests.transform.kernels import assert_equal, integers, run
from tvm_ascend import language as T


def add_scaled(rows, cols, tile_rows, tile_cols, dtype):
    @T.prim_func
    def kernel(
        A: T.Tensor((rows, cols), dtype),
        B: T.Tensor((rows, cols), dtype),
        C: T.Tensor((rows, cols), dtype),
    ):
        with T.Kernel(T.ceildiv(rows, tile_rows), T.ceildiv(cols, tile_cols)) as (bx, by):
            a = T.alloc_shared((tile_rows, tile_cols), dtype)
            b = T.alloc_shared((tile_rows, tile_cols), dtype)
            T.copy(A[bx * tile_rows, by * tile_cols], a)
            T.copy(B[bx * tile_rows, by * tile_cols], b)
            for i, j in T.Parallel(tile_rows, tile_cols):
                a[i, j] = a[i, j] + b[i, j] * 2
            T.copy(a, C[bx * tile_rows, by * tile_cols])

    return kernel


@pytest.mark.parametrize(
    ("rows", "cols", "tile_rows", "tile_cols", "dtype"),
    [
        (64, 128, 16, 64, "float32"),
        (33, 70, 16, 32, "float16"),
        (20, 50, 8, 20, "float16"),
        (7, 3, 4, 5, "int32"),
        (130, 9, 130, 9, "int16"),
        (300, 8, 300, 8, "float32"),
    ],
)
def test_tiles_that_run_past_the_edge(rng, rows, cols, tile_rows, tile_cols, dtype):
    a, b = (integers(rng, rows, cols, dtype=dtype) for _ in range(2))
    c = np.zeros_like(a)
    notes = run(add_scaled(rows, cols, tile_rows, tile_cols, dtype), a, b, c)
    assert_equal(c, a + b * 2)
    assert not notes


def broadcasts(rows, cols):
    @T.prim_func
    def kernel(
        A: T.Tensor((rows, cols), "float32"),
        G: T.Tensor((cols,), "float32"),
        R: T.Tensor((rows,), "float32"),
        B: T.Tensor((rows, cols), "float32"),
    ):
        with T.Kernel(1):
            for i, j in T.Parallel(rows, cols):
                B[i, j] = (A[i, j] + G[j]) * R[i] - A[0, 0]

    return kernel


@pytest.mark.parametrize(("rows", "cols"), [(16, 64), (5, 37), (1, 8), (3, 1), (9, 130), (300, 16)])
def test_tensors_in_loops_are_staged_and_broadcast(rng, rows, cols):
    a, g, r = integers(rng, rows, cols), integers(rng, cols), integers(rng, rows)
    b = np.zeros_like(a)
    assert not run(broadcasts(rows, cols), a, g, r, b)
    assert_equal(b, (a + g) * r[:, None] - a[0, 0])


def softmax(rows, cols, tile_rows):
    @T.prim_func
    def kernel(A: T.Tensor((rows, cols), "float16"), B: T.Tensor((rows, cols), "float16")):
        with T.Kernel(T.ceildiv(rows, tile_rows)) as bx:
            a = T.alloc_fragment((tile_rows, cols))
            top = T.alloc_fragment((tile_rows,))
            total = T.alloc_fragment((tile_rows,))
            T.copy(A[bx * tile_rows, 0], a)
            T.reduce_max(a, top, dim=1)
            for i, j in T.Parallel(tile_rows, cols):
                a[i, j] = T.exp(a[i, j] - top[i])
            T.reduce_sum(a, total, dim=1)
            for i, j in T.Parallel(tile_rows, cols):
                a[i, j] = a[i, j] / total[i]
            T.copy(a, B[bx * tile_rows, 0])

    return kernel


@pytest.mark.parametrize(
    ("rows", "cols", "tile_rows"), [(16, 64, 8), (12, 50, 5), (10, 200, 8), (3, 5000, 1)]
)
def test_softmax(rng, rows, cols, tile_rows):
    x = rng.standard_normal((rows, cols)).astype("float16")
    y = np.zeros_like(x)
    assert not run(softmax(rows, cols, tile_rows), x, y)
    powers = np.exp(x.astype("float64") - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(1, keepdims=True), atol=1e-3)


def test_tile_too_large_for_whole_temporaries_goes_row_by_row(rng):
    @T.prim_func
    def kernel(
        A: T.Tensor((12, 2048), "float32"),
        G: T.Tensor((2048,), "float32"),
        B: T.Tensor((12, 2048), "float32"),
    ):
        with T.Kernel(1):
            a = T.alloc_fragment((12, 2048))
            g = T.alloc_fragment((2048,))
            top = T.alloc_fragment((12,))
            T.copy(A, a)
            T.copy(G, g)
            T.reduce_max(a, top, dim=1)
            for i, j in T.Parallel(12, 2048):
                a[i, j] = (a[i, j] - top[i]) * (g[j] * 2) + T.exp(g[j] * 2 - g[j] * 2)
            T.copy(a, B)

    a, g = integers(rng, 12, 2048), integers(rng, 2048)
    b = np.zeros_like(a)
    assert not run(kernel, a, g, b)
    assert_equal(b, (a - a.max(1, keepdims=True)) * (g * 2) + 1)


def test_shared_subexpressions_survive_reuse_of_temporaries(rng):
    @T.prim_func
    def kernel(A: T.Tensor((200,), "float32"), B: T.Tensor((200,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((200,))
            u = T.alloc_fragment((1,))
            T.copy(A, a)
            u[0] = a[0]
            for i in T.Parallel(200):
                B[i] = (a[i] + u[0] * 2) * (T.exp(u[0] * 2 - u[0] * 2) + a[i]) - (a[i] + u[0] * 2)

    a = integers(rng, 200)
    b = np.zeros_like(a)
    run(kernel, a, b)
    x = a + a[0] * 2
    assert_equal(b, x * (1 + a) - x)


def test_scalar_operands_keep_correct_rounding(rng):
    @T.prim_func
    def kernel(A: T.Tensor((100,), "float32"), B: T.Tensor((4, 100), "float32"), s: T.float32):
        with T.Kernel(1):
            a = T.alloc_fragment((100,))
            T.copy(A, a)
            for i in T.Parallel(100):
                B[0, i] = s - a[i]
            for i in T.Parallel(100):
                B[1, i] = s / a[i]
            for i in T.Parallel(100):
                B[2, i] = a[i] / 3
            for i in T.Parallel(100):
                B[3, i] = a[i] / 8

    a = rng.uniform(1, 2, 100).astype("float32")
    b = np.zeros((4, 100), "float32")
    s = np.float32(2.3)
    assert not run(kernel, a, b, 2.3)
    np.testing.assert_array_equal(b, np.stack([s - a, s / a, a / np.float32(3), a / np.float32(8)]))


def test_one_element_statements(rng):
    @T.prim_func
    def kernel(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((8,))
            b = T.alloc_fragment((8,))
            c = T.alloc_fragment((1,))
            T.copy(A, a)
            T.fill(b, 1.5)
            b[0] = a[0] / 3
            b[1] = a[2] * 2
            c[0] = a[5]
            for i in T.serial(4):
                b[i + 3] = a[i] * c[0]
            T.copy(b, B)

    a = integers(rng, 8)
    b = np.zeros_like(a)
    run(kernel, a, b)
    expected = np.full(8, 1.5, "float32")
    expected[:2] = a[0] / np.float32(3), a[2] * 2
    expected[3:7] = a[:4] * a[5]
    assert_equal(b, expected)


def test_conditions_shorten_loops(rng):
    @T.prim_func
    def kernel(
        A: T.Tensor((1000,), "float16"),
        B: T.Tensor((1000,), "float16"),
        C: T.Tensor((7, 90), "float32"),
        n: T.int32,
    ):
        with T.Kernel(T.ceildiv(1000, 96)) as bx:
            c = T.alloc_fragment((7, 90))
            for i in T.Parallel(96):
                if bx * 96 + i < 1000:
                    B[bx * 96 + i] = A[bx * 96 + i] + 1
            if bx == 0:
                T.clear(c)
                for i, j in T.Parallel(7, 90):
                    if i < n and j <= n * 2:
                        c[i, j] = c[i, j] + 1
                T.copy(c, C)

    for n in (0, 1, 7):
        a = integers(rng, 1000, dtype="float16")
        b, c = np.zeros_like(a), np.full((7, 90), 5, "float32")
        assert not run(kernel, a, b, c, n)
        expected = np.zeros((7, 90))
        expected[:n, : n * 2 + 1 if n else 0] = 1
        assert_equal(b, a + 1)
        assert_equal(c, expected)


def test_columns_of_keepdims_reductions_stay_contiguous(rng):
    @T.prim_func
    def kernel(
        A: T.Tensor((9, 70), "float32"),
        B: T.Tensor((9, 70), "float32"),
        C: T.Tensor((9, 1), "float32"),
    ):
        with T.Kernel(1):
            a = T.alloc_fragment((9, 70))
            s = T.alloc_fragment((9, 1))
            T.copy(A, a)
            T.reduce_sum(a, s, dim=1)
            for i, j in T.Parallel(9, 70):
                a[i, j] = a[i, j] - s[i, 0]
            T.copy(a, B)
            T.copy(s, C)

    a = integers(rng, 9, 70)
    b, c = np.zeros_like(a), np.zeros((9, 1), "float32")
    assert not run(kernel, a, b, c)
    assert_equal(c, a.sum(1, keepdims=True))
    assert_equal(b, a - c)


def test_three_dimensional_loops(rng):
    @T.prim_func
    def kernel(
        A: T.Tensor((3, 4, 20), "float32"),
        G: T.Tensor((4,), "float32"),
        B: T.Tensor((3, 4, 20), "float32"),
    ):
        with T.Kernel(1):
            a = T.alloc_fragment((3, 4, 20))
            g = T.alloc_fragment((4,))
            T.copy(A, a)
            T.copy(G, g)
            for i, j, k in T.Parallel(3, 4, 20):
                a[i, j, k] = a[i, j, k] * g[j]
            T.copy(a, B)

    a, g = integers(rng, 3, 4, 20), integers(rng, 4)
    b = np.zeros_like(a)
    assert not run(kernel, a, g, b)
    assert_equal(b, a * g[None, :, None])


def test_long_integer_indices(rng):
    six, hundred = T.int64(6), T.int64(100)

    @T.prim_func
    def kernel(A: T.Tensor((six, hundred), "float32"), B: T.Tensor((six, hundred), "float32")):
        with T.Kernel(T.int64(3)) as bx:
            for i, j in T.Parallel(T.int64(2), hundred):
                B[bx * 2 + i, j] = A[bx * 2 + i, j] * 2.0
            for i, j in T.Parallel(T.int64(2), hundred):
                B[bx * 2 + i, j] = B[bx * 2 + i, j] + 1.0

    a = integers(rng, 6, 100)
    b = np.zeros_like(a)
    assert not run(kernel, a, b)
    assert_equal(b, a * 2 + 1)


def test_rows_chosen_by_indices_in_memory(rng):
    @T.prim_func
    def kernel(
        A: T.Tensor((4, 64), "float32"),
        Index: T.Tensor((4,), "int32"),
        B: T.Tensor((4, 64), "float32"),
    ):
        with T.Kernel(1):
            index = T.alloc_fragment((4,), "int32")
            tile = T.alloc_fragment((64,))
            T.copy(Index, index)
            for r in T.serial(4):
                T.copy(A[index[r], 0], tile)
                T.copy(tile, B[r, 0])

    a = integers(rng, 4, 64)
    index = np.array([2, 0, 3, 1], "int32")
    b = np.zeros_like(a)
    run(kernel, a, index, b)
    assert_equal(b, a[index])


def test_several_stores_and_bindings_in_one_loop(rng):
    @T.prim_func
    def kernel(
        A: T.Tensor((10, 100), "float32"),
        B: T.Tensor((10, 100), "float32"),
        C: T.Tensor((10, 100), "float32"),
    ):
        with T.Kernel(5) as bx:
            for i, j in T.Parallel(2, 100):
                x: T.let[T.float32] = A[bx * 2 + i, j] * 2.0
                B[bx * 2 + i, j] = x + 1.0
                C[bx * 2 + i, j] = B[bx * 2 + i, j] * x

    a = integers(rng, 10, 100)
    b, c = np.zeros_like(a), np.zeros_like(a)
    assert not run(kernel, a, b, c)
    assert_equal(b, a * 2 + 1)
    assert_equal(c, b * a * 2)


def test_rows_that_depend_on_the_row_before(rng):
    @T.prim_func
    def kernel(A: T.Tensor((64, 48), "float32"), B: T.Tensor((64, 48), "float32")):
        with T.Kernel(4) as bx:
            a = T.alloc_fragment((16, 48))
            total = T.alloc_fragment((48,))
            T.copy(A[bx * 16 : (bx + 1) * 16, :], a)
            T.clear(total)
            for r in T.serial(16):
                for j in T.Parallel(48):
                    total[j] = total[j] + a[r, j]
                for j in T.Parallel(48):
                    a[r, j] = total[j]
            T.copy(a, B[bx * 16 : (bx + 1) * 16, :])

    a = integers(rng, 64, 48)
    b = np.zeros_like(a)
    assert not run(kernel, a, b)
    assert_equal(b, a.reshape(4, 16, 48).cumsum(1).reshape(64, 48))


def test_softmax_of_rows_longer_than_a_tile(rng):
    @T.prim_func
    def kernel(A: T.Tensor((3, 1000), "float16"), B: T.Tensor((3, 1000), "float16")):
        with T.Kernel(3) as bx:
            top = T.alloc_fragment((1,))
            total = T.alloc_fragment((1,))
            new_top = T.alloc_fragment((1,))
            T.fill(top, -1e30)
            T.clear(total)
            for c in T.Pipelined(T.ceildiv(1000, 250)):
                a = T.alloc_fragment((250,))
                T.copy(A[bx, c * 250], a)
                T.reduce_max(a, new_top, dim=0)
                new_top[0] = T.max(new_top[0], top[0])
                total[0] = total[0] * T.exp(top[0] - new_top[0])
                top[0] = new_top[0]
                for i in T.Parallel(250):
                    T.atomic_add(total[0], T.exp(a[i] - top[0]))
            for c in T.Pipelined(T.ceildiv(1000, 250)):
                b = T.alloc_fragment((250,))
                T.copy(A[bx, c * 250], b)
                for i in T.Parallel(250):
                    b[i] = T.exp(b[i] - top[0]) / total[0]
                T.copy(b, B[bx, c * 250])

    x = rng.standard_normal((3, 1000)).astype("float16")
    y = np.zeros_like(x)
    assert not run(kernel, x, y)
    powers = np.exp(x.astype("float64") - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(1, keepdims=True), atol=1e-5)

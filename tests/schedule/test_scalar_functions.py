# SPDX-License-Identifier: Apache-2.0
"""Functions of te and topi that the default rules leave to the scalar unit."""

import numpy as np
import pytest
from tvm import te, topi

from tests.transform.kernels import assert_equal, integers, run
from tvm_ascend.errors import EmptyShape


def test_overlapping_windows_and_padding_on_all_sides(rng):
    a = te.placeholder((1, 2, 6, 7), name="a")
    w = te.placeholder((3, 2, 3, 3), name="w")
    out = topi.nn.conv2d_nchw(a, w, 1, 1, 1)
    x, y = integers(rng, 1, 2, 6, 7), integers(rng, 3, 2, 3, 3)
    z = np.zeros((1, 3, 6, 7), "float32")
    run(te.create_prim_func([a, w, out]), x, y, z)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    assert_equal(z, np.einsum("ncyxij,ocij->noyx", windows, y))


def test_int64_elements(rng):
    a = te.placeholder((100,), "int64", name="a")
    out = te.compute((100,), lambda i: a[i] * a[99 - i] + 1)
    x, z = rng.integers(-(2**30), 2**30, 100), np.zeros(100, "int64")
    run(te.create_prim_func([a, out]), x, z)
    np.testing.assert_array_equal(z, x * x[::-1] + 1)


def test_tensors_without_elements_are_refused():
    a = te.placeholder((0, 4), name="a")
    func = te.create_prim_func([a, te.compute((0, 4), lambda i, j: a[i, j] * 2.0)])
    with pytest.raises(EmptyShape, match="parameter `a` of `main`"):
        run(func)


def test_statements_without_a_line_are_placed_by_the_function(rng):
    a = te.placeholder((20,), name="a")
    out = te.compute((20,), lambda i: a[19 - i])
    notes = run(te.create_prim_func([a, out]), integers(rng, 20), np.zeros(20, "float32"))
    assert "(in function `main`) because" in notes[0]

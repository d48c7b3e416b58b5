# SPDX-License-Identifier: Apache-2.0
"""Fractal layouts: inverses, the published formulas, and whole fractals."""

import numpy as np
import pytest

from tvm_ascend.hw import CHIPS, DEFAULT_CHIP
from tvm_ascend.layout.fractal import LAYOUTS, accumulator_of, c0_of, fractal_of

CHIP = CHIPS[DEFAULT_CHIP]
DTYPES = ("float16", "bfloat16", "float32", "int8", "uint8", "int16", "int32")
SHAPES = ((1, 1), (16, 16), (17, 33), (48, 80), (5, 130))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_inverse_round_trips(layout, dtype):
    for rows, cols in SHAPES:
        fractal = fractal_of(layout, rows, cols, dtype, CHIP)
        offsets = np.arange(fractal.elements)
        assert (fractal.offset(*fractal.coordinates(offsets)) == offsets).all()
        padded_rows, padded_cols = fractal.padded
        r, c = np.meshgrid(np.arange(padded_rows), np.arange(padded_cols), indexing="ij")
        assert (np.stack(fractal.coordinates(fractal.offset(r, c))) == np.stack([r, c])).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_published_formulas(dtype):
    """The element orders of the fact sheet's table, as reshapes instead of index arithmetic."""
    c0, r1, c1 = c0_of(dtype, CHIP), 3, 2
    matrix = np.arange(r1 * 16 * c1 * c0).reshape(r1 * 16, c1 * c0)
    nz = matrix.reshape(r1 * 16, c1, c0).transpose(1, 0, 2).ravel()
    zz = matrix.reshape(r1, 16, c1, c0).transpose(0, 2, 1, 3).ravel()
    b = matrix.T  # B[k, n], k in blocks of c0
    zn = b.reshape(c1, c0, r1, 16).transpose(0, 2, 3, 1).ravel()
    for layout, source, flat in (("NZ", matrix, nz), ("ZZ", matrix, zz), ("ZN", b, zn)):
        fractal = fractal_of(layout, *source.shape, dtype, CHIP)
        assert (source[fractal.coordinates(np.arange(matrix.size))] == flat).all()


def test_zn_of_b_is_nz_of_b_transposed():
    zn, nz = fractal_of("ZN", 48, 80, "float16", CHIP), fractal_of("NZ", 80, 48, "float16", CHIP)
    k, n = np.meshgrid(np.arange(48), np.arange(80), indexing="ij")
    assert (zn.offset(k, n) == nz.offset(n, k)).all()


def test_accumulator_fractals_are_square():
    assert accumulator_of(17, 33, CHIP).padded == (32, 48)
    assert accumulator_of(32, 48, CHIP).offset(0, 16) == 32 * 16


@pytest.mark.parametrize("layout", ["NZ", "ZZ", "ZN"])
def test_index_map_agrees(layout):
    fractal = fractal_of(layout, 40, 50, "float16", CHIP)
    index_map = fractal.index_map()
    assert [int(x) for x in index_map.map_indices([37, 49])] == [fractal.offset(37, 49)]

# SPDX-License-Identifier: Apache-2.0
"""The LayerNorm listing, verbatim: it parses, runs right, and refuses rows that do not fit."""

import numpy as np
import pytest
import tvm

import tvm_ascend
from tvm_ascend import language as T
from tvm_ascend.errors import (
    EmptyShape,
    NoUnitForDtype,
    OnChipOverflow,
    RowLongerThanTile,
    RowShorterThanTile,
)


# fmt: off
def make_layer_norm(M, N, block_N=1024, dtype="float16"):
    @T.prim_func
    def layer_norm(
        A: T.Tensor((M, N), dtype=dtype),
        B: T.Tensor((M, N), dtype=dtype),
        Mean: T.Tensor((M,), dtype="float32"),
        Var: T.Tensor((M,), dtype="float32"),
    ):
        with T.Kernel(M, threads=128) as bx:
            a_tile = T.alloc_fragment((block_N,), dtype="float32")
            mean_tile = T.alloc_fragment((1,), dtype="float32")
            var_tile = T.alloc_fragment((1,), dtype="float32")
            T.copy(A[bx, :], a_tile)
            T.reduce_sum(a_tile, mean_tile, dim=0, clear=True)
            mean_tile[0] = mean_tile[0] / N
            T.clear(var_tile)
            for i in T.Parallel(block_N):
                T.atomic_add(var_tile[0], (a_tile[i] - mean_tile[0]) * (a_tile[i] - mean_tile[0]))
            var_tile[0] = var_tile[0] / N
            T.copy(mean_tile, Mean[bx])
            T.copy(var_tile, Var[bx])
            for i in T.Parallel(block_N):
                B[bx, i] = (a_tile[i] - mean_tile[0]) / T.sqrt(var_tile[0] + 1e-5)
    return layer_norm
# fmt: on


def test_listing_parses_to_tile_operations():
    func = make_layer_norm(128, 1024)
    text = func.script()
    assert func.attrs["global_symbol"] == "layer_norm"
    assert text.count("ascend.tile_copy") == 3
    assert text.count('annotations={"ascend.parallel": 1}') == 2
    tvm.ir.assert_structural_equal(func, make_layer_norm(128, 1024))


@pytest.mark.parametrize(
    ("rows", "row"), [(128, 1024), (3, 1000), (5, 65), (2, 64), (49, 7), (1, 1), (2, 4999)]
)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_rows_of_any_length_are_normalised(rng, rows, row, dtype):
    kernel = make_layer_norm(rows, row, block_N=row, dtype=dtype)
    x = (rng.standard_normal((rows, row)) + 0.5).astype(dtype)
    options = tvm_ascend.Options(cache=False)
    y, mean, var = tvm_ascend.compile(kernel, out_idx=[1, 2, 3], options=options)(x)
    exact = x.astype("float64")
    deviation = np.sqrt(exact.var(1) + 1e-5)
    expected = (exact - exact.mean(1)[:, None]) / deviation[:, None]
    np.testing.assert_allclose(mean, exact.mean(1), rtol=1e-5)
    np.testing.assert_allclose(var, exact.var(1), rtol=1e-5)
    np.testing.assert_allclose(y, expected, rtol=0, atol=2e-3 if dtype == "float16" else 1e-5)


def test_nothing_is_left_for_the_scalar_unit():
    kernel = tvm_ascend.compile(make_layer_norm(128, 1024), options=tvm_ascend.Options(cache=False))
    assert "scalar:" not in str(list(kernel.stages["vectorized"].attrs.get("ascend.notes", [])))


def test_longer_row_names_the_missing_loop():
    with pytest.raises(RowLongerThanTile, match=r"`for` over the row in steps of 1024"):
        make_layer_norm(128, 2048)


def test_shorter_row_says_what_to_do():
    with pytest.raises(RowShorterThanTile, match="exactly 1000 elements"):
        make_layer_norm(128, 1000)


def test_row_of_one_element_is_a_short_row():
    with pytest.raises(RowShorterThanTile, match="exactly 1 elements"):
        make_layer_norm(2, 1, block_N=16)


def test_tile_of_one_element_holds_part_of_a_row():
    with pytest.raises(RowLongerThanTile, match="in steps of 1"):
        make_layer_norm(2, 10, block_N=1)


def test_tile_without_elements_is_refused():
    with pytest.raises(EmptyShape, match="`a_tile` has shape"):
        make_layer_norm(2, 10, block_N=0)


def test_tile_beyond_ub_lists_its_buffers():
    with pytest.raises(OnChipOverflow, match="a_tile"):
        tvm_ascend.compile(make_layer_norm(2, 65536, block_N=65536))


def test_dtype_of_no_unit_is_refused():
    with pytest.raises(NoUnitForDtype, match=r"complex64.*no unit of an Ascend core has"):
        make_layer_norm(128, 1024, dtype="complex64")


def test_four_bits_are_refused_for_what_is_not_modelled():
    with pytest.raises(NoUnitForDtype, match=r"'int4', two values of which share a byte.*not mod"):
        make_layer_norm(128, 1024, dtype="int4")

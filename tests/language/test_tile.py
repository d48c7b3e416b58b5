# SPDX-License-Identifier: Apache-2.0
"""Tile operations: how operands are completed to regions, and what is refused."""

import pytest
import tvm
from tvm import tirx
from tvm.ir import Range

from tvm_ascend import language as T
from tvm_ascend.errors import (
    EmptyGrid,
    EmptyShape,
    GemmDtypes,
    KernelExtents,
    OperandExpected,
    ReduceAxis,
    RowLongerThanTile,
    ShapeMismatch,
    StageCount,
)

A = tirx.decl_buffer((64, 100), "float16", "A")
MEAN = tirx.decl_buffer((64,), "float32", "Mean")
TILE = tirx.decl_buffer((16, 32), "float16", "tile", scope="shared")
ROW = tirx.decl_buffer((100,), "float32", "row", scope="shared")
ONE = tirx.decl_buffer((1,), "float32", "one", scope="local.fragment")
i = tirx.Var("i", "int32")


def shape_of(region):
    return [int(r.extent) for r in region.region]


def region(buffer, *ranges):
    return tirx.BufferRegion(buffer, [Range(*r) for r in ranges])


def test_first_element_takes_the_extents_of_the_tile():
    src, dst = T.copy(A[i * 16, i * 32], TILE).args
    assert shape_of(src) == shape_of(dst) == [16, 32]
    tvm.ir.assert_structural_equal(src.region[0].min, i * 16)


def test_scalar_index_stays_one_row():
    src, dst = T.copy(region(A, (i, i + 1), (0, 100)), ROW).args
    assert shape_of(src) == [1, 100]
    assert shape_of(dst) == [100]


def test_lower_rank_element_aligns_at_the_last_dimension():
    src, _ = T.copy(A[i, 0], ROW).args
    assert shape_of(src) == [1, 100]


def test_one_element_copies_to_one_element():
    _, dst = T.copy(ONE, MEAN[i]).args
    assert shape_of(dst) == [1]


def test_longer_slice_is_refused_with_the_missing_loop():
    with pytest.raises(RowLongerThanTile, match=r"T.ceildiv\(100, 32\)"):
        T.copy(region(A, (0, 16), (0, 100)), TILE)


def test_tiles_of_different_shapes_are_refused():
    with pytest.raises(ShapeMismatch, match="same extents"):
        T.copy(TILE, ROW)


def test_operand_that_is_no_buffer_is_refused():
    with pytest.raises(OperandExpected, match="`dst` is a int"):
        T.copy(A, 5)


def test_reduction_accepts_negative_axes():
    assert int(T.reduce_sum(TILE, tirx.decl_buffer((16,), "float16", "s")).args[3]) == 1


def test_reduction_of_no_axis_is_refused():
    with pytest.raises(ReduceAxis, match=r"allowed is -2..1"):
        T.reduce_max(TILE, ONE, dim=2)


def test_reduction_checks_the_target():
    with pytest.raises(ShapeMismatch, match="without dimension 0"):
        T.reduce_max(TILE, ONE, dim=0)


def test_fill_casts_to_the_tile():
    assert str(T.fill(TILE, 2).args[1].ty.dtype) == "float16"
    assert str(T.clear(TILE).args[1].ty.dtype) == "float16"


def test_gemm_compares_the_k_extents():
    right = tirx.decl_buffer((16, 8), "float16", "right", scope="shared")
    with pytest.raises(ShapeMismatch, match="32 is not 16"):
        T.gemm(TILE, right, tirx.decl_buffer((16, 8), "float32", "c"))


@pytest.mark.parametrize("extents", [(), (1, 2, 3, 4)])
def test_grid_takes_one_to_three_extents(extents):
    with pytest.raises(KernelExtents):
        T.Kernel(*extents)


def test_empty_grid_is_refused():
    import tvm_ascend

    @T.prim_func
    def kernel(X: T.Tensor((4,), "float32")):
        with T.Kernel(0) as bx:
            X[bx] = 1.0

    with pytest.raises(EmptyGrid):
        tvm_ascend.compile(kernel)


def test_dtypes_that_the_cube_does_not_multiply_are_refused():
    a = tirx.decl_buffer((16, 16), "float16", "a", scope="shared")
    b = tirx.decl_buffer((16, 16), "float32", "b", scope="shared")
    c = tirx.decl_buffer((16, 16), "float32", "c", scope="local.fragment")
    with pytest.raises(GemmDtypes, match="float16 by float32 into float32; allowed are float16 by"):
        T.gemm(a, b, c)


@pytest.mark.parametrize("stages", [0, -1, 100, True, 1.5])
def test_impossible_numbers_of_stages_are_refused(stages):
    with pytest.raises(StageCount, match="integers from 1"):
        T.Pipelined(8, num_stages=stages)


@pytest.mark.parametrize("shape", [(-8,), (4, 0)])
def test_tensors_without_elements_are_refused(shape):
    with pytest.raises(EmptyShape, match="at least 1"):
        T.Tensor(shape, "float32")

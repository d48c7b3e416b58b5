# SPDX-License-Identifier: Apache-2.0
"""Cube selection: matrix multiplies of odd shapes, run by a numpy oracle of the instructions."""

import numpy as np
import pytest
import tvm
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import te
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tests.transform.cube_oracle import CubeOracle
from tvm_ascend.errors import CubeTileRule, NoCopyPath
from tvm_ascend.hw import CHIPS
from tvm_ascend.schedule.default import apply_default_schedule
from tvm_ascend.transform.clip_tiles import ClipTiles
from tvm_ascend.transform.fold_fill import FoldFill
from tvm_ascend.transform.infer_layout import InferLayout
from tvm_ascend.transform.infer_scope import InferScope
from tvm_ascend.transform.lower_blocks import lower_schedule
from tvm_ascend.transform.map_cores import MapCores
from tvm_ascend.transform.select_instructions import SelectInstructions

CHIP = CHIPS["910b1"]
PASSES = (MapCores, InferScope, FoldFill, ClipTiles, InferLayout, SelectInstructions)


def matmul(m, k, n, transpose_a=False, transpose_b=False, out="float32"):
    a = te.placeholder((k, m) if transpose_a else (m, k), "float16", name="A")
    b = te.placeholder((n, k) if transpose_b else (k, n), "float16", name="B")
    axis = te.reduce_axis((0, k), "k")
    c = te.compute(
        (m, n),
        lambda i, j: te.sum(
            (a[axis, i] if transpose_a else a[i, axis]).astype(out)
            * (b[j, axis] if transpose_b else b[axis, j]).astype(out),
            axis=axis,
        ),
        name="C",
    )
    return te.create_prim_func([a, b, c])


def select(func):
    mod = tvm.IRModule({"main": func.with_attr("target", tvm.target.Target("ascend"))})
    for transform in PASSES:
        mod = transform()(mod)
    return mod["main"]


def check(func, m, k, n, overrides, **transposed):
    scheduled, rule, _ = apply_default_schedule(func, CHIP, overrides)
    assert rule == "matmul"
    rng = np.random.default_rng(0)
    a, b = rng.integers(-4, 5, (m, k)), rng.integers(-4, 5, (k, n))
    stored = [x.T if turn else x for x, turn in zip((a, b), transposed.values(), strict=True)]
    c = np.full((m, n), np.nan)
    CubeOracle(
        select(lower_schedule(scheduled)),
        *(np.ascontiguousarray(x, "float64") for x in stored),
        c,
    )
    assert (c == a @ b).all()


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
def test_operands_either_way(transpose_a, transpose_b):
    turns = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    tiles = {"tile_m": 32, "tile_n": 48, "tile_k": 64, "tile_k0": 32}
    check(matmul(70, 75, 101, **turns), 70, 75, 101, tiles, **turns)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    *(st.integers(1, 70) for _ in range(3)),
    st.sampled_from((16, 32, 64)),
    st.sampled_from((16, 48)),
    st.sampled_from(((16, 16), (64, 16), (64, 32))),
    st.booleans(),
    st.booleans(),
)
def test_any_shape_is_exact(m, k, n, tile_m, tile_n, tile_k, transpose_a, transpose_b):
    turns = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    tiles = {"tile_m": tile_m, "tile_n": tile_n, "tile_k": tile_k[0], "tile_k0": tile_k[1]}
    steps = -(-k // tile_k[1])
    if tile_k[0] > steps * tile_k[1] or tile_k[1] > -(-k // 16) * 16:
        del tiles["tile_k"], tiles["tile_k0"]
    check(matmul(m, k, n, **turns), m, k, n, tiles, **turns)


def test_default_tiles_of_an_odd_shape_are_exact():
    check(matmul(126, 80, 159), 126, 80, 159, {}, transpose_a=False, transpose_b=False)


def test_oracle_sees_a_missing_zero_fill():
    """The check above has teeth: without the fills, garbage in a fractal along k shows."""
    scheduled, _, _ = apply_default_schedule(matmul(16, 20, 16), CHIP, {})
    func = select(lower_schedule(scheduled))

    class NoFill(CubeOracle):
        @staticmethod
        def fill_l1(*_) -> None:
            pass

    c = np.zeros((16, 16))
    NoFill(func, np.ones((16, 20)), np.ones((20, 16)), c)
    assert np.isnan(c).any()


LAYOUT = {"ascend.layout": "NZ"}
PROGRAM = {**LAYOUT, "ascend.transposed": 0}


def test_one_copy_becomes_one_instruction():
    @T.prim_func
    def before(A: T.Buffer((64, 48), "float16")):
        T.func_attr({"target": T.target("ascend"), "global_symbol": "main"})
        a = T.alloc_buffer((64, 48), "float16", scope="shared.l1", annotations=PROGRAM)
        T.ascend.tile_copy(A[0:64, 0:48], a[0:64, 0:48])

    @T.prim_func
    def after(A: T.Buffer((64, 48), "float16")):
        T.func_attr({"target": T.target("ascend"), "global_symbol": "main"})
        a = T.alloc_buffer((3072,), "float16", scope="shared.l1", annotations=LAYOUT)
        T.ascend.data_copy_nd2nz(a[0], A[0, 0], 1, 64, 48, 0, 48, 64, 1, 0)

    got = SelectInstructions()(tvm.IRModule({"main": before}))["main"]
    assert_structural_equal(got, after, map_free_vars=True)


def test_rows_too_far_apart_are_loaded_one_by_one():
    @T.prim_func
    def before(A: T.Buffer((64, 70000), "float16")):
        T.func_attr({"target": T.target("ascend"), "global_symbol": "main"})
        a = T.alloc_buffer((64, 48), "float16", scope="shared.l1", annotations=PROGRAM)
        T.ascend.tile_copy(A[0:64, 0:48], a[0:64, 0:48])

    @T.prim_func
    def after(A: T.Buffer((64, 70000), "float16")):
        T.func_attr({"target": T.target("ascend"), "global_symbol": "main"})
        a = T.alloc_buffer((3072,), "float16", scope="shared.l1", annotations=LAYOUT)
        for row in range(64):
            T.ascend.data_copy_nd2nz(a[row * 16], A[row, 0], 1, 1, 48, 0, 1, 64, 1, 0)

    got = SelectInstructions()(tvm.IRModule({"main": before}))["main"]
    assert_structural_equal(got, after, map_free_vars=True)


def test_memories_without_a_path_are_an_error():
    @T.prim_func
    def kernel(A: T.Buffer((64, 48), "float16")):
        T.func_attr({"target": T.target("ascend"), "global_symbol": "main"})
        a = T.alloc_buffer((64, 48), "float16", scope="shared.l1", annotations=PROGRAM)
        T.ascend.tile_copy(a[0:64, 0:48], A[0:64, 0:48])

    with pytest.raises(NoCopyPath, match="from `a` in l1 to `A` in gm"):
        SelectInstructions()(tvm.IRModule({"main": kernel}))


def test_a_slice_inside_a_fractal_is_an_error():
    @T.prim_func
    def kernel(A: T.Buffer((64, 48), "float16")):
        T.func_attr({"target": T.target("ascend"), "global_symbol": "main"})
        a = T.alloc_buffer((64, 48), "float16", scope="shared.l1", annotations=PROGRAM)
        T.ascend.tile_copy(A[0:64, 0:40], a[0:64, 8:48])

    with pytest.raises(CubeTileRule, match="whole fractal"):
        SelectInstructions()(tvm.IRModule({"main": kernel}))

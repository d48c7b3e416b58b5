# SPDX-License-Identifier: Apache-2.0
"""Element-wise and row-reduction rules, run by the numpy oracle of tile TIR."""

import numpy as np
import pytest
import tvm
from hypothesis import given
from hypothesis import strategies as st
from tvm import relax, te
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tests.transform.tile_oracle import TileOracle
from tvm_ascend.errors import BadTile, TileDoesNotDivide
from tvm_ascend.hw import CHIPS
from tvm_ascend.schedule.default import apply_default_schedule
from tvm_ascend.transform.lower_blocks import lower_schedule

CHIP = CHIPS["910b1"]


def legalized(make, *shapes, dtype="float32"):
    """The function that Relax makes of an operator."""
    builder = relax.BlockBuilder()
    args = [relax.Var(f"x{i}", relax.TensorType(shape, dtype)) for i, shape in enumerate(shapes)]
    with builder.function("main", args):
        with builder.dataflow():
            out = builder.emit_output(builder.emit(make(*args)))
        builder.emit_func_output(out)
    mod = relax.transform.LegalizeOps()(builder.get())
    (func,) = (f for f in mod.functions.values() if isinstance(f, tvm.tirx.PrimFunc))
    return func


def run(func, inputs, out_shape, rule, overrides=None):
    scheduled, found, _ = apply_default_schedule(func, CHIP, overrides or {})
    assert found == rule
    out = np.full(out_shape, np.nan)
    TileOracle(lower_schedule(scheduled), *inputs, out)
    return out


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x, g, b):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5) * g + b


NN = relax.op.nn
REDUCTIONS = {
    "softmax": (NN.softmax, softmax, 1),
    "layer_norm": (lambda x, g, b: NN.layer_norm(x, g, b, axes=[-1]), layer_norm, 3),
    "rms_norm": (
        lambda x, g: NN.rms_norm(x, g, axes=[-1]),
        lambda x, g: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * g,
        2,
    ),
    "sum": (lambda x: relax.op.sum(x, axis=-1), lambda x: x.sum(-1), 1),
    "mean": (
        lambda x: relax.op.mean(x, axis=-1, keepdims=True),
        lambda x: x.mean(-1, keepdims=True),
        1,
    ),
    "max": (lambda x: relax.op.max(x, axis=-1), lambda x: x.max(-1), 1),
    "variance": (lambda x: relax.op.variance(x, axis=-1), lambda x: x.var(-1), 1),
}


@pytest.mark.parametrize("cols", [None, 5])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_row_reductions_whole_and_in_chunks(name, cols, rng):
    make, reference, count = REDUCTIONS[name]
    shapes = [(2, 3, 20), (20,), (20,)][:count]
    inputs = [rng.normal(size=shape) for shape in shapes]
    want = reference(*inputs)
    overrides = {} if cols is None else {"tile_cols": cols}
    got = run(legalized(make, *shapes), inputs, want.shape, "row_reduction", overrides)
    np.testing.assert_allclose(got, want, rtol=1e-6)


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.sampled_from(("same", "row", "column", "scalar")),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_elementwise_any_rank_and_broadcast(shape, kind, rows, cols):
    other = {
        "same": tuple(shape),
        "row": (shape[-1],),
        "column": (*shape[:-1], 1),
        "scalar": (1,),
    }[kind]
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=shape), rng.normal(size=other)]
    tiles = {
        "tile_rows": min(rows, shape[-2] if len(shape) > 1 else 1),
        "tile_cols": min(cols, shape[-1]),
    }
    a, b = te.placeholder(tuple(shape), name="a"), te.placeholder(other, name="b")
    pad = len(shape) - len(other)

    def pick(index):
        return [i if n > 1 else 0 for i, n in zip(index[pad:], other, strict=True)]

    middle = te.compute(tuple(shape), lambda *i: a[i] - b[tuple(pick(i))], name="middle")
    out = te.compute(tuple(shape), lambda *i: te.exp(middle[i]) + a[i], name="out")
    func = te.create_prim_func([a, b, out])
    got = run(func, inputs, shape, "elementwise", tiles)
    np.testing.assert_allclose(got, np.exp(inputs[0] - inputs[1]) + inputs[0], rtol=1e-6)


def test_wide_rows_are_cut():
    _, rule, decisions = apply_default_schedule(legalized(NN.softmax, (4, 65536)), CHIP, {})
    assert rule == "row_reduction"
    assert 65536 % decisions["tile_cols"] == 0
    assert decisions["tile_cols"] < 65536


def test_prime_rows_too_wide_go_to_the_scalar_unit():
    _, rule, _ = apply_default_schedule(legalized(NN.softmax, (4, 65537)), CHIP, {})
    assert rule == "scalar"


@pytest.mark.parametrize("overrides", [{"tile_cols": 7}, {"tile_cols": 0}])
def test_chunks_that_do_not_divide_are_an_error(overrides):
    with pytest.raises(TileDoesNotDivide, match=r"override `tile_cols` .* Allowed are 1, 2, 4, 5,"):
        apply_default_schedule(legalized(NN.softmax, (4, 100)), CHIP, overrides)


def test_tiles_larger_than_the_tensor_are_an_error():
    with pytest.raises(BadTile, match="override `tile_rows` = 9 cannot be used"):
        apply_default_schedule(legalized(relax.op.exp, (4, 100)), CHIP, {"tile_rows": 9})


@pytest.mark.parametrize(
    ("make", "reference"),
    [
        (relax.op.permute_dims, lambda x: x.T),
        (lambda x: NN.softmax(x, axis=0), lambda x: softmax(x.T).T),
    ],
)
def test_anything_else_is_left_to_the_scalar_unit(make, reference, rng):
    x = rng.normal(size=(4, 6))
    got = run(legalized(make, (4, 6)), [x], reference(x).shape, "scalar")
    np.testing.assert_allclose(got, reference(x), rtol=1e-6)


def test_bias_over_rows():
    @T.prim_func(s_tir=True)
    def func(
        A: T.Buffer((100, 48), "float16"),
        B: T.Buffer((48,), "float16"),
        C: T.Buffer((100, 48), "float16"),
    ):
        for i, j in T.grid(100, 48):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + B[vj]

    @T.prim_func(s_tir=True)
    def after(
        A: T.Buffer((100, 48), "float16"),
        B: T.Buffer((48,), "float16"),
        C: T.Buffer((100, 48), "float16"),
    ):
        bx = T.launch_thread("blockIdx.x", 34)
        c = T.alloc_buffer((3, 48), "float16", scope="shared.ub")
        a = T.alloc_buffer((3, 48), "float16", scope="shared.ub")
        b = T.alloc_buffer((48,), "float16", scope="shared.ub")
        T.ascend.tile_copy(A[bx * 3 : bx * 3 + 3, 0:48], a[0:3, 0:48])
        T.ascend.tile_copy(B[0:48], b[0:48])
        for i in T.serial(3, annotations={"ascend.parallel": 1}):
            for j in T.serial(48, annotations={"ascend.parallel": 1}):
                c[i, j] = a[i, j] + b[j]
        T.ascend.tile_copy(c[0:3, 0:48], C[bx * 3 : bx * 3 + 3, 0:48])

    scheduled, _, _ = apply_default_schedule(func, CHIP, {"tile_rows": 3})
    assert_structural_equal(lower_schedule(scheduled).body, after.body, map_free_vars=True)

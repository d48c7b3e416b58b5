# SPDX-License-Identifier: Apache-2.0
"""Default schedules compiled and run on the simulator, every hazard check on."""

import numpy as np
import pytest
import tvm
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import relax
from tvm.script import tirx as T

import tvm_ascend
from tests.schedule.test_vector_rules import NN, REDUCTIONS, layer_norm, legalized, softmax
from tests.transform.test_select_cube import matmul
from tvm_ascend.hw import CHIPS
from tvm_ascend.schedule.tile_model import Problem, estimate

SIZES = st.one_of(st.integers(1, 40), st.integers(100, 140))


def run(func, *inputs, overrides=None):
    options = tvm_ascend.Options(overrides=overrides or {}, cache=False)
    out_idx = [len(func.params) - 1]
    kernel = tvm_ascend.compile(func, out_idx=out_idx, target="ascend", options=options)
    return kernel, kernel(*inputs)


@pytest.mark.parametrize(
    ("m", "k", "n1", "k0", "tile_k", "a_steps"),
    [
        (1024, 2048, 256, 64, 256, 1),
        (1024, 2048, 256, 32, 256, 1),
        (1024, 2048, 256, 32, 128, 1),
        (1024, 2048, 256, 64, 256, 2),
        # Three loads: those of the next tile wait for this one's end.
        (1024, 768, 192, 64, 256, 1),
        # One load, of which L1 has room for one only; L0C has for two output tiles.
        (1024, 768, 128, 64, 768, 1),
        # L1 has room for two, but the zeros beside row 1025 keep them from overlapping.
        (1025, 512, 128, 64, 512, 1),
        (1038, 512, 128, 64, 512, 1),
    ],
)
def test_the_model_is_close_to_the_simulator_for_many_tiles(m, k, n1, k0, tile_k, a_steps):
    n = 3072
    tiles = {"tile_m": 128, "tile_n": n1, "tile_k0": k0, "tile_k": tile_k, "a_steps": a_steps}
    options = tvm_ascend.Options(overrides=tiles, cache=False)
    kernel = tvm_ascend.compile(matmul(m, k, n), out_idx=2, options=options)
    inputs = (np.empty(shape, "float16") for shape in ((m, k), (k, n)))
    timing_only = tvm_ascend.SimOptions(numerics=False, hazards=False)
    _, report = kernel.run(*inputs, sim=timing_only)
    launch = CHIPS["910b1"].timing_constants("AIC", 24)["LAUNCH_CYCLES"]
    problem = Problem(batch=1, m=m, n=n, k=k, dtype="float16", out_dtype="float32")
    expected = estimate(kernel.tiling.chosen, problem, CHIPS["910b1"]).cycles
    assert expected == pytest.approx(report.cycles - launch, rel=0.06)


def check_matmul(m, k, n, overrides=None, transpose_a=False, transpose_b=False, out="float32"):
    """Small integers, so that the result is exact whatever the order of the sums."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(-4, 5, (m, k)), rng.integers(-4, 5, (k, n))
    stored = [x.T if turn else x for x, turn in ((a, transpose_a), (b, transpose_b))]
    inputs = [np.ascontiguousarray(x, "float16") for x in stored]
    func = matmul(m, k, n, transpose_a, transpose_b, out)
    kernel, got = run(func, *inputs, overrides=overrides)
    assert kernel.artifact.rule == "matmul"
    assert (got == a @ b).all()


@pytest.mark.parametrize("shape", [(512, 512, 512), (126, 80, 159)])
def test_matmul_is_exact(shape):
    check_matmul(*shape)


# A product of one row is one of two to the chip, and the loads of k are pipelined in each.
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("m", [1, 17, 129])
def test_few_rows_are_exact(m, transpose_b):
    tiles = {"tile_n": 32, "tile_k": 64, "tile_k0": 32}
    check_matmul(m, 300, 70, tiles, transpose_b=transpose_b)
    check_matmul(m, 300, 70, transpose_b=transpose_b)


@settings(max_examples=12)
@given(SIZES, SIZES, SIZES, st.booleans(), st.booleans(), st.sampled_from(("float32", "float16")))
def test_matmul_of_any_shape_is_exact(m, k, n, transpose_a, transpose_b, out):
    check_matmul(m, k, n, None, transpose_a, transpose_b, out)


@pytest.mark.parametrize(
    "overrides",
    [
        {"tile_m": 16, "tile_n": 16, "tile_k": 16},
        {"tile_m": 64, "tile_n": 48, "tile_k": 64, "tile_k0": 32, "num_stages": 1},
        {"tile_m": 128, "tile_n": 256, "tile_k": 96, "tile_k0": 48, "l0_stages": 1},
    ],
)
def test_overridden_tiles_stay_exact(overrides):
    check_matmul(150, 203, 270, overrides)


def test_more_tiles_than_cores_are_exact():
    check_matmul(200, 40, 130, {"tile_m": 16, "tile_n": 16})


@pytest.mark.parametrize("name", REDUCTIONS)
def test_row_reductions(name, rng):
    make, reference, count = REDUCTIONS[name]
    shapes = [(5, 33, 70), (70,), (70,)][:count]
    inputs = [rng.normal(size=shape).astype("float32") for shape in shapes]
    kernel, got = run(legalized(make, *shapes), *inputs)
    assert kernel.artifact.rule == "row_reduction"
    want = reference(*(x.astype("float64") for x in inputs))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_half_precision_layer_norm(rng):
    shapes = [(126, 159), (159,), (159,)]
    inputs = [rng.normal(size=shape).astype("float16") for shape in shapes]
    func = legalized(lambda x, g, b: NN.layer_norm(x, g, b, axes=[-1]), *shapes, dtype="float16")
    _, got = run(func, *inputs)
    want = layer_norm(*(x.astype("float64") for x in inputs))
    np.testing.assert_allclose(got, want, atol=4e-3, rtol=2e-3)


@pytest.mark.parametrize("shape", [(7,), (10000,), (33, 70), (1000, 3), (2, 3, 5, 40), (3, 20000)])
def test_elementwise(shape, rng):
    x, y = (rng.normal(size=shape).astype("float32") for _ in range(2))
    kernel, got = run(legalized(relax.op.multiply, shape, shape), x, y)
    assert kernel.artifact.rule == "elementwise"
    assert (got == x * y).all()


def test_what_no_rule_takes_is_right_too(rng):
    x = rng.normal(size=(9, 14)).astype("float32")
    kernel, got = run(legalized(lambda x: NN.softmax(x, axis=0), (9, 14)), x)
    assert kernel.artifact.rule == "scalar"
    np.testing.assert_allclose(got, softmax(x.T.astype("float64")).T, rtol=1e-5)


def test_every_input_dtype_of_the_cube_is_exact():
    rng = np.random.default_rng(0)
    a, b = rng.integers(-100, 100, (70, 90)), rng.integers(-100, 100, (33, 90))
    left, right = (tvm.te.placeholder(x.shape, "int8", name=n) for x, n in ((a, "a"), (b, "b")))
    k = tvm.te.reduce_axis((0, 90), "k")
    product = tvm.te.compute(
        (70, 33),
        lambda i, j: tvm.te.sum(left[i, k].astype("int32") * right[j, k].astype("int32"), axis=k),
        name="c",
    )
    func = tvm.te.create_prim_func([left, right, product])
    kernel, got = run(func, a.astype("int8"), b.astype("int8"))
    assert kernel.artifact.rule == "matmul"
    assert (got == a @ b.T).all()


BYTES = st.one_of(st.integers(1, 40), st.sampled_from((49, 65, 127, 129)))


def bytes_matmul(m, n, k):
    """int8 by int8, B stored [n, k]."""

    @T.prim_func(s_tir=True)
    def kernel(
        A: T.Buffer((m, k), "int8"), B: T.Buffer((n, k), "int8"), C: T.Buffer((m, n), "int32")
    ):
        for i, j, p in T.grid(m, n, k):
            with T.sblock("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, p])
                with T.init():
                    C[vi, vj] = T.int32(0)
                C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vj, vk])

    return kernel


def check_bytes(m, n, k):
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 10, (m, k), "int8"), rng.integers(-9, 10, (n, k), "int8")
    kernel, got = run(bytes_matmul(m, n, k), a, b)
    assert (got == a.astype("int64") @ b.astype("int64").T).all()
    return kernel


@settings(max_examples=10)
@given(BYTES, BYTES, BYTES)
def test_bytes_of_any_shape_compile_and_are_exact(m, n, k):
    kernel = check_bytes(m, n, k)
    assert kernel.artifact.rule == "matmul"


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (1, 3, 5), (1, 70, 100), (1, 16, 2048)])
def test_a_single_row_of_bytes_gets_zeros_beside_it(m, n, k):
    """As pairs of bytes: the Cube would take a single row for a plain vector."""
    kernel = check_bytes(m, n, k)
    assert "ReinterpretCast<int16_t>()" in kernel.source


@pytest.mark.parametrize("m", [17, 33])
def test_a_last_row_of_bytes_gets_zeros_beside_it(m):
    kernel, got = run(bytes_matmul(m, 16, 32), *last_rows(m), overrides={"tile_m": 16})
    assert kernel.artifact.decisions["tile_m"] == 16
    assert (got == np.multiply.outer(np.arange(m) - 9, np.full(16, 32))).all()


def last_rows(m):
    a = np.repeat(np.arange(m, dtype="int8")[:, None] - np.int8(9), 32, axis=1)
    return a, np.ones((16, 32), "int8")

# SPDX-License-Identifier: Apache-2.0
"""The matrix-multiply rule: what it takes, and that MetaSchedule can drive it."""

import pytest
from tvm import s_tir, te
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tests.transform.test_select_cube import CHIP, check, matmul
from tvm_ascend.errors import BadTile, TileDoesNotFit
from tvm_ascend.schedule.default import apply_default_schedule
from tvm_ascend.schedule.match import match_contraction, realizes
from tvm_ascend.schedule.matmul import find_matmul, schedule_matmul
from tvm_ascend.schedule.tile_model import TILE_NAMES
from tvm_ascend.transform.lower_blocks import lower_schedule


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
def test_orientation_is_read_from_the_indices(transpose_a, transpose_b):
    (realize,) = realizes(matmul(5, 6, 7, transpose_a, transpose_b))
    found = match_contraction(realize)
    assert found.sizes == (5, 7, 6)
    assert (found.transpose_a, found.transpose_b) == (transpose_a, transpose_b)


def test_operands_may_be_written_in_either_order():
    a, b = te.placeholder((8, 16), "float16"), te.placeholder((16, 4), "float16")
    k = te.reduce_axis((0, 16), "k")
    c = te.compute(
        (8, 4),
        lambda i, j: te.sum(b[k, j].astype("float32") * a[i, k].astype("float32"), axis=k),
    )
    assert find_matmul(te.create_prim_func([a, b, c]), CHIP)[1].sizes == (8, 4, 16)


def test_batches_join_the_grid():
    a, b = te.placeholder((3, 8, 16), "float16"), te.placeholder((16, 4), "float16")
    k = te.reduce_axis((0, 16), "k")
    c = te.compute(
        (3, 8, 4),
        lambda s, i, j: te.sum(a[s, i, k].astype("float32") * b[k, j].astype("float32"), axis=k),
    )
    func, rule, _ = apply_default_schedule(te.create_prim_func([a, b, c]), CHIP, {})
    assert rule == "matmul"
    assert int(lower_schedule(func).body.value) == 3


def test_transposed_producer_and_cast_are_taken_along():
    a, w = te.placeholder((70, 33), "float16", name="a"), te.placeholder((50, 33), "float16")
    turned = te.compute((33, 50), lambda i, j: w[j, i], name="turned")
    k = te.reduce_axis((0, 33), "k")
    c = te.compute(
        (70, 50),
        lambda i, j: te.sum(a[i, k].astype("float32") * turned[k, j].astype("float32"), axis=k),
        name="c",
    )
    out = te.compute((70, 50), lambda i, j: c[i, j].astype("float16"), name="out")
    func = te.create_prim_func([a, w, out])
    found = find_matmul(func, CHIP)
    assert (found.producers, found.epilogue) == (("turned",), "out")
    assert found.contraction.transpose_b
    check(func, 70, 33, 50, {}, transpose_a=False, transpose_b=True)


def test_other_work_around_the_product_is_refused():
    a, b = te.placeholder((8, 16), "float16"), te.placeholder((16, 4), "float16")
    k = te.reduce_axis((0, 16), "k")
    c = te.compute(
        (8, 4),
        lambda i, j: te.sum(a[i, k].astype("float32") * b[k, j].astype("float32"), axis=k),
    )
    d = te.compute((8, 4), lambda i, j: c[i, j] + 1)
    assert find_matmul(te.create_prim_func([a, b, d]), CHIP) is None


def test_single_precision_operands_are_not_for_the_cube():
    a, b = te.placeholder((8, 16), "float32"), te.placeholder((16, 4), "float32")
    k = te.reduce_axis((0, 16), "k")
    c = te.compute((8, 4), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k))
    assert find_matmul(te.create_prim_func([a, b, c]), CHIP) is None


def test_a_convolution_is_no_matmul():
    a, b = te.placeholder((34, 16), "float16"), te.placeholder((16, 4), "float16")
    k = te.reduce_axis((0, 16), "k")
    c = te.compute((32, 4), lambda i, j: te.sum(a[i + k, k] * b[k, j], axis=k))
    assert find_matmul(te.create_prim_func([a, b, c]), CHIP) is None


@pytest.mark.parametrize("out", ["float32", "float16"])
def test_traced_schedule_replays_with_other_decisions(out):
    """One trace serves every decision: tiles need not divide, so no instruction depends on them."""
    func = matmul(126, 80, 159, out=out)
    sch = s_tir.Schedule(func, seed=1)
    schedule_matmul(
        sch, lambda _, values: sch.sample_categorical(values, [1 / len(values)] * len(values)), CHIP
    )
    samples = [inst for inst in sch.trace.insts if inst.kind.name == "SampleCategorical"]
    trace = sch.trace
    for inst in samples:
        trace = trace.with_decision(inst, 0, remove_postproc=False)
    again = s_tir.Schedule(func)
    trace.apply_to_schedule(again, remove_postproc=False)
    direct = s_tir.Schedule(func)
    tiles = dict.fromkeys(TILE_NAMES, 1) | dict.fromkeys(("tile_m", "tile_n", "tile_k0"), 16)
    schedule_matmul(direct, tiles, CHIP)
    assert_structural_equal(again.mod, direct.mod)


def test_overrides_replace_single_choices():
    _, _, decisions = apply_default_schedule(matmul(512, 512, 512), CHIP, {"tile_n": 64})
    assert decisions["tile_n"] == 64
    _, _, decisions = apply_default_schedule(
        matmul(512, 512, 512), CHIP, {"tile_k": 96, "num_stages": 1}
    )
    assert (decisions["tile_k"], decisions["num_stages"]) == (96, 1)


@pytest.mark.parametrize(
    "overrides", [{"tile_m": 24}, {"tile_k": 8}, {"num_stages": 9}, {"tile_n": 0}]
)
def test_misaligned_overrides_are_an_error(overrides):
    with pytest.raises(BadTile, match="cannot be used: it must be a positive multiple of"):
        apply_default_schedule(matmul(512, 512, 512), CHIP, overrides)


def test_tiles_too_large_are_an_error():
    with pytest.raises(TileDoesNotFit, match="l0c would need more than its 131,072 bytes"):
        apply_default_schedule(matmul(512, 512, 512), CHIP, {"tile_m": 512, "tile_n": 512})


def test_a_scheduled_function_is_left_alone():
    @T.prim_func(s_tir=True)
    def func(A: T.Buffer((64,), "float16")):
        for i in T.thread_binding(64, thread="blockIdx.x"):
            with T.sblock("A"):
                vi = T.axis.remap("S", [i])
                A[vi] = A[vi] + T.float16(1)

    got, rule, _ = apply_default_schedule(func, CHIP, {})
    assert rule == "scheduled"
    assert got.same_as(func)

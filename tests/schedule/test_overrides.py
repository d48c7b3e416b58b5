# SPDX-License-Identifier: Apache-2.0
"""Every override of every rule takes effect or is refused with words, whatever its value."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from tvm import te, topi

from tvm_ascend import Options, compile
from tvm_ascend import language as T
from tvm_ascend.codegen.ascendc import emit
from tvm_ascend.errors import (
    AscendError,
    BadTile,
    ContradictingOverrides,
    OnChipOverflow,
    StagesNotReached,
    TileDoesNotDivide,
    TileDoesNotFit,
    UnknownOverrideError,
)
from tvm_ascend.isa.cann import OLDEST_CANN
from tvm_ascend.pipeline import lower
from tvm_ascend.target import as_target

VALUES = (-1, 0, 1, 3, 100, 2**31 - 16, 2**70)


def product(m=128, k=512, n=128):
    a = te.placeholder((m, k), "float16", name="A")
    b = te.placeholder((k, n), "float16", name="B")
    return te.create_prim_func([a, b, topi.nn.matmul(a, b, out_dtype="float32")])


def of_one(operation, shape, dtype="float16"):
    a = te.placeholder(shape, dtype, name="A")
    return te.create_prim_func([a, operation(a)])


def tiled_product(grid=2, stages=3, trips=16):
    rows, depth = 32 * grid, 32 * trips

    @T.prim_func
    def tiled(
        A: T.Tensor((rows, depth), "float16"),
        B: T.Tensor((depth, rows), "float16"),
        C: T.Tensor((rows, rows), "float32"),
    ):
        with T.Kernel(grid, grid) as (bx, by):
            a = T.alloc_shared((32, 32), "float16")
            b = T.alloc_shared((32, 32), "float16")
            c = T.alloc_fragment((32, 32), "float32")
            T.clear(c)
            for k in T.Pipelined(trips, num_stages=stages):
                T.copy(A[bx * 32, k * 32], a)
                T.copy(B[k * 32, by * 32], b)
                T.gemm(a, b, c)
            T.copy(c, C[bx * 32, by * 32])

    return tiled


def long_product():
    @T.prim_func
    def long(
        A: T.Tensor((64, 1024), "float16"),
        B: T.Tensor((1024, 64), "float16"),
        C: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1):
            a = T.alloc_shared((64, 1024), "float16")
            b = T.alloc_shared((1024, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A[0, 0], a)
            T.copy(B[0, 0], b)
            T.clear(c)
            T.gemm(a, b, c)
            T.copy(c, C[0, 0])

    return long


def two_loops():
    @T.prim_func
    def both(A: T.Tensor((2, 8, 64), "float32"), B: T.Tensor((2, 8, 64), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((64,), "float32")
            for k in T.Pipelined(8):
                T.copy(A[0, k, 0], a)
                for i in T.Parallel(64):
                    a[i] = a[i] + 1.0
                T.copy(a, B[0, k, 0])
            b = T.alloc_fragment((64,), "float32")
            for k in T.Pipelined(8, num_stages=1):
                T.copy(A[1, k, 0], b)
                for i in T.Parallel(64):
                    b[i] = b[i] * 2.0
                T.copy(b, B[1, k, 0])

    return both


def rows_over_blocks():
    @T.prim_func
    def rows(A: T.Tensor((128, 64), "float32"), B: T.Tensor((128, 64), "float32")):
        with T.Kernel(128) as bx:
            a = T.alloc_fragment((64,), "float32")
            T.copy(A[bx, 0], a)
            for i in T.Parallel(64):
                a[i] = a[i] + 1.0
            T.copy(a, B[bx, 0])

    return rows


FUNCTIONS = {
    "matmul": product,
    "matmul with tails": functools.partial(product, 126, 80, 159),
    "matmul of many tiles": functools.partial(product, 1024, 64, 1024),
    "softmax": lambda: of_one(topi.nn.softmax, (57, 333)),
    "row in pieces": lambda: of_one(lambda a: topi.sum(a, -1), (100, 40000), "float32"),
    "elementwise": lambda: of_one(topi.exp, (57, 333)),
    "elementwise of many tiles": lambda: of_one(topi.exp, (8192, 1024), "float32"),
    "elementwise of one axis": lambda: of_one(topi.exp, (100,)),
    "scalar": lambda: of_one(lambda a: topi.take(a, topi.cast(a, "int32")), (64,)),
    "tile kernel": tiled_product,
    "tile kernel of many blocks": functools.partial(tiled_product, 7),
    "two loops": two_loops,
    "product in pieces": long_product,
    "blocks that go round": rows_over_blocks,
}


@functools.cache
def given(which):
    return FUNCTIONS[which]().with_attr({"target": as_target("ascend"), "global_symbol": "main"})


@functools.cache
def default(which):
    return lower(given(which))


def taken(which):
    """The choices of the kernel without overrides, and what follows from them."""
    decisions = default(which).decisions
    if "tile_k0" not in decisions:
        return decisions
    return {**decisions, "k_steps": decisions["tile_k"] // decisions["tile_k0"]}


def source(lowered):
    return emit(lowered.final, OLDEST_CANN)


def is_refused_or_effective(which, name, value):
    """Refused by an error that names the override, or reported and seen in the kernel."""
    try:
        found = lower(given(which), {name: value})
    except AscendError as error:
        return name in str(error) or isinstance(error, OnChipOverflow)
    if found.decisions[name] != value:
        return False
    old = taken(which).get(name)
    return old == value or source(found) != source(default(which))


@pytest.mark.parametrize("which", FUNCTIONS)
def test_every_override_is_refused_or_effective(which):
    names = [*default(which).decisions, "k_steps", "num_stages", "grid_stages", "tile_rows", "no"]
    silent = [
        (name, value)
        for name in dict.fromkeys(names)
        for value in VALUES
        if not is_refused_or_effective(which, name, value)
    ]
    assert not silent


def test_the_check_above_sees_an_override_without_effect(monkeypatch):
    """A choice that is reported and that nothing obeys is found."""

    def deaf(_func, overrides):
        return replace(default("scalar"), decisions=overrides)

    monkeypatch.setitem(globals(), "lower", deaf)
    assert not is_refused_or_effective("scalar", "tile_rows", 3)


@pytest.mark.parametrize("which", FUNCTIONS)
def test_the_choices_taken_can_be_given_back(which):
    """A kernel whose choices are all pinned is the same kernel."""
    found = lower(given(which), default(which).decisions)
    assert found.decisions == default(which).decisions
    assert source(found) == source(default(which))


def run_product(overrides, **more):
    kernel = compile(
        tiled_product(**more), out_idx=2, options=Options(cache=False, overrides=overrides)
    )
    rows, depth = kernel.artifact.params[0].shape
    rng = np.random.default_rng(0)
    a = rng.integers(-4, 5, (rows, depth)).astype("float16")
    b = rng.integers(-4, 5, (depth, rows)).astype("float16")
    assert np.array_equal(kernel(a, b), a.astype("float32") @ b.astype("float32"))
    return kernel, kernel.profile(a, b).cycles


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_the_depth_of_a_pipelined_loop_is_that_of_the_override(depth):
    """Overriding gives the kernel that is written so, to the bit and the cycle."""
    kernel, cycles = run_product({"num_stages": depth})
    written, same = run_product({}, stages=depth)
    assert kernel.artifact.decisions == written.artifact.decisions
    assert kernel.artifact.decisions["num_stages"] == depth
    assert (kernel.source, cycles) == (written.source, same)


def test_what_the_kernel_says_is_what_is_listed():
    assert run_product({})[0].artifact.decisions["num_stages"] == 3
    assert lower(given("two loops")).decisions == {"num_stages.k": 2, "num_stages.k_2": 1}


def test_loop_over_blocks_and_loop_of_the_kernel_have_names_of_their_own():
    decisions = lower(given("tile kernel of many blocks")).decisions
    assert (decisions["num_stages"], decisions["grid_stages"]) == (3, 2)
    one = lower(given("tile kernel of many blocks"), {"grid_stages": 1}).decisions
    assert (one["num_stages"], one["grid_stages"]) == (3, 1)


def test_more_versions_than_iterations_or_room_are_refused():
    with pytest.raises(StagesNotReached, match=r"`num_stages` = 5 .*Allowed are 1 to 4"):
        run_product({"num_stages": 5}, trips=4)
    with pytest.raises(StagesNotReached, match=r"`grid_stages` = 16 .*more do not fit"):
        lower(given("elementwise of many tiles"), {"grid_stages": 16})


@pytest.mark.parametrize("rows", [-1, 0, 2, 10**9])
def test_a_row_reduction_takes_one_row_at_a_time(rows):
    with pytest.raises(UnknownOverrideError, match=r"'tile_rows' .* tile_cols \(now 333\)"):
        lower(given("softmax"), {"tile_rows": rows})


def test_pieces_of_a_row_divide_it():
    with pytest.raises(TileDoesNotDivide, match="Allowed are 1, 3, 9, 37, 111, 333"):
        lower(given("softmax"), {"tile_cols": 2})


@pytest.mark.parametrize(
    "overrides",
    [
        {"tile_k": 64, "k_steps": 3},
        {"tile_k": 64, "tile_k0": 48},
        {"tile_k": 64, "tile_k0": 32, "k_steps": 1},
        {"tile_k": 64, "k_steps": 8},
    ],
)
def test_contradicting_overrides_are_refused(overrides):
    with pytest.raises(ContradictingOverrides, match=r"Drop one"):
        lower(given("matmul"), overrides)


def test_steps_of_k_are_another_way_to_say_its_length():
    decisions = lower(given("matmul"), {"tile_k0": 32, "k_steps": 3}).decisions
    assert (decisions["tile_k"], decisions["k_steps"]) == (96, 3)
    assert "k_steps" not in lower(given("matmul"), {"tile_k": 64}).decisions


@pytest.mark.parametrize(("value", "near"), [(24, 16), (10**6, 512), (2**31 - 16, 512), (0, 16)])
def test_the_value_advised_is_one_that_is_taken(value, near):
    with pytest.raises(BadTile, match=f"Try {near}"):
        lower(given("matmul"), {"tile_k0": value})
    assert lower(given("matmul"), {"tile_k0": 16}).decisions["tile_k0"] == 16


def test_a_deeper_loop_than_there_are_tiles_is_refused():
    with pytest.raises(TileDoesNotFit, match="num_stages would not be 3"):
        lower(given("matmul"), {"tile_k": 512, "num_stages": 3})
    assert lower(given("matmul"), {"num_stages": 3}).decisions["num_stages"] == 3

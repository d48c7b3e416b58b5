# SPDX-License-Identifier: Apache-2.0
"""IssueAhead: loads of the next iteration come first, and what is not provably safe stays."""

import numpy as np
import pytest
import tvm
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tvm_ascend import Options, compile
from tvm_ascend import language as L
from tvm_ascend.demo.kernels import make_matmul
from tvm_ascend.errors import IssueAheadValue
from tvm_ascend.transform.insert_sync import InsertSync
from tvm_ascend.transform.issue_ahead import IssueAhead
from tvm_ascend.transform.notes import notes_of
from tvm_ascend.transform.sync.written import unordered
from tvm_ascend.transform.sync_edit import list_syncs, without_sync

L1 = {"scope": "shared.l1", "annotations": {"ascend.address": 0}}
L0A = {"scope": "local.l0a", "annotations": {"ascend.address": 0}}


def run(func):
    """Insert flags, then issue ahead; what was there between, and the result."""
    target = tvm.target.Target("ascend")
    func = func.with_attr({"target": target, "ascend.core_type": "AIC"})
    synced = InsertSync()(tvm.IRModule({"main": func}))
    return synced["main"], IssueAhead()(synced)["main"]


def loop(versions):
    @T.prim_func
    def func(A: T.Buffer((16, 512), "float16")):
        for k in T.serial(8, annotations={"ascend.num_stages": 2}):
            a = T.alloc_buffer((versions, 1024), "float16", **L1)
            x = T.alloc_buffer((1024,), "float16", **L0A)
            T.ascend.data_copy_nd2nz(a[k % versions, 0], A[0, k * 64], 1, 16, 64, 0, 512, 16, 1, 0)
            T.ascend.load_data_2d(x[0], a[k % versions, 0], 0, 4, 1, 0, False)

    return func


def test_the_next_loads_come_before_the_work():
    @T.prim_func
    def after(A: T.Buffer((16, 512), "float16")):
        T.ascend.set_flag("MTE1_MTE2", 1)
        a = T.alloc_buffer((2, 1024), "float16", **L1)
        T.ascend.data_copy_nd2nz(a[0, 0], A[0, 0], 1, 16, 64, 0, 512, 16, 1, 0)
        T.ascend.set_flag("MTE2_MTE1", 0)
        for k in T.serial(8, annotations={"ascend.num_stages": 2}):
            if k + 1 < 8:
                T.ascend.wait_flag("MTE1_MTE2", (k + 1) % 2)
                T.ascend.data_copy_nd2nz(
                    a[(k + 1) % 2, 0], A[0, k * 64 + 64], 1, 16, 64, 0, 512, 16, 1, 0
                )
                T.ascend.set_flag("MTE2_MTE1", (k + 1) % 2)
            x = T.alloc_buffer((1024,), "float16", **L0A)
            T.ascend.wait_flag("MTE2_MTE1", k % 2)
            T.ascend.pipe_barrier("MTE1")
            T.ascend.load_data_2d(x[0], a[k % 2, 0], 0, 4, 1, 0, False)
            T.ascend.set_flag("MTE1_MTE2", k % 2)
        T.ascend.wait_flag("MTE1_MTE2", 0)
        T.ascend.wait_flag("MTE1_MTE2", 1)

    assert_structural_equal(run(loop(2))[1].body, after.body, map_free_vars=True)


def test_loads_that_wait_for_this_iteration_stay():
    before, after = run(loop(1))
    assert_structural_equal(after.body, before.body)
    assert notes_of(after) == ["IssueAhead: loads of loop `k` stay, ahead they would not be safe"]


def test_a_kernel_with_flags_of_its_own_is_left_alone():
    synced, _ = run(loop(2))
    assert_structural_equal(*(f.body for f in run(synced)))


def kernel_of(m, k, n, **overrides):
    tiles = {"tile_m": 16, "tile_n": 16, "tile_k0": 16, "tile_k": 32}
    options = Options(cache=False, overrides={**tiles, **overrides})
    return compile(make_matmul(m, k, n), out_idx=2, options=options)


def is_exact(kernel, m, k, n):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, shape).astype("float16") for shape in ((m, k), (k, n)))
    return np.array_equal(kernel(a, b), a.astype("float32") @ b.astype("float32"))


def ahead(kernel):
    return [n for n in notes_of(kernel.stages["final"]) if n.startswith("IssueAhead")]


# 49 tiles on 24 cores: some cores run two, one runs three.
@pytest.mark.parametrize("rows", [16, 112])
@pytest.mark.parametrize("k", [17, 32, 33, 64, 96, 100, 128, 160])
@pytest.mark.parametrize("stages", [2, 3])
def test_every_number_of_trips_gives_the_same_bits(rows, k, stages):
    trips = -(-k // 32)
    assert is_exact(kernel_of(rows, k, rows, num_stages=min(stages, trips)), rows, k, rows)


@pytest.mark.parametrize("k", [64, 128, 192, 256])
def test_loads_of_two_loops_move_together(k):
    kernel = kernel_of(112, k, 112, a_steps=2)
    assert is_exact(kernel, 112, k, 112)
    final = kernel.stages["final"]
    assert unordered(final) is None
    for sync in range(len(list_syncs(final))):
        assert unordered(without_sync(final, sync)) is not None


def test_loads_of_a_loop_around_come_with_the_first_of_the_loop_inside():
    kernel = kernel_of(112, 256, 112, a_steps=2)
    (text,) = ahead(kernel)
    assert text.count("to the next") == 2
    copies = [text for text in str(kernel.stages["final"]).splitlines() if "nd2nz" in text]
    # The first ones, then the next of the loop inside, of that around it and of the next tile.
    assert ["A_l1" in text for text in copies] == [1, 0, 0, 1, 0, 1, 0]


@pytest.mark.parametrize(("k", "across"), [(128, True), (96, False)])
def test_the_last_iteration_loads_for_the_next_tile_where_its_version_is_free(k, across):
    (text,) = ahead(kernel_of(112, k, 112))
    assert ("from one `step` to the next" in text) == across


def test_every_flag_of_moved_loads_is_needed_on_every_core():
    final = kernel_of(112, 128, 112).stages["final"]
    assert unordered(final) is None
    for sync in range(len(list_syncs(final))):
        assert unordered(without_sync(final, sync)) is not None


def test_a_load_that_skips_its_wait_is_found():
    final = kernel_of(112, 128, 112).stages["final"]
    names = [s.event for s in list_syncs(final)]
    broken = without_sync(final, names.index("MTE1_MTE2"))
    found = unordered(broken)
    assert "data_copy_nd2nz" in found.text


def test_the_override_leaves_loads_where_they_are():
    kernel = kernel_of(112, 128, 112, issue_ahead=0)
    assert ahead(kernel) == []
    assert kernel.artifact.decisions["issue_ahead"] == 0
    assert is_exact(kernel, 112, 128, 112)
    with pytest.raises(IssueAheadValue, match="allowed are 1"):
        kernel_of(112, 128, 112, issue_ahead=2)


def test_vector_kernels_have_no_such_choice():
    @L.prim_func
    def double(A: L.Tensor((64,), "float32"), B: L.Tensor((64,), "float32")):
        with L.Kernel(1):
            for i in L.Parallel(64):
                B[i] = A[i] * 2.0

    assert "issue_ahead" not in compile(double, out_idx=1).artifact.decisions


def test_early_loads_shorten_a_loop_whose_work_fills_the_queue():
    """16 LoadData a tile row: the loads of the next tile would wait behind all of them."""
    tiles = {"tile_m": 128, "tile_n": 256, "tile_k0": 64, "tile_k": 256}
    times = [
        compile(
            make_matmul(128, 4096, 256),
            out_idx=2,
            options=Options(cache=False, overrides={**tiles, "issue_ahead": choice}),
        )
        .profile(np.zeros((128, 4096), "float16"), np.zeros((4096, 256), "float16"))
        .cycles
        for choice in (0, 1)
    ]
    assert times[1] < times[0]

# SPDX-License-Identifier: Apache-2.0
"""InsertSync: what it inserts where, and what it leaves alone."""

import pytest
import tvm
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tvm_ascend import language  # noqa: F401  registers T.ascend
from tvm_ascend.errors import JumpInKernel, LoopConditionOnChip, TooManyEvents
from tvm_ascend.hw import CHIPS
from tvm_ascend.transform.insert_sync import InsertSync
from tvm_ascend.transform.notes import notes_of
from tvm_ascend.transform.sync.hoist import hoist_scalar_reads
from tvm_ascend.transform.sync_edit import list_syncs

UB = {"scope": "shared.ub"}


def run(func):
    func = func.with_attr("target", tvm.target.Target("ascend"))
    return InsertSync()(tvm.IRModule({"main": func}))["main"]


def check(before, after):
    assert_structural_equal(run(before).body, after.body, map_free_vars=True)


def at(address):
    return {"ascend.address": address}


def events(func):
    return [f"{s.kind} {s.event}" for s in list_syncs(run(func))]


def test_one_flag_a_hand_over_and_one_barrier_a_dependence():
    @T.prim_func
    def before(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        T.ascend.data_copy_pad_in(x[0], A[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        T.ascend.exp(x[0], x[0], 64)
        T.ascend.abs(x[0], x[0], 64)
        T.ascend.data_copy_pad_out(B[0], x[0], 1, 256, 0, 0)

    @T.prim_func
    def after(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        T.ascend.data_copy_pad_in(x[0], A[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        T.ascend.set_flag("MTE2_V", 0)
        T.ascend.wait_flag("MTE2_V", 0)
        T.ascend.exp(x[0], x[0], 64)
        T.ascend.pipe_barrier("V")
        T.ascend.abs(x[0], x[0], 64)
        T.ascend.set_flag("V_MTE3", 0)
        T.ascend.wait_flag("V_MTE3", 0)
        T.ascend.data_copy_pad_out(B[0], x[0], 1, 256, 0, 0)

    check(before, after)


def test_versions_rotate_ids_and_loops_raise_and_drain_outside():
    @T.prim_func
    def before(A: T.Buffer((9, 64), "float32"), B: T.Buffer((9, 64), "float32")):
        for k in range(9):
            x = T.alloc_buffer(
                (2, 64), "float32", scope="shared.ub", annotations={"ascend.address": 0}
            )
            T.ascend.data_copy_pad_in(x[k % 2, 0], A[k, 0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
            T.ascend.data_copy_pad_out(B[k, 0], x[k % 2, 0], 1, 256, 0, 0)

    @T.prim_func
    def after(A: T.Buffer((9, 64), "float32"), B: T.Buffer((9, 64), "float32")):
        T.ascend.set_flag("MTE3_MTE2", 0)
        T.ascend.set_flag("MTE3_MTE2", 1)
        for k in range(9):
            x = T.alloc_buffer(
                (2, 64), "float32", scope="shared.ub", annotations={"ascend.address": 0}
            )
            T.ascend.wait_flag("MTE3_MTE2", k % 2)
            T.ascend.data_copy_pad_in(x[k % 2, 0], A[k, 0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
            T.ascend.set_flag("MTE2_MTE3", k % 2)
            T.ascend.wait_flag("MTE2_MTE3", k % 2)
            T.ascend.data_copy_pad_out(B[k, 0], x[k % 2, 0], 1, 256, 0, 0)
            T.ascend.set_flag("MTE3_MTE2", k % 2)
        T.ascend.wait_flag("MTE3_MTE2", 0)
        T.ascend.wait_flag("MTE3_MTE2", 1)

    check(before, after)


def test_scalar_reads_get_a_statement_of_their_own():
    @T.prim_func
    def before(A: T.Buffer((8,), "float32")):
        x = T.alloc_buffer((8,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        y = T.alloc_buffer((8,), "float32", scope="shared.ub", annotations={"ascend.address": 32})
        T.ascend.duplicate(x[0], T.float32(3), 8)
        T.ascend.adds(y[0], y[0], x[0], 8)

    @T.prim_func
    def after(A: T.Buffer((8,), "float32")):
        x = T.alloc_buffer((8,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        y = T.alloc_buffer((8,), "float32", scope="shared.ub", annotations={"ascend.address": 32})
        T.ascend.duplicate(x[0], T.float32(3), 8)
        T.ascend.set_flag("V_S", 0)
        T.ascend.wait_flag("V_S", 0)
        x_value: T.let = x[0]
        T.ascend.adds(y[0], y[0], x_value, 8)

    check(before, after)


def test_reads_of_tensors_that_nobody_writes_stay():
    @T.prim_func
    def func(A: T.Buffer((8,), "float32")):
        x = T.alloc_buffer((8,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        T.ascend.duplicate(x[0], A[0], 8)

    assert_structural_equal(hoist_scalar_reads(func.body), func.body)


def test_shared_memory_is_ordered_too():
    @T.prim_func
    def func(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        y = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        T.ascend.duplicate(x[0], T.float32(0), 64)
        T.ascend.data_copy_pad_in(y[0], A[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))

    assert events(func) == ["flag V_MTE2"]


def test_rows_of_other_iterations_need_nothing():
    @T.prim_func
    def func(A: T.Buffer((100, 64), "float32"), B: T.Buffer((100, 128), "float32")):
        bx = T.launch_thread("blockIdx.x", 48)
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        for i in range((147 - bx) // 48):
            T.ascend.data_copy_pad_out(B[bx + i * 48, 0], x[0], 1, 256, 0, 0)
            T.ascend.data_copy_pad_out(B[bx + i * 48, 64], x[0], 1, 256, 0, 0)

    assert events(func) == []


def test_rows_that_overlap_need_a_barrier():
    @T.prim_func
    def func(B: T.Buffer((100, 64), "float32")):
        bx = T.launch_thread("blockIdx.x", 48)
        x = T.alloc_buffer((128,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        for i in range(2):
            T.ascend.data_copy_pad_out(B[bx * 2 + i, 0], x[0], 1, 260, 0, 0)

    assert events(func) == ["barrier MTE3"]


def test_tiles_of_a_grid_need_nothing():
    @T.prim_func
    def func(C: T.Buffer((256, 512), "float32")):
        bx = T.launch_thread("blockIdx.x", 3)
        c = T.alloc_buffer((8192,), "float32", scope="local.l0c", annotations={"ascend.address": 0})
        for i in range((18 - bx) // 3):
            T.ascend.fixpipe(
                C[(bx + i * 3) // 4 * 64, (bx + i * 3) % 4 * 128],
                c[0], 128, 64, 64, 512, False, "NoQuant",
            )  # fmt: skip

    assert events(func) == []


@pytest.mark.parametrize(("m", "barriers"), [(144, 1), (160, 0)])
def test_short_mmads_need_a_barrier(m, barriers):
    @T.prim_func
    def func():
        a = T.alloc_buffer((2560,), "float16", scope="local.l0a", annotations={"ascend.address": 0})
        b = T.alloc_buffer((256,), "float16", scope="local.l0b", annotations={"ascend.address": 0})
        c = T.alloc_buffer((2560,), "float32", scope="local.l0c", annotations={"ascend.address": 0})
        T.ascend.mmad(c[0], a[0], b[0], m, 16, 16, True)
        T.ascend.mmad(c[0], a[0], b[0], m, 16, 16, False)

    assert events(func) == ["barrier M"] * barriers


def test_scalar_code_on_tensors_needs_nothing():
    @T.prim_func
    def func(A: T.Buffer((64,), "float32")):
        for i in range(64):
            A[i] = A[i] + T.float32(1)

    assert events(func) == []


def test_flags_of_the_author_are_left_alone():
    @T.prim_func
    def func(A: T.Buffer((64,), "float32")):
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        T.ascend.data_copy_pad_in(x[0], A[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        T.ascend.pipe_barrier("ALL")
        T.ascend.exp(x[0], x[0], 64)

    done = run(func)
    assert_structural_equal(done.body, func.body)
    assert "flags of its own" in notes_of(done)[0]


def test_syncs_carry_the_line_they_protect():
    @T.prim_func
    def func(A: T.Buffer((64,), "float32")):
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        T.ascend.data_copy_pad_in(x[0], A[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        T.ascend.exp(x[0], x[0], 64)

    copy, flag, wait, exp = run(func).body.seq[1:]
    assert flag.span.line == copy.span.line
    assert wait.span.line == exp.span.line


def test_more_flags_than_ids_are_merged_only_as_far_as_needed():
    count = 9

    @T.prim_func
    def func(A: T.Buffer((count, 64), "float32")):
        x = T.alloc_buffer(
            (count, 64), "float32", scope="shared.ub", annotations={"ascend.address": 0}
        )
        for i in T.unroll(count):
            T.ascend.data_copy_pad_in(x[i, 0], A[i, 0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        for i in T.unroll(count):
            T.ascend.exp(x[i, 0], x[i, 0], 64)

    unrolled = tvm.tirx.transform.UnrollLoop()(tvm.IRModule({"main": func}))["main"]
    assert events(unrolled) == ["flag MTE2_V"] * 6


def test_break_among_flags_is_refused():
    @T.prim_func
    def func(A: T.Buffer((8, 64), "float32"), n: T.int32):
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        for i in range(8):
            T.ascend.data_copy_pad_in(x[0], A[i, 0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
            T.ascend.exp(x[0], x[0], 64)
            if i > n:
                break

    with pytest.raises(JumpInKernel, match="allowed in loops of scalar code only"):
        run(func)


def test_while_on_chip_memory_is_refused():
    @T.prim_func
    def func():
        x = T.alloc_buffer((8,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        while x[0] < T.float32(1):
            T.ascend.adds(x[0], x[0], T.float32(1), 8)

    with pytest.raises(LoopConditionOnChip, match="upper bound"):
        run(func)


def test_too_many_events_says_what_to_do():
    text = str(TooManyEvents(CHIPS["910b1"].usable_event_ids))
    assert "6 usable ids" in text
    assert "num_stages=1" in text


def test_pairs_without_an_event_are_joined_by_a_barrier_of_all():
    @T.prim_func
    def func(C: T.Buffer((64, 64), "float32")):
        c = T.alloc_buffer((1024,), "float32", scope="local.l0c", annotations={"ascend.address": 0})
        for _ in range(2):
            C[0, 0] = T.float32(1)
            T.ascend.fixpipe(C[0, 0], c[0], 16, 16, 16, 64, False, "NoQuant")

    assert events(func) == ["flag FIX_S", "barrier ALL"]

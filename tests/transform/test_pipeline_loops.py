# SPDX-License-Identifier: Apache-2.0
"""Pipeline: which buffers get versions, and what happens when they do not fit."""

import tvm
import tvm_ffi
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tvm_ascend import language  # noqa: F401  registers T.ascend
from tvm_ascend.hw import CHIPS
from tvm_ascend.transform.notes import notes_of
from tvm_ascend.transform.pipeline_loops import Pipeline

UB = CHIPS["910b1"].capacity("ub")


def run(func):
    func = func.with_attr("target", tvm.target.Target("ascend"))
    return Pipeline()(tvm.IRModule({"main": func}))["main"]


def shapes(func):
    found = {}

    def visit(alloc):
        found[str(alloc.buffer.name)] = [int(e) for e in alloc.buffer.shape]

    tvm_ffi.structural_walk(run(func).body, (tvm.tirx.AllocBuffer, visit))
    return found


def test_what_one_unit_writes_and_another_reads_gets_versions():
    @T.prim_func
    def before(A: T.Buffer((9, 64), "float32"), B: T.Buffer((9, 64), "float32")):
        for k in T.serial(1, 9, annotations={"ascend.num_stages": 2}):
            x = T.alloc_buffer((64,), "float32", scope="shared.ub")
            y = T.alloc_buffer((64,), "float32", scope="shared.ub")
            T.ascend.data_copy_pad_in(x[0], A[k, 0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
            T.ascend.exp(y[0], x[0], 64)
            T.ascend.exp(y[0], y[0], 64)

    @T.prim_func
    def after(A: T.Buffer((9, 64), "float32"), B: T.Buffer((9, 64), "float32")):
        for k in T.serial(1, 9, annotations={"ascend.num_stages": 2}):
            x = T.alloc_buffer(
                (2, 64), "float32", scope="shared.ub", annotations={"ascend.versions": 2}
            )
            y = T.alloc_buffer((64,), "float32", scope="shared.ub")
            T.ascend.data_copy_pad_in(
                x[(k - 1) % 2, 0], A[k, 0], 1, 256, 0, 0, False, 0, 0, T.float32(0)
            )
            T.ascend.exp(y[0], x[(k - 1) % 2, 0], 64)
            T.ascend.exp(y[0], y[0], 64)

    assert_structural_equal(run(before).body, after.body, map_free_vars=True)


def copy_loop(trips, stages, elements=64):
    @T.prim_func
    def func(A: T.Buffer((64, elements), "float32"), B: T.Buffer((64, elements), "float32")):
        for k in T.serial(trips, annotations={"ascend.num_stages": stages}):
            x = T.alloc_buffer((elements,), "float32", scope="shared.ub")
            T.ascend.data_copy_pad_in(x[0], A[k, 0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
            T.ascend.data_copy_pad_out(B[k, 0], x[0], 1, 256, 0, 0)

    return func


def test_no_more_versions_than_iterations():
    assert shapes(copy_loop(9, 3))["x"] == [3, 64]
    assert shapes(copy_loop(2, 3))["x"] == [2, 64]
    assert shapes(copy_loop(1, 3))["x"] == [64]
    assert shapes(copy_loop(0, 3))["x"] == [64]


def test_loops_without_stages_are_left_alone():
    func = copy_loop(9, 1)
    assert_structural_equal(run(func).body, func.body)


def test_every_version_starts_aligned():
    assert shapes(copy_loop(9, 2, elements=1))["x"] == [2, 8]


def test_fewer_versions_where_memory_is_short():
    func = copy_loop(9, 4, elements=UB // 4 // 24 * 8)
    assert shapes(func)["x"] == [3, UB // 4 // 24 * 8]
    assert "3 of 4 versions, more do not fit in ub" in notes_of(run(func))[0]


def test_buffers_from_outside_the_loop_keep_one_version():
    @T.prim_func
    def func(A: T.Buffer((9, 64), "float32"), B: T.Buffer((9, 64), "float32")):
        x = T.alloc_buffer((64,), "float32", scope="shared.ub")
        for k in T.serial(9, annotations={"ascend.num_stages": 2}):
            T.ascend.data_copy_pad_in(x[0], A[k, 0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
            T.ascend.data_copy_pad_out(B[k, 0], x[0], 1, 256, 0, 0)

    assert shapes(func)["x"] == [64]


def test_outer_loops_give_up_their_versions_first():
    size = CHIPS["910b1"].capacity("l0c") // 4

    @T.prim_func
    def func(A: T.Buffer((64, 64), "float16"), C: T.Buffer((64, 64), "float32")):
        for i in T.serial(4, annotations={"ascend.num_stages": 2}):
            c = T.alloc_buffer((size,), "float32", scope="local.l0c")
            for _ in T.serial(4, annotations={"ascend.num_stages": 2}):
                a = T.alloc_buffer((256,), "float16", scope="local.l0a")
                b = T.alloc_buffer((256,), "float16", scope="local.l0b")
                x = T.alloc_buffer((256,), "float16", scope="shared.l1")
                T.ascend.data_copy_nd2nz(x[0], A[0, 0], 1, 16, 16, 0, 64, 16, 1, 0)
                T.ascend.load_data_2d(a[0], x[0], 0, 1, 1, 0, False)
                T.ascend.load_data_2d(b[0], x[0], 0, 1, 1, 0, True)
                T.ascend.mmad(c[0], a[0], b[0], 16, 16, 16, False)
            T.ascend.fixpipe(C[i * 16, 0], c[0], 16, 16, 16, 64, False, "NoQuant")

    found = shapes(func)
    assert found["c"] == [size]
    assert found["a"] == [2, 256]

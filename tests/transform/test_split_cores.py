# SPDX-License-Identifier: Apache-2.0
"""SplitCores: the core kind follows from what a kernel uses."""

import pytest
import tvm
from tvm.script import tirx as T

from tvm_ascend import language  # noqa: F401  registers T.ascend
from tvm_ascend.errors import MixedKernel
from tvm_ascend.language.core_sides import CORE_TYPE, core_type_of, on_each_core
from tvm_ascend.transform.split_cores import SplitCores


def core(func):
    return str(SplitCores()(tvm.IRModule({"main": func}))["main"].attrs[CORE_TYPE])


def test_vector_instructions_run_on_the_vector_core():
    @T.prim_func
    def func():
        x = T.alloc_buffer((8,), "float32", scope="shared.ub")
        T.ascend.duplicate(x[0], T.float32(0), 8)

    assert core(func) == "AIV"


def test_cube_memories_belong_to_the_cube_core():
    @T.prim_func
    def func():
        T.alloc_buffer((256,), "float16", scope="shared.l1")

    assert core(func) == "AIC"


def test_scalar_code_runs_on_the_vector_core():
    @T.prim_func
    def func(A: T.Buffer((8,), "float32")):
        A[0] = A[1]

    assert core(func) == "AIV"


def test_a_kernel_for_both_names_the_two_statements():
    @T.prim_func
    def func():
        x = T.alloc_buffer((256,), "float16", scope="shared.ub")
        c = T.alloc_buffer((256,), "float32", scope="local.l0c")  # noqa: F841
        T.ascend.duplicate(x[0], T.float16(0), 8)

    with pytest.raises(MixedKernel, match=r"buffer `x` in UB .*:\d+.* buffer `c` in L0C .*:\d+"):
        core(func)


def test_each_kind_of_core_gets_the_loops_around_its_statements():
    @T.prim_func
    def before():
        with T.launch_thread("blockIdx.x", 2), T.launch_thread("subBlockIdx", 2) as vid:
            u = T.alloc_buffer((64,), "float32", scope="shared.ub")
            for i in range(4):
                with T.attr(0, "ascend.scope", "C"):
                    T.ascend.cross_core_set_flag("2", "FIX", vid)
                if i < 3:
                    with T.attr(0, "ascend.scope", "V"):
                        T.ascend.cross_core_wait_flag(vid)
                T.ascend.duplicate(u[vid * 8], T.float32(0), 8)

    @T.prim_func
    def after():
        T.func_attr({"ascend.core_type": "MIX"})
        with T.launch_thread("blockIdx.x", 2), T.launch_thread("subBlockIdx", 2) as vid:
            with T.attr(0, "ascend.scope", "C"):
                for _ in range(4):
                    T.ascend.cross_core_set_flag("2", "FIX", 0)
            with T.attr(0, "ascend.scope", "V"):
                u = T.alloc_buffer((64,), "float32", scope="shared.ub")
                for j in range(4):
                    if j < 3:
                        T.ascend.cross_core_wait_flag(vid)
                    T.ascend.duplicate(u[vid * 8], T.float32(0), 8)

    result = SplitCores()(tvm.IRModule({"main": before}))["main"]
    tvm.ir.assert_structural_equal(result.body, after.body)
    assert dict(result.attrs)[CORE_TYPE] == "MIX"


def test_passes_run_on_each_program_of_a_mixed_function():
    @T.prim_func
    def mixed():
        T.func_attr({"ascend.core_type": "MIX"})
        with T.launch_thread("blockIdx.x", 2), T.launch_thread("subBlockIdx", 2):
            with T.attr(0, "ascend.scope", "C"):
                T.ascend.pipe_barrier("M")
            with T.attr(0, "ascend.scope", "V"):
                T.ascend.pipe_barrier("V")

    seen = []

    def transform(program):
        seen.append((core_type_of(program), program.script().count("pipe_barrier")))
        return program.with_attr("noted", len(seen))

    result = on_each_core(mixed, transform)
    assert seen == [("AIC", 1), ("AIV", 1)]
    assert int(result.attrs["noted"]) == 2
    assert core_type_of(result) == "MIX"
    tvm.ir.assert_structural_equal(result.body, mixed.body)

# SPDX-License-Identifier: Apache-2.0
"""SplitCores: the core kind follows from what a kernel uses."""

import pytest
import tvm
from tvm.script import tirx as T

from tvm_ascend import language  # noqa: F401  registers T.ascend
from tvm_ascend.errors import MixedKernel
from tvm_ascend.language.core_sides import CORE_TYPE
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

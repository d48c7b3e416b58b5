# SPDX-License-Identifier: Apache-2.0
"""T.prim_func: which value a name has, and errors that name the user's line."""

import inspect

import pytest
import tvm_ffi
from tvm import tirx

from tvm_ascend import language as T
from tvm_ascend.errors import AtomicOnGlobal, ParallelOutsideKernel, ScriptError, SourceMissing

M = 7


def make(M):
    @T.prim_func
    def kernel(A: T.Tensor((M, 4), "float32")):
        with T.Kernel(1):
            A[0, 0] = 1.0

    return kernel


def line_of(text):
    lines, start = inspect.getsourcelines(inspect.currentframe().f_back.f_code)
    return start + next(k for k, line in enumerate(lines) if text in line)


def test_factory_parameter_wins_over_module_global():
    assert int(make(16).params[0].ty.shape[0]) == 16


def test_names_of_every_enclosing_function_are_seen():
    def outer(n):
        def inner(dtype):
            @T.prim_func
            def kernel(A: T.Tensor((n,), dtype)):
                A[0] = T.Cast(dtype, 1.0)

            return kernel

        return inner

    (param,) = outer(5)("float16").params
    assert int(param.ty.shape[0]) == 5
    assert str(param.ty.dtype) == "float16"


def test_syntax_error_names_the_line():
    with pytest.raises(ScriptError, match="Undefined variable: nowhere") as err:

        @T.prim_func
        def kernel(A: T.Tensor((4,), "float32")):
            A[0] = nowhere  # noqa: F821

    assert f"test_entry.py:{line_of('= nowhere')}" in str(err.value)


def test_our_errors_keep_their_class_and_name_the_line():
    with pytest.raises(AtomicOnGlobal) as err:

        @T.prim_func
        def kernel(A: T.Tensor((4,), "float32")):
            T.atomic_add(A[0], 1.0)

    assert f"test_entry.py:{line_of('atomic_add(A')}" in str(err.value)


def test_two_dimensional_parallel_loops_are_marked():
    @T.prim_func
    def kernel(A: T.Tensor((4, 4), "float32")):
        for i, j in T.Parallel(4, 4):
            A[i, j] = 0.0
        for i in range(4):
            A[i, i] = 1.0

    nest, plain = kernel.body.seq
    assert "ascend.parallel" in nest.annotations
    assert "ascend.parallel" in nest.body.annotations
    assert not plain.annotations


def test_two_dimensional_parallel_loops_need_our_decorator():
    with pytest.raises(ParallelOutsideKernel):
        T.Parallel(4, 4)


def test_statements_carry_the_line_of_the_user():
    @T.prim_func
    def kernel(A: T.Tensor((4,), "float32")):
        with T.Kernel(2) as bx:
            tile = T.alloc_fragment((4,))
            T.copy(A, tile)
            A[bx] = 1.0

    found = []

    tvm_ffi.structural_walk(
        kernel.body,
        [
            (
                (tirx.AllocBuffer, tirx.Evaluate, tirx.BufferStore),
                lambda s: found.append(s.span.line),
            )
        ],
    )
    first = line_of("tile = T.alloc_fragment")
    assert found == [first, first + 1, first + 2]


def test_kernels_with_constants_in_the_loop_body_use_python():
    flags = (True, False)

    @T.prim_func
    def kernel(A: T.Tensor((2,), "float32")):
        for k in range(2):
            if flags[0]:
                A[k] = 1.0
            if flags[1]:
                A[k] = 2.0

    assert isinstance(kernel.body.body, tirx.BufferStore)


def test_prim_func_works_inside_a_module():
    from tvm.script import ir as I

    @I.ir_module
    class Module:
        @T.prim_func
        def kernel(A: T.Buffer((4,), "float32")):
            A[0] = 1.0

    assert isinstance(Module["kernel"], tirx.PrimFunc)


def test_a_kernel_without_source_is_told_to_be_in_a_file():
    text = """
@T.prim_func
def kernel(A: T.Tensor((64,))):
    with T.Kernel(1):
        A[0] = 1.0
"""
    with pytest.raises(SourceMissing, match=r"`kernel` in <string> .* Put it into"):
        exec(text, {"T": T})

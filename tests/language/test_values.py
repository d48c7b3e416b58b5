# SPDX-License-Identifier: Apache-2.0
"""What is computed with and stored is a value: None and what is no operand are refused."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tvm_ascend
from tests.transform.kernels import run
from tvm_ascend import errors
from tvm_ascend import language as T

KERNEL = """
from tvm_ascend import language as T

@T.prim_func
def kernel(A: T.Tensor((64,)), n: T.int32):
    with T.Kernel(1):
        a = T.alloc_fragment((64,))
        T.clear(a)
        {statement}
        T.copy(a, A)
"""
LINE = KERNEL.split("\n").index("        {statement}") + 1

SIGNS = ("+", "-", "*", "/", "//", "%", "<<", ">>", "|", "^", "&")
UNARY = ("abs", "fabs", "ceil", "floor", "round", "trunc", "likely", "isnan", "exp")
BINARY = ("ceildiv", "floordiv", "floormod", "truncdiv", "shift_left")
NONE = [
    "a[0] = None",
    "a[None] = 1.0",
    "a[0] += None",
    "a[0] -= None",
    "x: T.float32 = 0.0; x = None",
    "for i in T.Parallel(64): a[i] = None",
    "for i in T.Parallel(64): a[None] = 1.0",
    *(f"a[0] = n {sign} None" for sign in SIGNS),
    *(f"a[0] = None {sign} n" for sign in SIGNS),
    "a[0] = T.if_then_else(None, 1.0, 2.0)",
    "a[0] = T.if_then_else(n > 1, None, 2.0)",
    "a[0] = T.if_then_else(n > 1, 1.0, None)",
    "a[0] = T.abs(x=None)",
    *(f"a[0] = T.{name}(None)" for name in UNARY),
    *(f"a[0] = T.{name}(n, None)" for name in BINARY),
    "a[0] = T.reinterpret('float32', None)",
    "T.buffer_store(a, None, [0])",
    "T.buffer_store(a, 1.0, [None])",
    "T.ascend.adds(a, a, None, 64)",
    "T.ascend.tile_fill(a, None)",
]


def build(tmp_path, statement):
    """Parse in a process of its own: the fault is one that ends the process."""
    lines = statement.split("; ")
    text = KERNEL.format(statement=textwrap.indent("\n".join(lines), " " * 8).strip())
    (tmp_path / "case.py").write_text(text)
    return LINE + len(lines) - 1


def test_none_is_refused_with_the_line(tmp_path):
    expected = {}
    for k, statement in enumerate(NONE):
        (tmp_path / f"c{k}").mkdir()
        expected[f"c{k}"] = build(tmp_path / f"c{k}", statement)
    program = """
import runpy, sys
from tvm_ascend import errors
for name in sys.argv[2:]:
    try:
        runpy.run_path(f"{sys.argv[1]}/{name}/case.py")
    except errors.AscendError as error:
        print(name, type(error).__name__, str(error).split(": ")[0].rpartition(":")[2], flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), *expected],
        capture_output=True,
        text=True,
        check=False,
    )
    got = {name: rest for name, *rest in map(str.split, done.stdout.splitlines())}
    wrong = {
        NONE[int(name[1:])]: got.get(name)
        for name, line in expected.items()
        if got.get(name) != ["ValueMissing", str(line)]
    }
    assert (wrong, done.returncode) == ({}, 0)


def operand(value):
    def make():
        @T.prim_func
        def kernel(A: T.Tensor((64,)), n: T.int32):
            with T.Kernel(1):
                a = T.alloc_fragment((64,))
                T.ascend.adds(a, value, T.float32(1), 64)

        return kernel

    return make


@pytest.mark.parametrize("value", [3, 1.5, None, True, "a", [1], (1,), len, slice(0, 4), ...])
def test_what_is_no_operand_of_an_instruction_is_refused_with_the_line(value):
    with pytest.raises(
        errors.OperandExpected, match=r"test_values\.py:\d+: T\.ascend\.adds: `\w+` is a \w+"
    ):
        operand(value)()


def operand_n():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            T.ascend.adds(a, n + 1, T.float32(1), 64)


def operand_slice():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            T.ascend.adds(a, a[0:64], T.float32(1), 64)


def operand_of_a_tile_operation():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            T.ascend.tile_fill(n, 1.0)


@pytest.mark.parametrize("make", [operand_n, operand_slice, operand_of_a_tile_operation])
def test_expressions_and_slices_are_no_operands_of_instructions(make):
    with pytest.raises(errors.OperandExpected, match=r"test_values\.py:\d+: T\.ascend\."):
        make()


def test_an_assertion_is_refused_with_the_line():
    with pytest.raises(errors.NotAnInstruction, match=r"test_values\.py:\d+: `assert n > 100`"):

        @T.prim_func
        def kernel(A: T.Tensor((64,)), n: T.int32):
            with T.Kernel(1):
                assert n > 100, "too small"
                A[0] = 1.0


@pytest.mark.parametrize("loop", [T.Pipelined, T.serial, T.Parallel, T.grid, T.unroll])
def test_a_loop_that_stands_alone_is_refused_with_the_line(loop):
    with pytest.raises(errors.LoopStatement, match=r"test_values\.py:\d+: `loop\(3\)` makes a"):

        @T.prim_func
        def kernel(A: T.Tensor((64,))):
            with T.Kernel(1):
                loop(3)
                A[0] = 1.0


def always():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            while True:
                T.clear(a)

    return kernel


def scalar_condition():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            while n > 3:
                A[0] = 1.0

    return kernel


def break_of_another_loop():
    @T.prim_func
    def kernel(A: T.Tensor((64,)), n: T.int32):
        with T.Kernel(1):
            while True:
                for i in range(4):
                    if i > n:
                        break
                    A[i] = 1.0

    return kernel


@pytest.mark.parametrize("make", [always, scalar_condition, break_of_another_loop])
def test_a_loop_that_never_ends_is_refused_with_the_line(make):
    with pytest.raises(errors.EndlessLoop, match=r"test_values\.py:\d+: the loop `while "):
        tvm_ascend.compile(make())


def test_a_loop_whose_condition_the_body_changes_runs():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "int32")):
        with T.Kernel(1):
            while A[0] < 5:
                A[0] = A[0] + 2

    got = np.zeros(64, "int32")
    run(kernel, got)
    assert got[0] == 6

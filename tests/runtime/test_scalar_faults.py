# SPDX-License-Identifier: Apache-2.0
"""Scalar code cannot crash or hang the process, and costs the same on both paths."""

import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest

from tvm_ascend import compile
from tvm_ascend import language as T
from tvm_ascend.build import Kernel
from tvm_ascend.errors import TrapError

INT_MIN = -(2**31)


def twin_of(kernel):
    return Kernel(kernel.artifact, kernel.out_idx, replace(kernel.options, executor="twin"))


def division(operation):
    @T.prim_func
    def divide(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32"), C: T.Tensor((8,), "int32")):
        with T.Kernel(1):
            for i in T.serial(8):
                C[i] = operation(A[i], B[i])

    return divide


A = np.array([7, -7, 7, -7, INT_MIN, 5, 0, -1], "int32")
B = np.array([2, 2, -2, -2, -1, -1, 3, 5], "int32")
FLOOR = A.astype("int64") // B
TRUNC = (np.abs(A.astype("int64")) // np.abs(B)) * np.sign(A.astype("int64")) * np.sign(B)
CASES = {
    "floordiv": (T.floordiv, FLOOR),
    "floormod": (T.floormod, A - FLOOR * B),
    "truncdiv": (T.truncdiv, TRUNC),
    "truncmod": (T.truncmod, A - TRUNC * B),
}


@pytest.mark.parametrize("name", CASES)
def test_division_of_run_time_values(name):
    operation, expected = CASES[name]
    kernel = compile(division(operation), out_idx=2)
    for run in (kernel, twin_of(kernel)):
        assert np.array_equal(run(A, B), expected.astype("int32"))


@pytest.mark.parametrize("name", CASES)
def test_division_by_zero_stops_the_core_and_names_the_line(name):
    kernel = compile(division(CASES[name][0]), out_idx=2)
    with pytest.raises(TrapError, match=r"test_scalar_faults.py:\d+"):
        kernel(A, np.zeros_like(B))
    with pytest.raises(TrapError, match=r"kernel.cce:\d+"):
        twin_of(kernel)(A, np.zeros_like(B))


@pytest.fixture
def interruptible():
    """A process started in the background ignores SIGINT; Ctrl-C must work here all the same."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_an_endless_kernel():
    @T.prim_func
    def endless(A: T.Tensor((8,), "int32")):
        with T.Kernel(1):
            while A[0] < 1:
                A[1] = A[1] + 1

    kernel = compile(endless)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        kernel(np.zeros(8, "int32"))


def test_loads_of_a_comparison_cost_the_same_on_both_paths():
    @T.prim_func
    def pick(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32"), C: T.Tensor((8,), "int32")):
        with T.Kernel(1):
            for i in T.serial(8):
                C[i] = T.if_then_else(A[i] > T.max(B[i], A[7 - i]), A[i], B[i])

    kernel = compile(pick, out_idx=2)
    (ours,), our_report = kernel.run(A, B)
    (theirs,), twin_report = twin_of(kernel).run(A, B)
    assert ours.tobytes() == theirs.tobytes()
    assert our_report.pipes == twin_report.pipes

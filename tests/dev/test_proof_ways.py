# SPDX-License-Identifier: Apache-2.0
"""Proofs of kernels with branches: each core is followed on the way it takes."""

import numpy as np
import pytest

from tests.transform.order_oracle import Unrolled
from tvm_ascend import Options, compile, dev
from tvm_ascend import language as T
from tvm_ascend.dev import proof
from tvm_ascend.transform.sync.written import both_ways, unordered
from tvm_ascend.transform.sync_edit import without_sync


@T.prim_func
def alternate(A: T.Tensor((6, 256), "float32"), B: T.Tensor((6, 256), "float32")):
    with T.Kernel(1):
        a = T.alloc_fragment((256,))
        b = T.alloc_fragment((256,))
        for i in T.serial(6):
            if i % 2 == 0:
                T.copy(A[i, 0], a)
                for j in T.Parallel(256):
                    a[j] = a[j] + 1.0
                T.copy(a, B[i, 0])
            else:
                T.copy(A[i, 0], b)
                for j in T.Parallel(256):
                    b[j] = b[j] + 2.0
                T.copy(b, B[i, 0])


@T.prim_func
def by_core(A: T.Tensor((4, 256), "float32"), B: T.Tensor((4, 256), "float32")):
    with T.Kernel(4) as bx:
        a = T.alloc_fragment((256,))
        for i in T.serial(3):
            if bx > 1 and i > 0:
                T.copy(A[bx, 0], a)
            if bx <= 1 and i == 0:
                T.copy(A[0, 0], a)
            if (bx > 1 and i > 0) or i == 2:
                for j in T.Parallel(256):
                    a[j] = a[j] + 1.0
        T.copy(a, B[bx, 0])


@T.prim_func
def growing(A: T.Tensor((4, 256), "float32"), B: T.Tensor((4, 256), "float32")):
    with T.Kernel(3) as bx:
        a = T.alloc_fragment((256,))
        for i in T.serial(bx + 2):
            T.copy(A[i, 0], a)
            for k in T.serial(i):
                if k == 1 and bx == 2:
                    for j in T.Parallel(256):
                        a[j] = a[j] + 1.0
            if i == bx + 1:
                T.copy(a, B[i, 0])


@T.prim_func
def by_data(A: T.Tensor((6, 256), "float32"), N: T.Tensor((6,), "int32"),
            B: T.Tensor((6, 256), "float32")):  # fmt: skip
    with T.Kernel(1):
        a = T.alloc_fragment((256,))
        b = T.alloc_fragment((256,))
        for i in T.serial(6):
            if N[i] > 0:
                T.copy(A[i, 0], a)
                for j in T.Parallel(256):
                    a[j] = a[j] + 1.0
                T.copy(a, B[i, 0])
            else:
                T.copy(A[i, 0], b)
                for j in T.Parallel(256):
                    b[j] = b[j] + 2.0
                T.copy(b, B[i, 0])


def compiled(func, outputs):
    return compile(func, out_idx=outputs, options=Options(cache=False))


@pytest.mark.parametrize("func", [alternate, by_core], ids=lambda f: f.__name__)
def test_branches_on_counters_and_cores_leave_no_failure(func):
    kernel = compiled(func, 1)
    found = dev.prove_sync(kernel, *proof.random_inputs(kernel))
    assert found.holds, found.text()
    assert {"reported", "redundant"} == {v.verdict for v in found.verdicts}


@pytest.mark.parametrize("func", [alternate, by_core, growing], ids=lambda f: f.__name__)
def test_the_analysis_follows_each_core_as_the_oracle_does(func):
    final = compiled(func, 1).stages["final"]
    cores = {"alternate": 1, "by_core": 4, "growing": 3}[func.__name__]
    assert unordered(final) is None
    assert both_ways(final) == ""
    verdicts = []
    for sync in range(len(dev.syncs(compiled(func, 1)))):
        broken = without_sync(final, sync)
        faults = [fault for core in range(cores) for fault in Unrolled(broken, core).faults]
        races = [fault for fault in faults if "left up" not in fault]
        assert (unordered(broken) is None) == (not races), (sync, faults)
        verdicts.append(not races)
    assert False in verdicts


def test_a_branch_on_data_is_tried_both_ways():
    kernel = compiled(by_data, 2)
    final = kernel.stages["final"]
    assert both_ways(final) == ""
    inputs = (np.zeros((6, 256), "float32"), np.array([1, 0, 1, 0, 1, 0], "int32"))
    assert dev.prove_sync(kernel, *inputs).holds
    needed = [i for i in range(len(dev.syncs(kernel))) if unordered(without_sync(final, i))]
    # A run that never takes one side reports nothing about what only that side needs.
    found = dev.prove_sync(kernel, inputs[0], np.ones(6, "int32"))
    silent = [v.index for v in found.verdicts if v.index in needed and v.verdict != "reported"]
    assert silent
    assert all(found.verdicts[i].verdict == "FAILURE" for i in silent)


def test_too_many_ways_are_said_so():
    @T.prim_func
    def many(A: T.Tensor((40, 256), "float32"), N: T.Tensor((40,), "int32"),
             B: T.Tensor((40, 256), "float32")):  # fmt: skip
        with T.Kernel(1):
            a = T.alloc_fragment((256,))
            b = T.alloc_fragment((256,))
            for i in T.serial(40):
                if N[i] > 0:
                    T.copy(A[i, 0], a)
                    for j in T.Parallel(256):
                        a[j] = a[j] + 1.0
                    T.copy(a, B[i, 0])
                else:
                    T.copy(A[i, 0], b)
                    for j in T.Parallel(256):
                        b[j] = b[j] + 2.0
                    T.copy(b, B[i, 0])

    kernel = compiled(many, 2)
    assert "depends on data or arguments" in both_ways(kernel.stages["final"])
    found = dev.prove_sync(kernel, np.zeros((40, 256), "float32"), np.ones(40, "int32"))
    failures = [v for v in found.verdicts if v.verdict == "FAILURE"]
    assert failures
    assert all("both sides of the branch in" in v.why for v in failures)

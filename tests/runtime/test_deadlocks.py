# SPDX-License-Identifier: Apache-2.0
"""A kernel that would hang ends with who waits for what, and since when, on both executors."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tvm_ascend import Options, SimOptions, compile
from tvm_ascend import language as T
from tvm_ascend.errors import DeadlockError

LINE = r"test_deadlocks\.py:\d+"


@T.prim_func
def flag_never_set(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        a = T.alloc_ub((64,), "float32")
        T.ascend.data_copy_pad_in(a[0], A[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        T.wait_flag("mte2", "mte3", 2)
        T.ascend.data_copy_pad_out(B[0], a[0], 1, 256, 0, 0)


@T.prim_func
def set_behind_a_full_queue(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        a = T.alloc_ub((64,), "float32")
        T.wait_flag("mte3", "mte2", 0)
        for _ in T.serial(100):
            T.ascend.data_copy_pad_in(a[0], A[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
            T.ascend.pipe_barrier("MTE2")
        T.set_flag("mte2", "mte3", 0)
        T.wait_flag("mte2", "mte3", 0)
        T.ascend.data_copy_pad_out(B[0], a[0], 1, 256, 0, 0)
        T.set_flag("mte3", "mte2", 0)


@T.prim_func
def cross_core_flag_never_set(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(2, is_npu=True):
        with T.Scope("C"):
            T.wait_cross_flag(3)
        with T.Scope("V"):
            T.barrier_all()


@T.prim_func
def ring(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(2, is_npu=True):
        with T.Scope("C"):
            T.wait_cross_flag(1)
            T.set_cross_flag("FIX", 2)
        with T.Scope("V"):
            T.wait_cross_flag(2)
            T.set_cross_flag("MTE3", 1)


@T.prim_func
def sync_all_without_one(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(4) as bx:
        a = T.alloc_ub((64,), "float32")
        T.copy(A, a)
        if bx != 2:
            T.ascend.sync_all()


KINDS = {
    flag_never_set: r"(?i:wait_?flag).* holds pipe MTE3 forever, since cycle \d+: no "
    r"statement before it raises HardEvent::MTE2_MTE3 id 2; the last statement on pipe MTE2 is "
    r"`.*(?i:data_?copy_?pad)",
    set_behind_a_full_queue: r"(?i:wait_?flag).* holds pipe MTE2 forever, since cycle \d+: no "
    r"statement before it raises HardEvent::MTE3_MTE2 id 0",
    cross_core_flag_never_set: r"AIC 0 \(and 1 more\) waits forever at .* for cross-core flag 3, "
    r"since cycle \d+: no statement sets it",
    ring: r"AIC 0 \(and 1 more\) waits forever at .* for cross-core flag 1, since cycle \d+: .* on "
    r"AIV 0 would raise it, and AIV 0 itself waits at .* for cross-core flag 2, since cycle \d+",
    sync_all_without_one: r"core 0 \(and 2 more\) waits forever at .* for SyncAll, since "
    r"cycle \d+: SyncAll on core 2 would raise it, and core 2 has ended after",
}


@pytest.mark.parametrize("func", KINDS, ids=[f.attrs["global_symbol"] for f in KINDS])
@pytest.mark.parametrize("executor", ["simulator", pytest.param("twin", marks=pytest.mark.slow)])
@pytest.mark.parametrize("numerics", [True, False])
def test_a_deadlock_is_an_error_that_says_who_waits_for_what(func, executor, numerics):
    kernel = compile(func, options=Options(cache=False, executor=executor))
    arrays = [np.zeros(64, "float32") for _ in range(2)]
    with pytest.raises(DeadlockError) as caught:
        kernel.run(*arrays, sim=SimOptions(numerics=numerics))
    text = str(caught.value)
    assert re.search(KINDS[func], text), text
    if executor == "simulator":  # the emitted source is not the user's
        assert re.search(LINE, text)
    with pytest.raises(DeadlockError):
        kernel.run(*arrays)  # and the same again

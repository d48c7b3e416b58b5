# SPDX-License-Identifier: Apache-2.0
"""Outputs that a call allocates hold no values until the kernel writes them, and it writes all."""

from dataclasses import replace

import numpy as np
import pytest

from tvm_ascend import SimOptions, compile
from tvm_ascend import language as T
from tvm_ascend.build import Kernel
from tvm_ascend.errors import MemoryAccessError


@T.prim_func
def half(A: T.Tensor((4, 16), "float32"), B: T.Tensor((4, 16), "float32")):
    with T.Kernel(4) as bx:
        a = T.alloc_fragment((16,), "float32")
        T.copy(A[bx, 0], a)
        if bx < 2:
            T.copy(a, B[bx, 0])
        else:
            T.copy(a[0:10], B[bx, 0:10])


@T.prim_func
def increment(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        a = T.alloc_fragment((64,), "float32")
        T.copy(A, a)
        T.copy(a[0:32], B[0:32])
        for i in T.serial(64):
            B[i] = B[i] + 1.0


@T.prim_func
def load_output(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        a = T.alloc_fragment((64,), "float32")
        b = T.alloc_fragment((64,), "float32")
        T.copy(A, a)
        T.copy(B, b)
        for i in T.Parallel(64):
            a[i] = a[i] + b[i]
        T.copy(a, B)


def on(executor, func, out_idx=1):
    kernel = compile(func, out_idx=out_idx)
    return Kernel(kernel.artifact, kernel.out_idx, replace(kernel.options, executor=executor))


@pytest.mark.parametrize("executor", ["simulator", "twin"])
def test_bytes_that_no_statement_writes_are_reported(executor):
    with pytest.raises(
        MemoryAccessError, match="unwritten_output in kernel `half` of gm"
    ) as caught:
        on(executor, half)(np.ones((4, 16), "float32"))
    hazard = caught.value.hazard
    assert hazard.bytes == (168, 192)
    assert "`B` is returned with 48 of its 256 bytes never written, first `B[2, 10]`" in str(hazard)


@pytest.mark.parametrize("executor", ["simulator", "twin"])
@pytest.mark.parametrize(("func", "byte"), [(increment, 128), (load_output, 0)])
def test_reading_an_output_before_it_is_written_is_reported(func, byte, executor):
    with pytest.raises(MemoryAccessError, match="nobody wrote it") as caught:
        on(executor, func)(np.ones(64, "float32"))
    hazard = caught.value.hazard
    assert (hazard.kind, hazard.space, hazard.bytes) == ("poison", "gm", (byte, byte + 1))
    assert "of `B`" in hazard.message


def test_tensors_that_the_caller_passes_have_values():
    given = np.full((4, 16), 7, "float32")
    on("simulator", half, out_idx=None)(np.ones((4, 16), "float32"), given)
    assert given[3, 9:11].tolist() == [1, 7]


@pytest.mark.parametrize("off", ["hazards", "numerics"])
def test_runs_without_hazards_or_values_do_not_look(off):
    kernel = compile(half, out_idx=1, options=None)
    report = kernel.profile(np.ones((4, 16), "float32"), sim=SimOptions(**{off: False}))
    assert report.hazards == []

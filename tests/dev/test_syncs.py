# SPDX-License-Identifier: Apache-2.0
"""Every sync that the compiler inserts is needed, and the checker says so when it is gone."""

import numpy as np
import pytest

from tvm_ascend import SimOptions, compile, dev
from tvm_ascend import language as T
from tvm_ascend.build import rebuild
from tvm_ascend.demo import basics
from tvm_ascend.demo.kernels import make_layer_norm, make_matmul
from tvm_ascend.errors import HazardError
from tvm_ascend.transform.sync_edit import sync_statements, without_statement


def layer_norm():
    return compile(make_layer_norm(128, 1024), out_idx=[1, 2, 3]), (basics.layer_norm_input(),)


def matmul(m, k, n):
    return compile(make_matmul(m, k, n), out_idx=2), basics.matmul_inputs(m, k, n)


@T.prim_func
def exponentials(A: T.Tensor((33, 100), "float16"), B: T.Tensor((33, 100), "float16")):
    with T.Kernel(9) as block:
        a = T.alloc_fragment((4, 100), "float32")
        peak = T.alloc_fragment((4,), "float32")
        T.copy(A[block * 4, 0], a)
        T.reduce_max(a, peak, dim=1)
        for i, j in T.Parallel(4, 100):
            a[i, j] = T.exp(a[i, j] - peak[i])
        T.copy(a, B[block * 4, 0])


def one_block_a_core():
    return compile(exponentials, out_idx=1), (np.ones((33, 100), "float16"),)


KERNELS = {
    "layer_norm": layer_norm,
    "one_block_a_core": one_block_a_core,
    "matmul_512": lambda: matmul(512, 512, 512),
    "matmul_126": lambda: matmul(126, 80, 159),
}


@pytest.mark.parametrize("name", KERNELS)
def test_intact_kernel_has_no_hazard(name):
    kernel, inputs = KERNELS[name]()
    assert kernel.profile(*inputs, sim=SimOptions(strict=False)).hazards == []


@pytest.mark.parametrize("name", KERNELS)
def test_each_deleted_pair_or_barrier_is_reported_with_both_statements(name):
    kernel, inputs = KERNELS[name]()
    found = dev.syncs(kernel)
    assert found
    for index in range(len(found)):
        hazard = dev.break_sync(kernel, index, *inputs).hazard
        assert hazard is not None, f"nothing reported without {found[index]}"
        assert hazard.first is not None, hazard.message
        assert hazard.second is not None, hazard.message
        assert hazard.fix, hazard.message


@pytest.mark.parametrize("name", KERNELS)
def test_each_single_deleted_statement_is_reported(name):
    kernel, inputs = KERNELS[name]()
    final = kernel.stages["final"]
    for index in range(len(sync_statements(final))):
        broken = rebuild(kernel, without_statement(final, index))
        with pytest.raises(HazardError) as caught:
            broken.profile(*inputs, sim=SimOptions())
        hazard = caught.value.hazard
        assert hazard.first is not None, hazard.message
        assert hazard.second is not None, hazard.message

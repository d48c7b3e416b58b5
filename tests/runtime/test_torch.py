# SPDX-License-Identifier: Apache-2.0
"""Torch CPU tensors in, torch CPU tensors out; torch itself stays optional."""

import pytest

from tvm_ascend import compile, errors
from tvm_ascend import language as T

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def make(dtype):
    @T.prim_func
    def double(A: T.Tensor((4, 64), dtype), B: T.Tensor((4, 64), dtype)):
        with T.Kernel(4) as bx:
            tile = T.alloc_fragment((64,), dtype)
            T.copy(A[bx, :], tile)
            for i in T.Parallel(64):
                B[bx, i] = tile[i] + tile[i]

    return double


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32"])
def test_torch_in_torch_out(dtype):
    a = torch.arange(256).reshape(4, 64).to(getattr(torch, dtype))
    out = compile(make(dtype), out_idx=1)(a)
    assert isinstance(out, torch.Tensor)
    assert torch.equal(out, a + a)


def test_torch_outputs_are_written_in_place_and_checked():
    kernel = compile(make("float32"))
    a, out = torch.ones(4, 64), torch.zeros(4, 64)
    assert kernel(a, out) is None
    assert torch.equal(out, 2 * a)
    with pytest.raises(errors.ArgumentLayoutError):
        kernel(a, torch.zeros(4, 128)[:, ::2])
    assert torch.equal(compile(make("float32"), out_idx=1)(torch.ones(4, 128)[:, ::2]), 2 * a)

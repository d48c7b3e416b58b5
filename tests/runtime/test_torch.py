# SPDX-License-Identifier: Apache-2.0
"""Torch CPU tensors in, torch CPU tensors out; torch itself stays optional."""

import pytest
from small_kernels import make_double

from tvm_ascend import compile, errors

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32"])
def test_torch_in_torch_out(dtype):
    a = torch.arange(256).reshape(4, 64).to(getattr(torch, dtype))
    out = compile(make_double(dtype), out_idx=1)(a)
    assert isinstance(out, torch.Tensor)
    assert torch.equal(out, a + a)


def test_torch_outputs_are_written_in_place_and_checked():
    kernel = compile(make_double("float32"))
    a, out = torch.ones(4, 64), torch.zeros(4, 64)
    assert kernel(a, out) is None
    assert torch.equal(out, 2 * a)
    with pytest.raises(errors.ArgumentLayoutError):
        kernel(a, torch.zeros(4, 128)[:, ::2])
    assert torch.equal(
        compile(make_double("float32"), out_idx=1)(torch.ones(4, 128)[:, ::2]), 2 * a
    )

# SPDX-License-Identifier: Apache-2.0
"""``ext_dev``: host memory that knows its bounds, loaded the first time someone asks for it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import tvm

DEVICE = tvm.device("ext_dev", 0)


def test_importing_tvm_alone_gives_the_device():
    code = """
import numpy as np, tvm
x = tvm.runtime.tensor(np.arange(5, dtype="int32"), tvm.device("ext_dev", 0))
print(x.numpy().tolist(), x.device)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[0, 1, 2, 3, 4] ext_dev:0", done.stderr


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "int64", "bool"])
def test_copy_there_and_back(dtype, rng):
    given = rng.integers(0, 2, (3, 5, 7)).astype(dtype)
    there = tvm.runtime.tensor(given, DEVICE)
    assert there.device == DEVICE
    np.testing.assert_array_equal(there.numpy(), given)
    again = tvm.runtime.empty(given.shape, dtype, DEVICE)
    there.copyto(again)
    np.testing.assert_array_equal(again.numpy(), given)


def test_fresh_memory_is_poison():
    assert np.isnan(tvm.runtime.empty((33,), "float16", DEVICE).numpy()).all()
    assert np.isnan(tvm.runtime.empty((33,), "float32", DEVICE).numpy()).all()
    assert (tvm.runtime.empty((33,), "int32", DEVICE).numpy() == -1).all()


def test_empty_tensor():
    assert tvm.runtime.empty((0, 4), "float32", DEVICE).numpy().shape == (0, 4)


def test_one_chip():
    assert DEVICE.exist
    assert DEVICE.device_name == "Ascend simulator"
    assert not tvm.device("ext_dev", 1).exist
    with pytest.raises(ValueError, match=r"ext_dev\(1\) does not exist: one simulated chip"):
        tvm.runtime.empty((4,), "float32", tvm.device("ext_dev", 1))

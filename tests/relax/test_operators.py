# SPDX-License-Identifier: Apache-2.0
"""Operators of Relax, legalized by TVM, give numpy's answer on the simulator."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.relax import op

DEVICE = tvm.device("ext_dev", 0)
RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.integers(-8, 9, shape).astype("float32")


def halves(*shape):
    return RNG.integers(-3, 4, shape).astype("float16")


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def centred(x):
    return x - x.mean()


def wide(x):
    return x.astype("float32")


CASES = {
    "relu": (op.nn.relu, [floats(33, 70)], lambda x: np.maximum(x, 0)),
    "add with broadcast": (op.add, [floats(33, 70), floats(70)], np.add),
    "add of integers": (op.add, [np.arange(64, dtype="int32")] * 2, np.add),
    "add of bytes": (op.add, [np.arange(50, dtype="int8")] * 2, np.add),
    "rank 3": (op.multiply, [floats(5, 7, 9), floats(5, 7, 9)], np.multiply),
    "cast": (lambda x: op.astype(x, "float16"), [floats(33, 70)], lambda x: x.astype("float16")),
    "softmax": (lambda x: op.nn.softmax(x, axis=-1), [floats(33, 70)], softmax),
    "sigmoid": (op.sigmoid, [floats(33, 70)], lambda x: 1 / (1 + np.exp(-x))),
    "sum of columns": (lambda x: op.sum(x, axis=0), [floats(33, 70)], lambda x: x.sum(0)),
    "maximum of rows": (lambda x: op.max(x, axis=1), [floats(33, 70)], lambda x: x.max(1)),
    "mean of all": (op.mean, [floats(8, 16)], np.mean),
    "deviation of all": (op.std, [floats(8, 17)], np.std),
    "variance of a vector": (op.variance, [floats(17)], np.var),
    "less the mean of all": (lambda x: op.subtract(x, op.mean(x)), [floats(4, 8)], centred),
    "transpose": (lambda x: op.permute_dims(x, [1, 0]), [floats(33, 40)], np.transpose),
    "concatenate": (
        lambda x, y: op.concat([x, y], axis=1),
        [floats(9, 20), floats(9, 5)],
        lambda x, y: np.concatenate([x, y], 1),
    ),
    "gather of rows": (
        lambda x, rows: op.take(x, rows, axis=0, mode="clip"),
        [floats(33, 40), np.array([3, 1, 2, 30], "int32")],
        lambda x, rows: x[rows],
    ),
    "comparison": (op.greater, [floats(9, 20), floats(9, 20)], np.greater),
    "negation": (op.logical_not, [floats(40) > 0], np.logical_not),
    "choice": (op.where, [floats(40) > 0, floats(40), floats(40)], np.where),
    "truth as a number": (
        lambda x, y: op.astype(op.less_equal(x, y), "float32"),
        [floats(40), floats(40)],
        lambda x, y: (x <= y).astype("float32"),
    ),
    "choice by a comparison": (
        lambda x, y: op.where(op.logical_and(op.less(x, y), op.equal(y, y)), x, y),
        [floats(40), floats(40)],
        lambda x, y: np.where(x < y, x, y),
    ),
    "matmul": (op.matmul, [halves(40, 72), halves(72, 96)], lambda x, y: wide(x) @ wide(y)),
    "matmul in batches": (
        lambda x, y: op.matmul(x, y, out_dtype="float32"),
        [halves(3, 40, 72), halves(3, 72, 96)],
        lambda x, y: wide(x) @ wide(y),
    ),
    "vector by matrix": (
        lambda x, y: op.matmul(x, y, out_dtype="float32"),
        [halves(1, 72), halves(72, 96)],
        lambda x, y: wide(x) @ wide(y),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_operator(name):
    make, inputs, expected = CASES[name]
    builder = relax.BlockBuilder()
    params = [
        relax.Var(f"x{index}", relax.TensorType(array.shape, str(array.dtype)))
        for index, array in enumerate(inputs)
    ]
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(make(*params))
        builder.emit_func_output(result)
    machine = relax.VirtualMachine(relax.build(builder.get(), "ascend"), DEVICE)
    got = machine["main"](*(tvm.runtime.tensor(array, DEVICE) for array in inputs)).numpy()
    wanted = expected(*inputs)
    assert (got.dtype == bool) == (wanted.dtype == bool)
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)

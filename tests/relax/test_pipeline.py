# SPDX-License-Identifier: Apache-2.0
"""Which operators become one kernel, and that fusing them changes no bit."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax, tirx
from tvm.relax import op

from tvm_ascend.relax import pipeline
from tvm_ascend.runtime import module

DEVICE = tvm.device("ext_dev", 0)


def build(make, arrays):
    builder = relax.BlockBuilder()
    params = [
        relax.Var(f"x{index}", relax.TensorType(array.shape, str(array.dtype)))
        for index, array in enumerate(arrays)
    ]
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(builder.normalize(make(*params)))
        builder.emit_func_output(result)
    return builder.get()


def run(mod, arrays):
    """The result, and the kernels that ran."""
    machine = relax.VirtualMachine(relax.build(mod, "ascend"), DEVICE)
    with module.observed() as reports:
        result = machine["main"](*(tvm.runtime.tensor(array, DEVICE) for array in arrays))
    return result.numpy(), [report.kernel for report in reports]


def floats(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


def halves(*shape):
    return floats(*shape).astype("float16")


CASES = {
    "element-wise chain": (
        lambda x, b: op.nn.relu(op.add(x, b)),
        [floats(64, 100), floats(100)],
        ["fused_add_relu"],
    ),
    "closing reduction": (
        lambda x: op.sum(op.multiply(x, x), axis=1),
        [floats(64, 100)],
        ["fused_multiply_sum"],
    ),
    "Cube stays apart": (
        lambda x, w, b: op.nn.relu(op.add(op.matmul(x, w, out_dtype="float32"), b)),
        [halves(40, 72), halves(72, 96), floats(96)],
        ["matmul", "fused_add_relu"],
    ),
    "transpose stays apart": (
        lambda x, y: op.add(op.permute_dims(x, [1, 0]), y),
        [floats(20, 24), floats(24, 20)],
        ["transpose", "add"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_kernels_of_a_chain(name, monkeypatch):
    make, arrays, kernels = CASES[name]
    result, ran = run(build(make, arrays), arrays)
    assert ran == kernels
    monkeypatch.setattr(pipeline, "FuseOps", lambda: tvm.transform.Sequential([]))
    monkeypatch.setattr(pipeline, "FuseTIR", lambda: tvm.transform.Sequential([]))
    apart, ran = run(build(make, arrays), arrays)
    assert len(ran) >= len(kernels)
    assert result.tobytes() == apart.tobytes()


def test_only_element_wise_and_reductions_may_fuse():
    classes = range(9)
    func = tirx.PrimFunc([], tirx.Evaluate(0))
    given = {f"f{kind}": func.with_attr("op_pattern", kind) for kind in classes} | {"plain": func}
    after = pipeline.KeepCubeAndLayoutApart()(tvm.IRModule(given))
    found = [int(after[f"f{kind}"].attrs["op_pattern"]) for kind in classes]
    assert found == [0, 1, 8, 3, 8, 8, 8, 8, 8]
    assert after["plain"].same_as(func)

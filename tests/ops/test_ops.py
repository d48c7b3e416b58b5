# SPDX-License-Identifier: Apache-2.0
"""Every operator: numpy's answer, no hazard, every sync needed, the twin's bits and cycles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ops.cases import CASES, build, on_twin, values

from tvm_ascend import Options, SimOptions, compile, dev
from tvm_ascend.hw import CHIPS
from tvm_ascend.ops import OPS, Signature
from tvm_ascend.ops.op import numpy_dtype

TOLERANCE = {"float32": 2e-6, "float16": 2e-3, "bfloat16": 1.6e-2}
FAMILIES = ("add_row", "softmax_f32", "rms_norm", "swiglu", "matmul_bf16_nt", "quant_matmul")
"""One of each file; the others run with the slow tests."""

cases = pytest.mark.parametrize("name", CASES)
some = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in FAMILIES else pytest.mark.slow) for n in CASES]
)


def outputs(kernel, inputs):
    found = kernel(*inputs)
    return found if isinstance(found, tuple) else (found,)


@cases
def test_numpy_agrees_and_nothing_is_a_hazard(name):
    kernel, inputs, want = build(name)
    for found, expected in zip(outputs(kernel, inputs), want, strict=True):
        assert found.dtype == expected.dtype
        limit = TOLERANCE.get(str(expected.dtype), 0)
        wide, right = found.astype("float64"), expected.astype("float64")
        np.testing.assert_allclose(wide, right, rtol=limit, atol=limit)


@some
def test_every_sync_is_proven_to_be_needed(name):
    kernel, inputs, _ = build(name)
    proof = dev.prove_sync(kernel, *inputs)
    assert len(proof.verdicts) == len(dev.syncs(kernel)) > 0
    assert {v.verdict for v in proof.verdicts} == {"reported"}, proof.text()


@some
def test_the_twin_gives_the_same_bits_and_cycles(name):
    kernel, inputs, _ = build(name)
    ours, report = kernel.run(*inputs)
    theirs, other = on_twin(kernel).run(*inputs)
    assert [a.tobytes() for a in ours] == [b.tobytes() for b in theirs]
    assert report.cycles == other.cycles


@pytest.mark.parametrize("last", ["int32", "float32"])
def test_slots_of_the_workspace_are_used_in_turn(last):
    """On two AI Cores each has more tiles than slots, so flags go both ways."""
    m, n, k = 600, 500, 40
    signature = Signature(
        inputs=((m, k), (n, k), (n,), (n,) if last == "int32" else (m,)),
        dtypes=("int8", "int8", "float32", last),
        outputs=((m, n),),
        out_dtypes=("bfloat16",),
    )
    chip = replace(CHIPS["910b1"], aic_cores=2, aiv_cores=4)
    func = OPS["quant_matmul"].make(signature, chip)
    kernel = compile(func, out_idx=4, options=Options(cache=False))
    inputs = [values(s, d) for s, d in zip(signature.inputs, signature.dtypes, strict=True)]
    (want,) = OPS["quant_matmul"].reference(inputs, signature)
    shapes = [tuple(int(e) for e in p.shape) for p in func.params]
    args = [x.reshape(s) for x, s in zip(inputs, shapes, strict=False)]
    args.append(np.zeros(shapes[-1], "int32"))
    for dma in ("eager", "late"):
        (got,), _ = kernel.run(*args, sim=SimOptions(dma=dma))
        assert got.tobytes() == want.tobytes()
    flags = [i for i, sync in enumerate(dev.syncs(kernel)) if sync.kind == "cross-core"]
    assert len(flags) == 2
    assert all(dev.break_sync(kernel, i, *args).hazard is not None for i in flags)


def test_every_operator_has_a_case():
    assert {op for op, _ in CASES.values()} == set(OPS)


def test_more_rows_take_longer_and_all_cores_work():
    def run(rows):
        shapes = ((rows, 256),)
        signature = Signature(
            inputs=shapes, dtypes=("bfloat16",), outputs=shapes, out_dtypes=("bfloat16",)
        )
        func = OPS["softmax"].make(signature, CHIPS["910b1"])
        kernel = compile(func)
        return kernel.run(
            *(np.zeros((rows, 256), numpy_dtype("bfloat16")) for _ in range(2)),
            sim=SimOptions(numerics=False, hazards=False),
        )[1]

    few, many = run(480), run(960)
    assert many.cycles > few.cycles
    assert len(few.core_cycles) == CHIPS["910b1"].aiv_cores


@pytest.mark.parametrize(
    ("op", "shapes", "result"),
    [
        ("add", ((4, 5), (3, 5)), (4, 5)),
        ("softmax", ((2, 10**6),), (2, 10**6)),
        ("matmul", ((4, 5), (6, 7)), (4, 7)),
        ("quant_matmul", ((4, 5), (6, 5), (6,), (6,)), (4, 6)),
        ("swiglu", ((4, 6),), (4, 2)),
    ],
)
def test_what_has_no_kernel_is_none(op, shapes, result):
    signature = Signature(
        inputs=shapes,
        dtypes=("bfloat16",) * len(shapes),
        outputs=(result,),
        out_dtypes=("bfloat16",),
    )
    assert OPS[op].make(signature, CHIPS["910b1"]) is None

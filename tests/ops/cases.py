# SPDX-License-Identifier: Apache-2.0
"""Small odd signatures of every operator of the library, and inputs for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import tvm_ascend
from tvm_ascend import Kernel, Options
from tvm_ascend.hw import CHIPS
from tvm_ascend.ops import OPS, Signature
from tvm_ascend.ops.op import numpy_dtype

B, F, H = "bfloat16", "float32", "float16"


def case(op: str, inputs: list, dtypes: list, outputs: list, out_dtypes: list | None = None):
    """One operator with a signature; output dtypes are that of the first input unless given."""
    return op, Signature(
        inputs=tuple(inputs),
        dtypes=tuple(dtypes),
        outputs=tuple(outputs),
        out_dtypes=tuple(out_dtypes or dtypes[:1] * len(outputs)),
    )


CASES = {
    "add_bf16": case("add", [(33, 377)] * 2, [B, B], [(33, 377)]),
    "add_row": case("add", [(131, 70), (70,)], [B, B], [(131, 70)]),
    "add_i64": case("add", [(13,)] * 2, ["int64"] * 2, [(13,)]),
    "sub_f32": case("sub", [(130, 70)] * 2, [F, F], [(130, 70)]),
    "mul_column": case("mul", [(131, 70), (131, 1)], [H, H], [(131, 70)]),
    "mul_middle": case("mul", [(13, 5, 60), (13, 1, 60)], [B, B], [(13, 5, 60)]),
    "muls": case("muls", [(1031,)], [F], [(1031,)]),
    "adds_i32": case("adds", [(1031,)], ["int32"], [(1031,)]),
    "subs": case("subs", [(77,)], [H], [(77,)]),
    "abs_i32": case("abs", [(1031,)], ["int32"], [(1031,)]),
    "abs_f32": case("abs", [(7, 11)], [F], [(7, 11)]),
    "sigmoid": case("sigmoid", [(1031,)], [B], [(1031,)]),
    "cast_bf16_f32": case("cast", [(131, 100)], [B], [(131, 100)], [F]),
    "cast_f32_bf16": case("cast", [(5000,)], [F], [(5000,)], [B]),
    "cast_i32_i64": case("cast", [(1, 131)], ["int32"], [(1, 131)], ["int64"]),
    "cast_i64_i32": case("cast", [(1031,)], ["int64"], [(1031,)], ["int32"]),
    "cast_u8_f32": case("cast", [(1033,)], ["uint8"], [(1033,)], [F]),
    "softmax_f32": case("softmax", [(1, 67, 61)], [F], [(1, 67, 61)]),
    "softmax_bf16": case("softmax", [(101, 301)], [B], [(101, 301)]),
    "rms_norm": case("rms_norm", [(97, 301), (301,)], [B, B], [(97, 301), (97, 1)], [B, F]),
    "add_rms_norm": case(
        "add_rms_norm",
        [(53, 130), (53, 130), (130,)],
        [B] * 3,
        [(53, 130), (53, 1), (53, 130)],
        [B, F, B],
    ),
    "layer_norm": case(
        "layer_norm", [(51, 1, 77), (77,), (77,)], [F] * 3, [(51, 1, 77), (51, 1, 1), (51, 1, 1)]
    ),
    "swiglu": case("swiglu", [(45, 602)], [B], [(45, 301)]),
    "matmul_bf16_nt": case("matmul", [(33, 80), (47, 80)], [B, B], [(33, 47)]),
    "matmul_f16": case("matmul", [(50, 96), (96, 47)], [H, H], [(50, 47)], [F]),
    "matmul_batch": case("matmul", [(3, 33, 48), (3, 48, 31)], [H, H], [(3, 33, 31)]),
    "matmul_i8_row": case("matmul", [(1, 100), (30, 100)], ["int8"] * 2, [(1, 30)], ["int32"]),
    "quant_matmul": case(
        "quant_matmul",
        [(70, 100), (130, 100), (130,), (130,)],
        ["int8", "int8", F, "int32"],
        [(70, 130)],
        [B],
    ),
    "quant_matmul_rows": case(
        "quant_matmul",
        [(37, 65), (90, 65), (90,), (37,)],
        ["int8", "int8", B, F],
        [(37, 90)],
        [H],
    ),
    "quant_matmul_row": case(
        "quant_matmul",
        [(1, 70), (33, 70), (33,), (33,)],
        ["int8", "int8", F, "int32"],
        [(1, 33)],
        [B],
    ),
    "matmul_i8": case("matmul", [(48, 96), (64, 96)], ["int8"] * 2, [(48, 64)], ["int32"]),
}


def build(name: str) -> tuple[Kernel, list[np.ndarray], list[np.ndarray]]:
    """The kernel of a case, its inputs, and the outputs that numpy expects."""
    op, signature = CASES[name]
    func = OPS[op].make(signature, CHIPS["910b1"])
    assert func is not None
    kernel = tvm_ascend.compile(
        func, out_idx=OPS[op].out_idx(signature), options=Options(cache=False)
    )
    inputs = [values(s, d) for s, d in zip(signature.inputs, signature.dtypes, strict=True)]
    want = OPS[op].reference(inputs, signature)
    shapes = [tuple(int(n) for n in p.shape) for p in func.params]
    args = [x.reshape(s) for x, s in zip(inputs, shapes, strict=False)]
    first = len(shapes) - OPS[op].workspaces
    outs = [w.reshape(s) for w, s in zip(want, shapes[len(inputs) : first], strict=True)]
    work = [
        np.zeros([int(n) for n in p.shape], numpy_dtype(str(p.dtype)))
        for p in list(func.params)[first:]
    ]
    return kernel, [*args, *work], outs


def values(shape: tuple, dtype: str) -> np.ndarray:
    """Small numbers, whole ones for integers."""
    rng = np.random.default_rng(len(shape) + sum(shape))
    if "int" in dtype:
        return rng.integers(0 if dtype == "uint8" else -4, 5, shape).astype(dtype)
    return np.round(rng.normal(0, 1.5, shape) * 8).clip(-32, 32).astype(numpy_dtype(dtype)) / 8


def on_twin(kernel: Kernel) -> Kernel:
    """The same kernel run from its Ascend C."""
    return Kernel(kernel.artifact, kernel.out_idx, replace(kernel.options, executor="twin"))

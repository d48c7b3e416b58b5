# SPDX-License-Identifier: Apache-2.0
"""The operator library: kernels that stay, one file per family."""

from __future__ import annotations

from tvm_ascend.ops.elementwise import ABS, ADD, ADDS, CAST, MUL, MULS, SIGMOID, SUB, SUBS
from tvm_ascend.ops.matmul import MATMUL
from tvm_ascend.ops.norm import ADD_RMS_NORM, LAYER_NORM, RMS_NORM
from tvm_ascend.ops.op import Op, Signature
from tvm_ascend.ops.quant_matmul import QUANT_MATMUL
from tvm_ascend.ops.softmax import SOFTMAX
from tvm_ascend.ops.swiglu import SWIGLU

OPS: dict[str, Op] = {
    op.name: op
    for op in (
        ABS,
        ADD,
        ADDS,
        ADD_RMS_NORM,
        CAST,
        LAYER_NORM,
        MATMUL,
        MUL,
        MULS,
        QUANT_MATMUL,
        RMS_NORM,
        SIGMOID,
        SOFTMAX,
        SUB,
        SUBS,
        SWIGLU,
    )
}

__all__ = ["OPS", "Op", "Signature"]

# SPDX-License-Identifier: Apache-2.0
"""What an Ascend target does to a Relax module before TVM's own build pipeline."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax, tirx
from tvm.relax.transform import (
    AnnotateTIROpPattern,
    DeadCodeElimination,
    FoldConstant,
    FuseOps,
    FuseTIR,
    LegalizeOps,
)

ELEMENT_WISE, BROADCAST, REDUCTION, OPAQUE = 0, 1, 3, 8
"""TVM's classes of functions (``relay::OpPatternKind``) that matter here."""


def prepare() -> tvm.ir.transform.Pass:
    """Legalize operators into TIR functions, and fuse those that make one Vector kernel."""
    return tvm.transform.Sequential(
        [
            relax.backend.DispatchSampling(),
            relax.backend.DispatchSortScan(),
            LegalizeOps(),
            AnnotateTIROpPattern(),
            KeepCubeAndLayoutApart(),
            FoldConstant(),
            FuseOps(),
            FuseTIR(),
            DeadCodeElimination(),
        ],
        name="ascend.PrepareRelax",
    )


@tvm.transform.module_pass(opt_level=0, name="ascend.KeepCubeAndLayoutApart")
class KeepCubeAndLayoutApart:
    """Let only element-wise functions and reductions fuse.

    A kernel runs on Cube cores or on Vector cores, so a matmul and what follows it are two kernels;
    and a transpose fused into arithmetic would make every lane its own transfer.

    Before::

        def transpose(...): T.func_attr({"op_pattern": 2})

    After::

        def transpose(...): T.func_attr({"op_pattern": 8})

    Runs between AnnotateTIROpPattern, which classifies, and FuseOps, which reads the class.
    """

    def transform_module(self, mod: tvm.IRModule, _ctx: Any) -> tvm.IRModule:
        """Mark every other class of function as one that never fuses."""
        marked = {var: _marked(func) for var, func in mod.functions.items()}
        return tvm.IRModule(marked, attrs=mod.attrs)


def _marked(func: Any) -> Any:
    if not isinstance(func, tirx.PrimFunc) or "op_pattern" not in (func.attrs or {}):
        return func
    fusible = int(func.attrs["op_pattern"]) in (ELEMENT_WISE, BROADCAST, REDUCTION)
    return func if fusible else func.with_attr("op_pattern", OPAQUE)

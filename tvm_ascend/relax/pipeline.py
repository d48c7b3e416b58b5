# SPDX-License-Identifier: Apache-2.0
"""What an Ascend target does to a Relax module before TVM's own build pipeline."""

from __future__ import annotations

import tvm
from tvm import relax


def prepare() -> tvm.ir.transform.Pass:
    """Legalize operators into TIR functions, one kernel each.

    Nothing is fused: a kernel runs on Cube cores or on Vector cores, so a matmul and what follows
    it are two kernels.
    """
    return tvm.transform.Sequential(
        [
            relax.backend.DispatchSampling(),
            relax.backend.DispatchSortScan(),
            relax.transform.LegalizeOps(),
            relax.transform.FoldConstant(),
            relax.transform.DeadCodeElimination(),
        ],
        name="ascend.PrepareRelax",
    )

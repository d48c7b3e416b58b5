# SPDX-License-Identifier: Apache-2.0
"""Step 6, Developer mode: choices overridden one at a time, a stage diff, a race on purpose."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tvm_ascend import dev
from tvm_ascend.build import Kernel
from tvm_ascend.demo.basics import MATMULS, layer_norm_input, matmul_inputs
from tvm_ascend.demo.check import Check
from tvm_ascend.demo.kernels import make_matmul
from tvm_ascend.errors import RaceError, hazard_error

OVERRIDES = (("tile_m", 64), ("tile_n", 64), ("num_stages", 1))


def override_matmul() -> list[Check]:
    """Take tile sizes and pipeline depth over from outside, one at a time; results stay exact."""
    a, b = matmul_inputs(*MATMULS[0])
    bench = dev.Workbench(make_matmul(*MATMULS[0]), (a, b), out_idx=2)
    exact = a.astype("int64") @ b.astype("int64")
    checks = []
    for name, value in OVERRIDES:
        change = bench.set(name, value)
        right = change.same and bool(np.array_equal(bench.outputs[0], exact))
        checks.append(Check(f"override {name}", right, str(change)))
    return checks


def stage_diff(kernel: Kernel, out: Path) -> Check:
    """Show what one step of the compiler changed."""
    text = dev.diff(kernel, "planned", "synced")
    (out / f"{kernel.artifact.name}.planned-synced.diff").write_text(text + "\n")
    lines = text.splitlines()
    added = [line for line in lines if line.startswith("+") and "flag" in line]
    print("\n".join(lines[:24]))
    return Check("diff planned -> synced", bool(added), f"{len(added)} flag statements inserted")


def broken_layer_norm(kernel: Kernel, out: Path) -> Check:
    """Remove the wait that orders the row's load before its first use, and show the report."""
    hazard = dev.break_statement(kernel, "MTE2_V", layer_norm_input())
    if hazard is None:
        return Check("removed wait is reported", False, "no hazard")
    error = hazard_error(kernel.artifact.name, hazard)
    (out / "broken_layer_norm.txt").write_text(f"{error}\n")
    print(error)
    named = hazard.first is not None and hazard.second is not None
    good = isinstance(error, RaceError) and named and "MTE2_V" in hazard.fix
    return Check("removed wait is reported", good, f"{hazard.kind}, fix {hazard.fix}")

# SPDX-License-Identifier: Apache-2.0
"""Step 3: search the matmul's schedule on the simulator and use what was found."""

from __future__ import annotations

from pathlib import Path

from tvm import tirx

from tvm_ascend.build import compile
from tvm_ascend.demo.basics import MATMULS, matmul_inputs
from tvm_ascend.demo.check import Check
from tvm_ascend.options import Options
from tvm_ascend.tune import best, tune


def run_tuning(func: tirx.PrimFunc, out: Path, trials: int) -> list[Check]:
    """Tune, print why the best wins, then compile from the database and compare bit by bit."""
    result = tune(func, trials=trials, work_dir=out / "tuning")
    print(result.text())
    (out / "tuning.txt").write_text(result.text() + "\n")
    kernel = compile(func, out_idx=2, options=Options(overrides=best(out / "tuning", func)))
    a, b = matmul_inputs(*MATMULS[0])
    (output,), report = kernel.run(a, b)
    wrong = int((output != a.astype("int64") @ b.astype("int64")).sum())
    found = f"{result.default_cycles:,} -> {report.cycles:,} cycles, {result.speedup:.2f}x"
    return [
        Check("tuning, no slower than the default", result.speedup >= 1, found),
        Check("tuned matmul from the database bit-exact", wrong == 0, f"{wrong} elements differ"),
        Check(
            "tuned matmul takes the cycles the search saw",
            report.cycles == result.cycles,
            f"{report.cycles:,} and {result.cycles:,}",
        ),
    ]

# SPDX-License-Identifier: Apache-2.0
"""Steps 1, 2 and 5: run the kernels on the simulator, compare with numpy, and run their twins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tvm_ascend.build import Kernel, compile
from tvm_ascend.demo.check import Check
from tvm_ascend.demo.kernels import make_layer_norm, make_matmul
from tvm_ascend.runtime.report import Report

M, N = 128, 1024
MATMULS = ((512, 512, 512), (126, 80, 159))


def layer_norm_input() -> np.ndarray:
    """Random rows with an offset, so that a wrong mean shows."""
    return np.random.default_rng(0).normal(0.5, 2.0, (M, N)).astype("float16")


def matmul_inputs(m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Small integers: every product and sum is exact in float32."""
    rng = np.random.default_rng(1)
    a = rng.integers(-4, 5, (m, k)).astype("float16")
    return a, rng.integers(-4, 5, (k, n)).astype("float16")


def run_layer_norm(out: Path) -> tuple[Kernel, list[Check]]:
    """Compile the listing, compare with float64 numpy, write source, trace and profile."""
    kernel = compile(make_layer_norm(M, N), out_idx=[1, 2, 3])
    a = layer_norm_input()
    (b, mean, var), report = _run(kernel, a)
    wide = a.astype("float64")
    ref_mean, ref_var = wide.mean(1), wide.var(1)
    ref = (wide - ref_mean[:, None]) / np.sqrt(ref_var[:, None] + 1e-5)
    worst = float(np.abs(b - ref).max())
    relative = max(
        float(np.abs(mean / ref_mean - 1).max()),
        float(np.abs(var / ref_var - 1).max()),
    )
    _write(kernel, out, report)
    return kernel, [
        Check("layer norm 128x1024 output", worst <= 2e-3, f"max error {worst:.2e} (<= 2e-3)"),
        Check("layer norm mean, var", relative <= 1e-5, f"max relative {relative:.1e} (<= 1e-5)"),
    ]


def run_matmuls(out: Path) -> tuple[list[Kernel], list[Check]]:
    """Compile the plain matmul at both sizes and compare bit by bit."""
    kernels, checks = [], []
    for m, k, n in MATMULS:
        func = make_matmul(m, k, n).with_attr("global_symbol", f"matmul_{m}x{k}x{n}")
        kernel = compile(func, out_idx=2)
        a, b = matmul_inputs(m, k, n)
        exact = a.astype("int64") @ b.astype("int64")
        (c,), report = _run(kernel, a, b)
        wrong = int((c != exact).sum())
        name = f"matmul {m}x{k}x{n} bit-exact"
        checks.append(Check(name, wrong == 0, f"{wrong} of {m * n} differ"))
        kernels.append(kernel)
        _write(kernel, out, report)
    return kernels, checks


def run_twin(kernel: Kernel, *inputs: np.ndarray) -> Check:
    """Compile the emitted Ascend C with g++ and compare bits and cycles with the LLVM path."""
    twin = Kernel(kernel.artifact, kernel.out_idx, replace(kernel.options, executor="twin"))
    ours, our_report = kernel.run(*inputs)
    theirs, twin_report = twin.run(*inputs)
    bits = all(a.tobytes() == b.tobytes() for a, b in zip(ours, theirs, strict=True))
    cycles = our_report.cycles == twin_report.cycles
    said = "equal" if bits else "DIFFER"
    detail = f"bits {said}, cycles {our_report.cycles} and {twin_report.cycles}"
    return Check(f"twin of {kernel.artifact.name}", bits and cycles, detail)


def _run(kernel: Kernel, *inputs: np.ndarray) -> tuple[list[np.ndarray], Report]:
    return kernel.run(*inputs, sim=replace(kernel.options.sim, trace=True))


def _write(kernel: Kernel, out: Path, report: Report) -> None:
    name = kernel.artifact.name
    (out / f"{name}.cce").write_text(kernel.source)
    (out / f"{name}.profile.txt").write_text(report.text() + "\n")
    report.trace(out / f"{name}.trace.json")
    print(report.text())

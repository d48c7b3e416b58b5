# SPDX-License-Identifier: Apache-2.0
"""The demonstration: every layer on real kernels, each claim computed and checked."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tvm_ascend.demo import basics, developer, model, tuning
from tvm_ascend.demo.check import Check, table
from tvm_ascend.demo.kernels import make_matmul


def run(out: Path, *, trials: int = 64, as_json: bool = False) -> int:
    """Run every step, write the artifacts to ``out``, print the table.

    Returns
    -------
    0 when every check passed, else 1.
    """
    out.mkdir(parents=True, exist_ok=True)
    checks: list[Check] = []

    def step(title: str, body: Callable[[], Iterable[Check]]) -> None:
        print(f"\n== {title}", flush=True)
        start = time.perf_counter()
        checks.extend(body())
        print(f"   ({time.perf_counter() - start:.1f} s)", flush=True)

    kernels: dict[str, Any] = {}

    def layer_norm() -> list[Check]:
        kernels["layer_norm"], found = basics.run_layer_norm(out)
        return found

    def matmuls() -> list[Check]:
        kernels["matmuls"], found = basics.run_matmuls(out)
        return found

    def twins() -> list[Check]:
        found = [basics.run_twin(kernels["layer_norm"], basics.layer_norm_input())]
        for kernel, size in zip(kernels["matmuls"], basics.MATMULS, strict=True):
            found.append(basics.run_twin(kernel, *basics.matmul_inputs(*size)))
        return found

    def workbench() -> list[Check]:
        found = developer.override_matmul()
        found.append(developer.stage_diff(kernels["layer_norm"], out))
        found.append(developer.broken_layer_norm(kernels["layer_norm"], out))
        return found

    step("1 layer norm, the tile-language listing, on the simulator", layer_norm)
    step("2 plain TVMScript matmul, default schedule", matmuls)
    step(
        f"3 MetaSchedule + XGBoost, {trials} trials on the simulator",
        lambda: tuning.run_tuning(make_matmul(*basics.MATMULS[0]), out, trials),
    )
    step("5 twin: the emitted Ascend C compiled by g++", twins)
    step("6 Developer mode", workbench)
    step("7 Relax model, saved and loaded again", lambda: model.run_model(out))
    print(f"\nwritten to {out}:", ", ".join(sorted(p.name for p in out.iterdir())))
    print(f"\n{table(checks)}")
    if as_json:
        print(json.dumps([asdict(c) for c in checks]))
    return int(any(not c.passed for c in checks))

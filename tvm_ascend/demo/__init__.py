# SPDX-License-Identifier: Apache-2.0
"""The demonstration: every layer on real kernels, each claim computed and checked."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tvm_ascend.demo import basics, developer, model, tuning
from tvm_ascend.demo.check import Check, table
from tvm_ascend.demo.kernels import make_matmul

Step = tuple[str, Callable[[], Iterable[Check]]]


def steps(out: Path, trials: int) -> list[Step]:
    """Title and body of every step, in order; later steps use kernels of earlier ones."""
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

    return [
        ("layer norm, the tile-language listing, on the simulator", layer_norm),
        ("plain TVMScript matmul, default schedule", matmuls),
        (
            f"MetaSchedule + XGBoost, {trials} trials on the simulator",
            lambda: tuning.run_tuning(make_matmul(*basics.MATMULS[0]), out, trials),
        ),
        ("twin: the emitted Ascend C compiled by g++", twins),
        ("Developer mode", workbench),
        ("Relax model, saved and loaded again", lambda: model.run_model(out)),
    ]


def run(out: Path, *, trials: int = 64, as_json: bool = False) -> int:
    """Run every step, write the artifacts to ``out``, print the table.

    Parameters
    ----------
    as_json : standard output holds only the checks, as JSON; the rest goes to standard error.

    Returns
    -------
    0 when every check passed, else 1.
    """
    out.mkdir(parents=True, exist_ok=True)
    with contextlib.redirect_stdout(sys.stderr if as_json else sys.stdout):
        checks = run_steps(steps(out, trials))
        print(f"\nwritten to {out}:", ", ".join(sorted(p.name for p in out.iterdir())))
        print(f"\n{table(checks)}")
    if as_json:
        print(json.dumps([asdict(c) for c in checks], indent=1))
    return int(any(not c.passed for c in checks))


def run_steps(todo: Iterable[Step]) -> list[Check]:
    """Run steps in order and collect what they checked."""
    checks: list[Check] = []
    for number, (title, body) in enumerate(todo, 1):
        print(f"\n== {number} {title}", flush=True)
        start = time.perf_counter()
        try:
            checks.extend(body())
        except Exception as error:  # one failed step must not hide what the others show
            checks.append(Check(title, False, f"{type(error).__name__}: {error}".splitlines()[0]))
        print(f"   ({time.perf_counter() - start:.1f} s)", flush=True)
    return checks

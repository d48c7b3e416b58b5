# SPDX-License-Identifier: Apache-2.0
"""Times of the compiler and of the simulator beside their goals: ``make bench``."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import tvm
from tvm import relax

import tvm_ascend
from tvm_ascend import Options, SimOptions
from tvm_ascend.demo.kernels import make_layer_norm, make_matmul
from tvm_ascend.demo.model import make_model

TIMING_ONLY = SimOptions(numerics=False, hazards=False)
NO_CACHE = Options(cache=False)


@dataclass(frozen=True)
class Result:
    """One time and the most it should be."""

    name: str
    seconds: float
    goal_seconds: float

    def __str__(self) -> str:
        verdict = "" if self.seconds <= self.goal_seconds else "   over"
        return f"{self.name:<52}{self.seconds:>9.3f} s   goal {self.goal_seconds:.2f} s{verdict}"


def seconds_of(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def import_beyond_tvm() -> float:
    """What `import tvm_ascend` adds when tvm is there and has not run our entry point."""
    code = (
        "import time, tvm; start = time.perf_counter(); import tvm_ascend;"
        "print(time.perf_counter() - start)"
    )
    environment = os.environ | {"TVM_DEVICE_BACKEND_AUTOLOAD": "0"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


TUNE = """
from tvm_ascend.demo.kernels import make_matmul
from tvm_ascend.tune import tune
print(tune(make_matmul(512, 512, 512), trials=64, work_dir={work_dir!r}, progress=False).text())
"""


def in_a_new_process(*arguments: str) -> float:
    """Wall time of a Python process, imports included; its output goes to the error stream."""
    command = [sys.executable, *arguments]
    return seconds_of(lambda: subprocess.run(command, stdout=sys.stderr, check=True))


def measure() -> list[Result]:
    """Every benchmark once, cheapest first."""
    results = []

    def record(name: str, goal_seconds: float, seconds: float) -> None:
        results.append(Result(name, seconds, goal_seconds))
        print(results[-1], flush=True)

    record("import tvm_ascend beyond import tvm", 0.5, import_beyond_tvm())
    layer_norm = make_layer_norm(128, 1024)
    tvm_ascend.compile(make_layer_norm(16, 64, 64), options=NO_CACHE)
    cold = seconds_of(lambda: tvm_ascend.compile(layer_norm, options=NO_CACHE))
    record("compile layer norm 128x1024, cold", 1.5, cold)
    tvm_ascend.compile(layer_norm)
    record(
        "compile layer norm 128x1024, cached",
        0.05,
        seconds_of(lambda: tvm_ascend.compile(layer_norm)),
    )

    zeros = {n: np.ones((n, n), "float16") for n in (512, 4096)}
    small = tvm_ascend.compile(make_matmul(512, 512, 512), out_idx=[2], options=NO_CACHE)
    small(zeros[512], zeros[512])  # the first launch makes machine code
    record(
        "simulate 512^3 matmul, numerics and hazards",
        3.0,
        seconds_of(lambda: small(zeros[512], zeros[512])),
    )
    large = tvm_ascend.compile(make_matmul(4096, 4096, 4096), out_idx=[2], options=NO_CACHE)
    large.run(zeros[4096], zeros[4096], sim=TIMING_ONLY)
    timing = seconds_of(lambda: large.run(zeros[4096], zeros[4096], sim=TIMING_ONLY))
    record("simulate 4096^3 matmul, timing only", 1.0, timing)
    record(
        "relax.build linear + layer norm",
        5.0,
        seconds_of(lambda: relax.build(make_model(), "ascend")),
    )
    with tempfile.TemporaryDirectory() as work_dir:
        tuning = in_a_new_process("-c", TUNE.format(work_dir=work_dir))
        record("tune 512^3 matmul, 64 trials, imports included", 60.0, tuning)
        demo = in_a_new_process("-m", "tvm_ascend", "demo", "--out", work_dir)
        record("demonstration", 240.0, demo)
    return results


def main() -> None:
    """Print one line per benchmark; ``--json FILE`` keeps them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    chosen = parser.parse_args()
    print(f"tvm_ascend {tvm_ascend.__version__}, tvm {tvm.__version__}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TVM_ASCEND_CACHE_DIR"] = cache
        results = measure()
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(result) for result in results], indent=2) + "\n")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""How fast the simulator is and how much memory it takes, beside its goals: ``make bench``."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import psutil

import tvm_ascend
from tvm_ascend import Kernel, Options, SimOptions
from tvm_ascend import language as T
from tvm_ascend.demo.kernels import make_matmul

NO_CACHE = Options(cache=False)
MODES = {
    "timing only": SimOptions(numerics=False, hazards=False),
    "hazards": SimOptions(numerics=False),
}


@dataclass(frozen=True)
class Result:
    """One figure and its goal; ``at_least`` says on which side of it the figure should be."""

    name: str
    value: float
    unit: str
    goal: float
    at_least: bool

    def __str__(self) -> str:
        met = self.value >= self.goal if self.at_least else self.value <= self.goal
        goal = f"goal {'>=' if self.at_least else '<='} {self.goal:g}" + (
            "" if met else "   missed"
        )
        return f"{self.name:<52}{self.value:>9.2f} {self.unit:<4} {goal}"


def make_chain(trips: int, count: int = 128):
    """``3 * trips`` Vector instructions on one core, each waiting for the one before."""

    @T.prim_func
    def chain(A: T.Tensor((count,), "float16"), B: T.Tensor((count,), "float16")):
        with T.Kernel(1):
            a = T.alloc_ub((count,), "float16")
            b = T.alloc_ub((count,), "float16")
            T.copy(A[0:count], a)
            for _ in T.serial(trips):
                T.ascend.add(b[0], a[0], a[0], count)
                T.ascend.mul(b[0], b[0], a[0], count)
                T.ascend.sub(a[0], b[0], a[0], count)
            T.copy(a, B[0:count])

    return chain


def instruction_rates() -> list[Result]:
    """Millions of instructions a second of one simulated core."""
    kernel = tvm_ascend.compile(make_chain(1 << 20), out_idx=1, options=NO_CACHE)
    data = np.ones(128, "float16")
    goals = {"timing only": 5.0, "hazards": 1.0}
    results = []
    for name, sim in MODES.items():
        start = time.process_time()
        _, report = kernel.run(data, sim=sim)
        rate = sum(report.instructions.values()) / (time.process_time() - start) / 1e6
        results.append(Result(f"instructions, {name}", rate, "M/s", goals[name], True))
    return results


def compiled_matmul(n: int) -> tuple[Kernel, np.ndarray, np.ndarray]:
    """A square matmul and two operands of small integers."""
    kernel = tvm_ascend.compile(make_matmul(n, n, n), out_idx=2, options=NO_CACHE)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (n, n), "int8").astype("float16") for _ in range(2))
    return kernel, a, b


def numerics_beside_numpy(n: int = 1024) -> Result:
    """Time of a matmul's numerics over numpy's float32 product, the best of three runs each."""
    kernel, a, b = compiled_matmul(n)
    wide = a.astype("float32"), b.astype("float32")

    def best(work) -> float:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        return min(times)

    simulated = best(lambda: kernel.run(a, b, sim=SimOptions(hazards=False)))
    timing = best(lambda: kernel.run(a, b, sim=MODES["timing only"]))
    ratio = (simulated - timing) / best(lambda: wide[0] @ wide[1])
    return Result(f"numerics of {n}^3 fp16 over numpy float32", ratio, "x", 5.0, False)


def memory_of_matmul(n: int) -> float:
    """MB that one launch takes beyond the tensors, with numerics and hazards; for a new process."""
    kernel, a, b = compiled_matmul(n)
    small, *operands = compiled_matmul(128)
    small.run(*operands)
    before = psutil.Process().memory_info().rss
    (c,), _ = kernel.run(a, b)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return (peak - before - c.nbytes) / 2**20


def memory(n: int = 4096) -> Result:
    """The memory of a large matmul."""
    command = [sys.executable, __file__, "--memory-of", str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Result(f"memory of {n}^3 beyond the tensors", float(done.stdout), "MB", 1000.0, False)


def main() -> None:
    """Print one line per figure; ``--json FILE`` keeps them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    parser.add_argument("--memory-of", type=int, help="print the MB of one matmul of this size")
    chosen = parser.parse_args()
    if chosen.memory_of:
        print(memory_of_matmul(chosen.memory_of))
        return
    results = [*instruction_rates(), numerics_beside_numpy(), memory()]
    print(*results, sep="\n")
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(result) for result in results], indent=2) + "\n")


if __name__ == "__main__":
    main()

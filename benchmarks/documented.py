# SPDX-License-Identifier: Apache-2.0
"""Kernels of public examples, written the same way here, beside the times their authors measured.

``python benchmarks/documented.py [--group NAME] [--json]``. Times and pipe shares were measured on
910B1-class chips (5.5 of the project's fact sheet). Only timing is simulated. Besides the error of
each time, the table shows the largest difference of a pipe's busy share, and whether the variants
of a group come out in the measured order. Variants that use what the simulator does not model are
listed as not modelled, and are in no figure.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations

import numpy as np
import tvm
import tvm_ffi
from kernels.add import buffered_add, overlapped_add, scalar_add
from kernels.copies import load_tiles
from kernels.gemm import gemm
from kernels.repeated_add import repeated_add
from tvm import tirx

from tvm_ascend import SimOptions
from tvm_ascend.codegen.program import build_program
from tvm_ascend.hw import CHIPS
from tvm_ascend.ops.op import numpy_dtype
from tvm_ascend.runtime.report import Report
from tvm_ascend.runtime.simulator import SimulatorExecutor

TIMING_ONLY = SimOptions(numerics=False, hazards=False)
CHIP = CHIPS["910b1"]
ELEMENTS = 8192 * 8192
SAME_TIME = 0.03
"""Variants whose measured times differ by less than this share have no order."""


@dataclass(frozen=True)
class Case:
    """One published kernel.

    ``make`` gives the kernel, ``part`` the share of the published work that it does; ``shares``
    are the published busy shares of pipes, ``core_time`` says that ``measured_us`` is without
    launch. Without ``make``, ``lacks`` says what of the case is not modelled.
    """

    group: str
    name: str
    make: Callable[[], tirx.PrimFunc] | None
    measured_us: float
    shares: Mapping[str, float] = field(default_factory=dict)
    part: float = 1
    core_time: bool = False
    lacks: str = ""


def _add(name: str, us: float, shares: Sequence[float], make, **more):
    pipes = dict(zip(("V", "MTE2", "MTE3"), shares, strict=True))
    return Case("fp16 add 8192^2", name, make, us, pipes, **more)


PLAIN = ((0, 0x18000), (0x8000, 0x20000), (0x10000, 0x28000))
BYPASS = "L2 cache hint: reads past L2"
ADDS = (
    _add(
        "1 core, scalar",
        1239689,
        (0, 0.005, 0.002),
        lambda: scalar_add(ELEMENTS // 512),
        part=1 / 512,
    ),
    _add("1 core", 6909.6, (0.11, 0.873, 0.378), lambda: overlapped_add(ELEMENTS)),
    _add("48 cores", 306.6, (0.053, 0.725, 0.183), lambda: buffered_add(ELEMENTS, 48, 4096)),
    _add("32 KB", 268.5, (0.049, 0.705, 0.219), lambda: buffered_add(ELEMENTS, 48, 16384)),
    _add(
        "double buffer",
        264.0,
        (0.05, 0.973, 0.33),
        lambda: buffered_add(ELEMENTS, 48, 16384, PLAIN),
    ),
    _add("past L2", 187.7, (0.069, 0.951, 0.866), None, lacks=BYPASS),
    _add("no conflicts", 184.5, (0.039, 0.961, 0.68), None, lacks=BYPASS),
)


def _load(group: str, name: str, us: float, share: float | None, make, **more):
    return Case(group, name, make, us, {} if share is None else {"MTE2": share}, **more)


SQUARE, ODD = (12288, 12288), (12288, 12287)
UB, L1 = "GM to UB", "GM to L1"
LOADS = (
    _load(UB, "128 B", 564.8, 0.989, lambda: load_tiles("ub", SQUARE, (1, 64), 48, 1, 1)),
    _load(UB, "8 KB", 233.5, 0.972, lambda: load_tiles("ub", SQUARE, (64, 64), 48, 1, 1)),
    _load(UB, "128 KB", 215.8, 0.969, lambda: load_tiles("ub", SQUARE, (64, 1024), 48, 1, 1)),
    _load(UB, "unaligned", 275.3, 0.973, lambda: load_tiles("ub", ODD, (64, 1024), 48, 1, 1)),
    _load(UB, "4 times", 828.1, None, lambda: load_tiles("ub", SQUARE, (64, 1024), 48, 4, 1)),
    _load(UB, "4 quarters", 365.7, None, lambda: load_tiles("ub", SQUARE, (64, 1024), 48, 4, 4)),
    _load(UB, "same rows", 539.4, 0.984, None, lacks=BYPASS),
    _load(UB, "own rows", 328.9, 0.973, None, lacks=BYPASS),
    _load(L1, "64x64", 300.7, 0.978, lambda: load_tiles("l1", SQUARE, (64, 64), 24, 1, 1)),
    _load(L1, "64x256", 230.2, 0.972, lambda: load_tiles("l1", SQUARE, (64, 256), 24, 1, 1)),
    _load(L1, "unaligned", 438.8, 0.986, lambda: load_tiles("l1", ODD, (64, 256), 24, 1, 1)),
    _load(L1, "4 times", 899.3, None, lambda: load_tiles("l1", SQUARE, (64, 1024), 24, 4, 1)),
    _load(L1, "4 quarters", 415.0, None, lambda: load_tiles("l1", SQUARE, (64, 1024), 24, 4, 4)),
    _load(L1, "same rows", 278.6, 0.980, None, lacks=BYPASS),
    _load(L1, "own rows", 221.3, 0.977, None, lacks=BYPASS),
)


def _banks(name: str, us: float, *operands):
    return Case(
        "1000 Adds of 4096 floats",
        name,
        lambda: repeated_add(*operands),
        us,
        core_time=True,
    )


BANKS = (
    _banks("no conflict", 47.8, 0x20000, 0, 0x10100),
    _banks("sources in a bank", 83.3, 0x10000, 0, 0x4000),
    _banks("sources in a group", 83.3, 0x14100, 0, 0x10000),
    _banks("dst follows src0", 47.8, 0x4000, 0, 0x10100),
    _banks("dst crosses src0", 75.0, 0x4020, 0, 0x10100),
    _banks("one block, next", 71.7, 0x10100, 0, 0x10100, (0, 1)),
    _banks("one block, 8 on", 47.8, 0x10100, 0, 0x10100, (0, 8)),
)


def _gemm(group: str, name: str, us: float, shares: Sequence[float], *args, **more):
    pipes = dict(zip(("M", "MTE1", "MTE2", "FIX"), shares, strict=True))
    return Case(group, name, lambda: gemm(*args), us, pipes, **more)


PTO = "GEMM, 4 sizes"


def _sizes(size: int, us: float, *shares: float):
    return _gemm(PTO, str(size), us, shares, size, (4, 6), (4, 4), 1, "float32")


def _large(name: str, us: float, shares: Sequence[float], rounds: int):
    return _gemm("GEMM 8192^3", name, us, shares, 8192, (4, 6), (8, 4), rounds, "float16")


GEMMS = (
    _large("basic", 4121.2, (0.84, 0.692, 0.968, 0.044), 1),
    _large("L2 split", 4081.6, (0.847, 0.702, 0.959, 0.044), 2),
    _sizes(1536, 38.8, 0.545, 0.422, 0.722, 0.077),
    _sizes(3072, 206.7, 0.79, 0.62, 0.909, 0.058),
    _sizes(6144, 1506.0, 0.867, 0.681, 0.952, 0.031),
    _sizes(7680, 3168.0, 0.806, 0.63, 0.984, 0.024),
)

CASES = (*ADDS, *LOADS, *BANKS, *GEMMS)


@dataclass(frozen=True)
class Outcome:
    """A case beside what the simulator says; ``shares`` are by pipe."""

    group: str
    name: str
    measured_us: float
    predicted_us: float
    measured_shares: Mapping[str, float]
    shares: Mapping[str, float]

    @property
    def error(self) -> float:
        """Relative error of the time."""
        return self.predicted_us / self.measured_us - 1

    @property
    def share_error(self) -> float:
        """Largest difference of a published busy share."""
        return max((abs(self.shares[p] - s) for p, s in self.measured_shares.items()), default=0)

    def __str__(self) -> str:
        pipes = "  ".join(
            f"{p} {100 * self.shares[p]:.0f}/{100 * s:.0f}" for p, s in self.measured_shares.items()
        )
        return (
            f"{self.group:<26}{self.name:<20}{self.measured_us:>12.1f}{self.predicted_us:>12.1f} us"
            f"{100 * self.error:>+8.1f} %{100 * self.share_error:>7.1f}  {pipes}"
        )


def simulate(
    func: tirx.PrimFunc,
    arrays: Sequence[np.ndarray] | None = None,
    options: SimOptions = TIMING_ONLY,
) -> Report:
    """Launch a final kernel; without ``arrays``, on memory that holds no values."""
    program = build_program(func, CHIP)
    if arrays is None:
        shapes = [(tuple(int(n) for n in p.shape), numpy_dtype(str(p.dtype))) for p in func.params]
        # Never written: untouched pages of a large tensor take no memory.
        arrays = [np.empty(shape, dtype) for shape, dtype in shapes]
    executor = SimulatorExecutor(program.table, tvm.ir.save_json(program.control))
    return executor.launch([tvm_ffi.from_dlpack(a) for a in arrays], options)


def outcome(case: Case) -> Outcome:
    """Simulate one case that is modelled."""
    report = simulate(case.make())
    cores = sum(report.core_cycles.values())
    shares = {
        pipe: sum(busy.get(pipe, 0) for busy in report.in_flight.values()) / cores
        for pipe in case.shares
    }
    slowest = max(report.core_cycles.values())
    us = slowest / CHIP.clock_hz * 1e6 if case.core_time else report.time_us
    return Outcome(case.group, case.name, case.measured_us, us / case.part, case.shares, shares)


def misordered(outcomes: Sequence[Outcome]) -> list[tuple[str, str, str]]:
    """Pairs of variants of a group, faster one first, that the simulator puts the other way."""
    wrong = []
    for a, b in combinations(outcomes, 2):
        fast, slow = sorted((a, b), key=lambda o: o.measured_us)
        clear = slow.measured_us > (1 + SAME_TIME) * fast.measured_us
        if a.group == b.group and clear and fast.predicted_us >= slow.predicted_us:
            wrong.append((a.group, fast.name, slow.name))
    return wrong


def summary(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """How many cases meet the targets."""
    errors = [abs(o.error) for o in outcomes]
    return {
        "cases": len(outcomes),
        "mape": statistics.fmean(errors),
        "within_15_percent": sum(e <= 0.15 for e in errors),
        "shares_within_10_points": sum(o.share_error <= 0.10 for o in outcomes),
        "misordered": misordered(outcomes),
    }


def main() -> int:
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--group", help="only groups whose name contains this")
    parser.add_argument("--json", action="store_true", help="print cases and summary as JSON only")
    chosen = parser.parse_args()
    outcomes, not_modelled = [], []
    if not chosen.json:
        print(f"{'':<46}{'measured':>12}{'simulated':>15}{'error':>10} points  ours/published %")
    for case in CASES:
        if chosen.group and chosen.group not in case.group:
            continue
        if case.make is None:
            not_modelled.append(case)
            continue
        outcomes.append(outcome(case))
        if not chosen.json:
            print(outcomes[-1], flush=True)
    result = summary(outcomes)
    if chosen.json:
        rows = [asdict(o) | {"error": o.error} for o in outcomes]
        missing = [
            {"group": c.group, "name": c.name, "measured_us": c.measured_us, "lacks": c.lacks}
            for c in not_modelled
        ]
        content = {"cases": rows, "not_modelled": missing, "summary": result}
        print(json.dumps(content, indent=2))
        return 0
    print(
        f"{result['cases']} cases: mean error {100 * result['mape']:.1f} %, "
        f"{result['within_15_percent']} within 15 %, "
        f"{result['shares_within_10_points']} with pipe shares within 10 points"
    )
    for case in not_modelled:
        print(f"not modelled: {case.group}, {case.name} ({case.measured_us} us): {case.lacks}")
    for group, fast, slow in result["misordered"]:
        print(f"wrong order in {group}: {fast} should be faster than {slow}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

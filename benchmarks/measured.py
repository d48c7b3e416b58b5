# SPDX-License-Identifier: Apache-2.0
"""Predicted beside measured times: our kernel of every measured row, on the simulator.

``python benchmarks/measured.py --rows FILE [--out CSV] [--json]``; FILE has the columns of
``measured_910b_calibration.csv``. Only timing is simulated. Rows of operators that the library does
not have are listed as not covered.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import statistics
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import tvm_ascend
from tvm_ascend import Options, SimOptions
from tvm_ascend.errors import AscendError
from tvm_ascend.hw import CHIPS
from tvm_ascend.ops import OPS, Signature
from tvm_ascend.ops.op import numpy_dtype

TIMING_ONLY = SimOptions(numerics=False, hazards=False)
DTYPES = {
    "FP32": "float32",
    "FP16": "float16",
    "BF16": "bfloat16",
    "INT8": "int8",
    "INT32": "int32",
    "INT64": "int64",
    "BOOL": "uint8",  # one byte, 0 or 1
}
ONE_TENSOR = {"add": "adds", "sub": "subs", "mul": "muls"}
"""The kernel of a row whose second operand is a number."""


@dataclass(frozen=True)
class Case:
    """One row: the operator's kernel to run, and what was measured.

    ``lacks`` is what of the measured operator our kernel does not do.
    """

    case_id: str
    op: str
    chip: str
    measured_us: float
    kernel: str = ""
    signature: Signature | None = None
    reason: str = ""
    lacks: str = ""


@dataclass(frozen=True)
class Prediction:
    """What the simulator says about a case; without a time, why there is none."""

    predicted_us: float | None = None
    kernel: str = ""
    tile: str = ""
    bound: str = ""
    reason: str = ""


def chip_of(row: dict[str, str]) -> str:
    """The chip that a row was measured on: what its clock says, else what its source says."""
    name = row["hw"].lower() or row["soc"].lower()
    if name.startswith("a3"):
        return "a3"
    soc = row["soc"].lower()
    return max((c for c in CHIPS if soc.startswith(c)), key=len, default="910b1")


def read_case(row: dict[str, str]) -> Case:
    """Find the kernel of a row."""
    case = Case(row["case_id"], row["op"], chip_of(row), float(row["duration_us"]))
    try:
        kernel, signature = kernel_of(row)
    except (KeyError, ValueError) as error:
        return replace(case, reason=str(error.args[0]))
    return replace(case, kernel=kernel, signature=signature, lacks=lacks_of(row))


def lacks_of(row: dict[str, str]) -> str:
    """What our kernel of a row leaves out."""
    return "no bias" if row["op"] == "matmul" and len(json.loads(row["inputs"])) > 2 else ""


def kernel_of(row: dict[str, str]) -> tuple[str, Signature]:
    """Name and signature of the kernel that computes a row."""
    op = row["op"].lower()
    inputs = [tuple(shape) for shape in json.loads(row["inputs"])]
    outputs = [tuple(shape) for shape in json.loads(row["outputs"])]
    dtypes = [dtype_of(d) for d in json.loads(row["in_dtypes"])]
    out_dtypes = [dtype_of(d) for d in json.loads(row["out_dtypes"])]
    if op in ("matmul", "batch_matmul"):
        op, inputs, dtypes = "matmul", inputs[:2], dtypes[:2]
    elif op == "quant_batch_matmul":
        op, inputs = "quant_matmul", [inputs[0], plain_weight(inputs[1]), *inputs[2:]]
    elif len(inputs) == 1:
        op = ONE_TENSOR.get(op, op)
    if op not in OPS:
        raise KeyError(f"no kernel for {row['op']}")
    return op, Signature(
        inputs=tuple(inputs),
        dtypes=tuple(dtypes),
        outputs=tuple(outputs),
        out_dtypes=tuple(out_dtypes),
    )


def dtype_of(name: str) -> str:
    """The TIR dtype of a row's dtype."""
    if name not in DTYPES:
        raise ValueError(f"no dtype {name}")
    return DTYPES[name]


def plain_weight(shape: tuple[int, ...]) -> tuple[int, ...]:
    """[n, k] of a weight stored NZ as [n / 32, k / 16, 16, 32], or a plain [k, n]."""
    if len(shape) == 4:
        return (shape[0] * shape[3], shape[1] * shape[2])
    return shape[::-1]


def predict(case: Case) -> Prediction:
    """Compile the kernel of a case and simulate its timing."""
    if case.signature is None:
        return Prediction(reason=case.reason)
    try:
        func = OPS[case.kernel].make(case.signature, CHIPS[case.chip])
        if func is None:
            return Prediction(reason=f"{case.kernel} has no kernel for these shapes")
        target = f"huawei/ascend-{case.chip}"
        kernel = tvm_ascend.compile(func, target, options=Options(cache=False))
        if kernel.artifact.rule == "scalar":
            return Prediction(reason=f"{case.kernel} fits no unit but the scalar one")
        shapes = [(tuple(int(n) for n in p.shape), numpy_dtype(str(p.dtype))) for p in func.params]
        # Never written: untouched pages of a large tensor take no memory.
        _, report = kernel.run(*(np.empty(s, d) for s, d in shapes), sim=TIMING_ONLY)
    except AscendError as error:
        return Prediction(reason=f"{type(error).__name__}: {error}")
    tile = ascribed(kernel.artifact.decisions) or str(func.attrs.get("ascend.tile", ""))
    name = f"{case.kernel} ({case.lacks})" if case.lacks else case.kernel
    return Prediction(report.time_us, name, tile, report.bound)


def ascribed(decisions: dict) -> str:
    """The tile that the matmul rule chose."""
    if "tile_m" not in decisions:
        return ""
    return "x".join(str(decisions[name]) for name in ("tile_m", "tile_n", "tile_k"))


def predict_all(cases: Sequence[Case], workers: int) -> list[Prediction]:
    """Predictions in order; equal kernels are simulated once."""
    unique = {(c.chip, c.kernel, c.signature, c.lacks): c for c in cases}
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        found = pool.map(predict, unique.values(), chunksize=4)
        done = dict(zip(unique, found, strict=True))
    return [
        done[c.chip, c.kernel, c.signature, c.lacks] if c.signature else Prediction(reason=c.reason)
        for c in cases
    ]


@dataclass(frozen=True)
class Summary:
    """Agreement over some rows; ``slow`` is the share predicted above 1.25 times the measured."""

    rows: int
    covered: int
    mape: float = math.nan
    median_ape: float = math.nan
    geo_mean: float = math.nan
    spearman: float = math.nan
    slow: float = math.nan

    def __str__(self) -> str:
        return (
            f"{self.covered:>4}/{self.rows:<4} {100 * self.mape:>6.1f} %"
            f"{100 * self.median_ape:>10.1f} %{self.geo_mean:>9.3f}{self.spearman:>10.3f}"
            f"{100 * self.slow:>9.1f} %"
        )


HEADER = f"{'':<20} rows      MAPE  median APE geo-mean  Spearman   > 1.25x"


def summarize(measured: Sequence[float], predicted: Sequence[float | None]) -> Summary:
    """Compare the rows that have a prediction."""
    pairs = [(m, p) for m, p in zip(measured, predicted, strict=True) if p is not None]
    if not pairs:
        return Summary(len(measured), 0)
    errors = [abs(p / m - 1) for m, p in pairs]
    logs = [abs(math.log(p / m)) for m, p in pairs]
    return Summary(
        rows=len(measured),
        covered=len(pairs),
        mape=statistics.fmean(errors),
        median_ape=statistics.median(errors),
        geo_mean=math.exp(statistics.fmean(logs)),
        spearman=rank_correlation(*zip(*pairs, strict=True)),
        slow=sum(p > 1.25 * m for m, p in pairs) / len(pairs),
    )


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's coefficient; equal values share their mean rank."""
    if len(set(a)) < 2 or len(set(b)) < 2:
        return math.nan
    return statistics.correlation(ranks(a), ranks(b))


def ranks(values: Sequence[float]) -> list[float]:
    """Rank of every value, from 0."""
    ordered = sorted(values)
    first = {v: i for i, v in reversed(list(enumerate(ordered)))}
    count = dict.fromkeys(ordered, 0)
    for v in ordered:
        count[v] += 1
    return [first[v] + (count[v] - 1) / 2 for v in values]


def summaries(cases: Sequence[Case], found: Sequence[Prediction]) -> dict[str, Summary]:
    """One summary per operator and one of everything."""
    groups = {"overall": list(range(len(cases)))}
    for i, case in enumerate(cases):
        groups.setdefault(case.op, []).append(i)
    return {
        name: summarize([cases[i].measured_us for i in at], [found[i].predicted_us for i in at])
        for name, at in groups.items()
    }


def write_csv(path: Path, cases: Sequence[Case], found: Sequence[Prediction]) -> None:
    """One line per row."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(("case_id", "op", "measured_us", "predicted_us", "kernel", "tile", "bound"))
        for case, p in zip(cases, found, strict=True):
            time = "" if p.predicted_us is None else f"{p.predicted_us:.4f}"
            out.writerow((case.case_id, case.op, case.measured_us, time, p.kernel, p.tile, p.bound))


def print_rows(cases: Sequence[Case], found: Sequence[Prediction]) -> None:
    """Every row, then the rows without a kernel."""
    for case, p in zip(cases, found, strict=True):
        if p.predicted_us is None:
            continue
        error = p.predicted_us / case.measured_us - 1
        shapes = ",".join(str(list(s)) for s in case.signature.inputs) if case.signature else ""
        print(
            f"{case.case_id} {case.chip:<8}{case.op:<20}{case.measured_us:>10.2f}"
            f"{p.predicted_us:>10.2f} us {100 * error:>+7.1f} %  {p.bound:<8}{p.tile:<14}{shapes}"
        )
    for case, p in zip(cases, found, strict=True):
        if p.predicted_us is None:
            print(f"{case.case_id} {case.chip:<8}{case.op:<20} not covered: {p.reason}")


def main() -> int:
    """Run every row and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True, help="CSV of measured rows")
    parser.add_argument("--out", type=Path, help="write one line per row to this CSV")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON only")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    chosen = parser.parse_args()
    with chosen.rows.open(newline="") as file:
        cases = [read_case(row) for row in csv.DictReader(file)]
    found = predict_all(cases, chosen.workers)
    if chosen.out:
        write_csv(chosen.out, cases, found)
    summary = summaries(cases, found)
    if chosen.json:
        print(json.dumps({name: asdict(s) for name, s in summary.items()}, indent=2))
        return 0
    print_rows(cases, found)
    print(HEADER)
    for name, line in summary.items():
        print(f"{name:<20} {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

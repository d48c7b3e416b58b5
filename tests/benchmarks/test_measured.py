# SPDX-License-Identifier: Apache-2.0
"""The comparison with measured times: rows it has not seen, and what it says about them."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "measured.py"
COLUMNS = ("case_id", "soc", "hw", "op", "inputs", "in_dtypes", "outputs", "out_dtypes")
ROWS = (
    ("a", "910B4-1", "", "add", [[7, 9], [9]], ["BF16", "BF16"], [[7, 9]], ["BF16"], 2.0),
    ("b", "910B1", "A3", "Sub", [[70]], ["FP32"], [[70]], ["FP32"], 2.0),
    ("c", "910B1", "", "rope", [[7, 9]], ["BF16"], [[7, 9]], ["BF16"], 3.0),
    (
        "d",
        "910B4",
        "",
        "matmul",
        [[4, 8], [3, 8], [3]],
        ["FP16"] * 2 + ["FP32"],
        [[4, 3]],
        ["FP16"],
        9,
    ),
    ("e", "910B1", "", "cast", [[9]], ["COMPLEX"], [[9]], ["FP32"], 1.0),
    # Bytes stored [k, n], which the matmul rule does not turn on their way to L0.
    (
        "f",
        "910B1",
        "",
        "matmul",
        [[8, 64], [64, 32]],
        ["INT8"] * 2,
        [[8, 32]],
        ["INT32"],
        5.0,
    ),
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    with (folder / "rows.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow((*COLUMNS, "duration_us"))
        for case, soc, hw, op, *lists, time in ROWS:
            out.writerow((case, soc, hw, op, *(json.dumps(x) for x in lists), time))
    command = [sys.executable, SCRIPT, "--rows", folder / "rows.csv", "--out", folder / "out.csv"]
    done = subprocess.run([*command, "--workers", "1"], capture_output=True, text=True, check=True)
    with (folder / "out.csv").open(newline="") as file:
        return done.stdout, {row["case_id"]: row for row in csv.DictReader(file)}


def test_every_row_is_listed_and_covered_ones_have_a_time(run):
    text, rows = run
    assert list(rows) == list("abcdef")
    assert [k for k, row in rows.items() if row["predicted_us"]] == ["a", "b", "d"]
    assert all(0 < float(r["predicted_us"]) < 20 for r in rows.values() if r["predicted_us"])
    assert "no kernel for rope" in text
    assert "no dtype COMPLEX" in text
    assert "matmul fits no unit but the scalar one" in text


def test_a_row_says_kernel_tile_and_what_the_kernel_leaves_out(run):
    _, rows = run
    assert [rows[k]["kernel"] for k in "abd"] == ["add", "subs", "matmul (no bias)"]
    assert rows["a"]["tile"] == "1x7x9"
    assert rows["d"]["tile"] == "16x16x16"
    assert all(rows[k]["bound"] for k in "abd")


def test_the_summary_counts_what_is_covered(run):
    text, _ = run
    (line,) = (line for line in text.splitlines() if line.startswith("overall"))
    assert line.split()[1] == "3/6"

# SPDX-License-Identifier: Apache-2.0
"""Every figure of the comparison comes from the reports, and the sentence names what differs."""

from __future__ import annotations

from tvm_ascend.runtime.report import Report
from tvm_ascend.tune.explain import comparison, why


def report(cycles: int, moved: int, cube: int, cores: int = 2, mmads: int = 8) -> Report:
    busy = {"M": cube, "MTE2": 600}
    return Report(
        kernel="k",
        cycles=cycles,
        time_us=cycles / 1850,
        pipes=dict.fromkeys(range(cores), busy),
        core_cycles=dict.fromkeys(range(cores), cycles),
        bytes={"gm_to_l1": moved},
        instructions={"mmad": mmads, "set_flag": mmads},
        hazards=[],
        sites=[],
        events=[],
    )


def test_table_puts_both_side_by_side():
    lines = comparison(report(1000, 8_000_000, 100), report(800, 6_000_000, 100))
    rows = {line[:12].strip(): line[12:].split() for line in lines}
    assert rows["cycles"] == ["1,000", "800"]
    assert rows["gm_to_l1"] == ["8.00", "MB", "6.00", "MB"]
    assert rows["Cube busy"] == ["10%", "12%"]
    assert rows["MTE2 busy"] == ["60%", "75%"]


def test_fewer_bytes_are_the_first_reason():
    text = why(report(1000, 8_000_000, 100), report(800, 6_000_000, 100))
    assert text.startswith("25% fewer bytes on gm_to_l1 (8.00 MB to 6.00 MB)")
    assert "the Cube is busy 12.5% of the time instead of 10.0%" in text
    assert "pipes overlap more (0.88 busy at a time, was 0.70)" in text


def test_same_bytes_are_said_and_instructions_named():
    text = why(report(1000, 100, 100, mmads=8), report(900, 100, 60, mmads=2))
    assert text.startswith("it moves the same bytes; 2 mmad instead of 8")
    assert "set_flag" not in text


def test_cores_are_named_only_when_they_differ():
    assert "cores" not in why(report(1000, 100, 100), report(900, 100, 100))
    assert "4 cores work instead of 2" in why(report(1000, 100, 100), report(900, 100, 100, 4))

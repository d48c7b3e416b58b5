# SPDX-License-Identifier: Apache-2.0
"""What kernels print, and what they cannot."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import At, Gm, Machine, ub


def printed(machine, **options):
    return [text for _, _, text in machine.clean(**options)["printed"]]


@pytest.mark.parametrize(
    ("dtype", "form", "value", "text"),
    [
        ("int32", "i = %d\n", -3, "i = -3\n"),
        ("uint32", "%08x", 0xBEEF, "0000beef"),
        ("int64", "%ld%%", 1 << 40, "1099511627776%"),
        ("uint64", "%llu", 7, "7"),
        ("float32", "%5.2f|", 1.5, " 1.50|"),
        ("float32", "%g", float("inf"), "inf"),
    ],
)
def test_a_value_is_formatted(dtype, form, value, text):
    machine = Machine()
    machine.issue("printf_value", dtype, form, value)
    assert printed(machine) == [text]


def test_text_alone_and_the_order_of_cores():
    machine = Machine(grid=2)
    machine.issue("printf", None, "100%% of core 0")
    machine.block()
    machine.issue("printf", None, "core 1")
    machine.issue("printf", None, "again")
    report = machine.clean()
    assert [(core, text) for core, _, text in report["printed"]] == [
        (0, "100% of core 0"),
        (1, "core 1"),
        (1, "again"),
    ]
    assert report["printed"][0][1] == "kernel.py:1"


@pytest.mark.parametrize(
    ("key", "dtype", "args", "text"),
    [
        ("printf", None, ("%d",), "has no value for its conversion"),
        ("printf_value", "int32", ("none", 1), "has a value and no conversion"),
        ("printf_value", "int32", ("%d %d", 1), "more than one value"),
        ("printf_value", "int32", ("%f", 1), "cannot print int32 with %f"),
        ("printf_value", "float32", ("%s", 1.0), "cannot print float32 with %s"),
        ("printf_value", "int32", ("%*d", 1), "cannot print int32 with %*"),
        ("printf_value", "int32", ("%n", 1), "cannot print int32 with %n"),
        ("printf_value", "int32", ("50%", 1), "cannot print"),
    ],
)
def test_formats_that_do_not_fit(key, dtype, args, text):
    machine = Machine()
    machine.issue(key, dtype, *args)
    (hazard,) = machine.hazards()
    assert text in hazard["message"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint16", "int64"])
def test_tensors_in_ub_and_gm(dtype):
    data = np.array([1, 2, 3, 4] * 8).astype(dtype)
    machine = Machine()
    machine.tensor("data", data)
    machine.issue("data_copy_in_count", dtype, ub(64), Gm("data"), 32)
    machine.issue("dump_tensor", dtype, ub(64), 5, 4)  # waits for the copy by itself
    machine.issue("dump_tensor_gm", dtype, Gm("data", 1), 6, 3)
    assert printed(machine, dma="late") == [
        f"desc=5 {dtype}[4] at ub byte 64: 1 2 3 4",
        f"desc=6 {dtype}[3] at gm: 2 3 4",
    ]


def test_the_cube_has_memories_to_dump_too():
    machine = Machine("AIC")
    machine.issue("fill_l1", "float16", At("l1", 0), 1, 1, 0, 2.5)
    machine.issue("dump_tensor", "float16", At("l1", 0), 1, 2)
    assert printed(machine) == ["desc=1 float16[2] at l1 byte 0: 2.5 2.5"]


def test_without_numerics_there_is_no_data():
    machine = Machine()
    machine.issue("duplicate", "float32", ub(0), 1.0, 8)
    machine.issue("dump_tensor", "float32", ub(0), 1, 2)
    assert printed(machine, numerics=False) == ["desc=1 float32[2] at ub byte 0: no data"]


def test_more_than_a_call_takes():
    machine = Machine()
    machine.issue("dump_tensor", "float32", ub(0), 1, 8000)
    (hazard,) = machine.hazards()
    assert "a call takes up to 30720" in hazard["message"]

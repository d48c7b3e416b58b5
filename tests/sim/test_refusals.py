# SPDX-License-Identifier: Apache-2.0
"""Programs and words that no compiler writes are refused in words; found by fuzzing."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import CONSTANTS, SPACES, At, Gm, Machine, ub

FAR = 2**63 - 1


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ({"buffers": {"tile": {"address": 512, "bytes": FAR}}}, "bytes of tile is 0 to"),
        ({"buffers": {"tile": {"address": -1, "bytes": 32}}}, "the address of tile is 0 to"),
        ({"spaces": SPACES | {"ub": FAR}}, "bytes of ub is 0 to"),
        ({"constants": CONSTANTS | {"SYNC_ISSUE": 1e300}}, "SYNC_ISSUE is a number from 0"),
        ({"constants": CONSTANTS | {"SYNC_ISSUE": -1}}, "SYNC_ISSUE is a number from 0"),
        ({"grid": 2**32 + 1}, "a launch needs 1 to"),
        ({"event_ids": 33}, "event_ids is 0 to 32"),
        ({"usable_event_ids": 9}, "usable_event_ids is 0 to 8"),
    ],
)
def test_numbers_that_no_program_has(program, text):
    machine = Machine(program=program)
    machine.barrier()
    with pytest.raises(ValueError, match=text):
        machine.run()


def test_a_text_that_only_a_call_would_give():
    """It would be an address in the simulator's own memory."""
    machine = Machine()
    site = machine.issue("printf", None, "abc")
    machine.sites[site]["args"][0] = {"d": 0}
    machine.blocks[0] = [[site, 1]]
    with pytest.raises(ValueError, match="takes a constant text"):
        machine.run()


@pytest.mark.parametrize("address", [FAR, -FAR, 2**56 + 32])
def test_an_address_that_no_memory_has(address):
    machine = Machine()
    machine.tensor("array", np.zeros(64, "float32"))
    machine.load(ub(0), Gm("array"), 8, "float32")
    machine.sites[0]["args"][1] = {"c": address}
    (hazard,) = machine.hazards()
    assert hazard["kind"] == "out_of_bounds"
    assert f"operand src at {address}" in hazard["message"]


def test_a_product_without_columns_reads_nothing():
    """Nothing is accessed, so nothing is checked: not one byte of A may be looked at."""
    machine = Machine("AIC")
    types = ("float32", "float16", "float16")
    outside = At("l0a", 2**50)
    machine.issue("mmad", types, At("l0c", 0), outside, At("l0b", 0), 4095, 0, 4095, 1)
    machine.clean()

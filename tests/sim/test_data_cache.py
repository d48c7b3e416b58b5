# SPDX-License-Identifier: Apache-2.0
"""The scalar unit's data cache: stores that copies cannot see, loads that see too little."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import Gm, Machine, ub

WHOLE, LINE = "ENTIRE_DATA_CACHE", "SINGLE_CACHE_LINE"


def aligned(count=64):
    """Float32 zeros that start on a cache line."""
    room = np.zeros(count + 16, "float32")
    start = -room.ctypes.data % 64 // 4
    return room[start : start + count]


def with_tensor():
    machine = Machine()
    machine.tensor("x", aligned())
    return machine


def clean(machine, element=0, line=WHOLE):
    machine.issue("data_cache_clean", "float32", Gm("x", element), line)


def store(machine, element):
    return machine.issue("set_value", "float32", Gm("x", element), 1.0)


def hazards(machine):
    return [(h["kind"], h["bytes"]) for h in machine.hazards()]


def test_a_store_that_never_leaves_the_cache():
    machine = with_tensor()
    site = store(machine, 5)
    (hazard,) = machine.hazards()
    assert (hazard["kind"], hazard["first"]["site"]) == ("cache", site)
    assert hazard["fix"] == "DataCacheCleanAndInvalid"
    assert "the program ends before its value has left the data cache" in hazard["message"]


@pytest.mark.parametrize("line", [WHOLE, LINE])
def test_a_cleaned_store(line):
    machine = with_tensor()
    store(machine, 20)
    clean(machine, 17, line)
    machine.clean()


def test_another_line_was_cleaned():
    machine = with_tensor()
    store(machine, 20)
    clean(machine, 0, LINE)
    assert hazards(machine)[0][0] == "cache"


@pytest.mark.parametrize("writes", [False, True])
@pytest.mark.parametrize("cleaned", [False, True])
def test_copies_go_past_the_cache(writes, cleaned):
    machine = with_tensor()
    store(machine, 20)
    if cleaned:
        clean(machine)
    if writes:
        machine.issue("duplicate", "float32", ub(0), 2.0, 64)
        machine.sync("V_MTE3")
        machine.sync("S_MTE3")
        machine.store(Gm("x"), ub(0), 64, "float32")
    else:
        machine.sync("S_MTE2")
        machine.load(ub(0), Gm("x"), 64, "float32")
    if cleaned:
        machine.clean()
    else:
        assert hazards(machine)[0] == ("cache", [80, 81])


def test_copies_of_other_bytes_of_the_line_are_fine():
    machine = with_tensor()
    store(machine, 20)
    machine.sync("S_MTE2")
    machine.load(ub(0), Gm("x", 21), 8, "float32")
    clean(machine)
    machine.clean()


@pytest.mark.parametrize("cleaned", ["before", "after", "never"])
def test_loads_after_a_copy_see_old_lines(cleaned):
    machine = with_tensor()
    machine.issue("duplicate", "float32", ub(0), 2.0, 64)
    machine.issue("get_value", "float32", Gm("x", 3))
    machine.sync("V_MTE3")
    machine.sync("S_MTE3")
    if cleaned == "before":
        clean(machine)
    copy = machine.store(Gm("x"), ub(0), 64, "float32")
    machine.sync("MTE3_S")
    if cleaned == "after":
        clean(machine)
    load = machine.issue("get_value", "float32", Gm("x", 4))
    if cleaned != "never":
        machine.clean()
        return
    (hazard,) = machine.hazards()
    assert (hazard["first"]["site"], hazard["second"]["site"]) == (copy, load)
    assert "has since been changed in GM" in hazard["message"]


def test_a_line_that_was_never_loaded_is_fresh():
    machine = with_tensor()
    machine.issue("duplicate", "float32", ub(0), 2.0, 64)
    machine.sync("V_MTE3")
    machine.store(Gm("x"), ub(0), 64, "float32")
    machine.sync("MTE3_S")
    machine.issue("get_value", "float32", Gm("x", 4))
    machine.clean()


def test_ub_has_no_cache():
    machine = Machine()
    machine.issue("set_value", "float32", ub(0), 1.0)
    machine.clean()

# SPDX-License-Identifier: Apache-2.0
"""The flag protocol: waits, sets, ids."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sim.machine import Gm, Machine, ub


def test_a_wait_without_a_set_is_a_deadlock_that_names_three_statements():
    machine = Machine()
    machine.tensor("data", np.zeros(64, "float32"))
    load = machine.load(ub(0), Gm("data"), 64, "float32")
    wait = machine.wait("MTE2_V", 2)
    use = machine.issue("adds", "float32", ub(512), ub(0), 1.0, 64)
    (hazard,) = machine.hazards(strict=True)
    assert hazard["kind"] == "wait_without_set"
    assert [hazard[x]["site"] for x in ("first", "at", "second")] == [load, wait, use]
    assert hazard["fix"] == "SetFlag<HardEvent::MTE2_V>(2)"
    for site in (load, wait, use):
        assert machine.sites[site]["text"] in hazard["message"]
    since = re.search(r"holds pipe V forever, since cycle (\d+): no statement", hazard["message"])
    assert since is not None
    assert int(since[1]) > 0


@pytest.mark.parametrize("between", [1, 31, 32, 33, 1000])
def test_a_wait_before_its_set_never_hangs_however_full_the_queue_is(between):
    """Behind 32 entries the scalar unit could not even issue the set."""
    machine = Machine()
    machine.tensor("data", np.zeros(64, "float32"))
    wait = machine.wait("V_MTE2")
    for _ in range(between):
        machine.load(ub(0), Gm("data"), 64, "float32")
        machine.barrier("MTE2")
    machine.set("V_MTE2")
    first, *_ = machine.hazards()
    assert (first["kind"], first["at"]["site"]) == ("wait_without_set", wait)
    assert [h["kind"] for h in machine.hazards(strict=True)] == ["wait_without_set"]


def test_a_full_queue_without_a_wait_only_takes_time():
    machine = Machine()
    machine.tensor("data", np.zeros(64, "float32"))
    for _ in range(1000):
        machine.load(ub(0), Gm("data"), 64, "float32")
        machine.barrier("MTE2")
    machine.clean()


def test_a_wait_at_the_end_is_reported_without_a_user():
    machine = Machine()
    machine.wait("MTE2_V")
    (hazard,) = machine.hazards()
    assert hazard["kind"] == "wait_without_set"
    assert hazard["second"] is None
    assert hazard["first"] is None


def test_a_scalar_wait_without_a_set_stops_whatever_comes_next():
    machine = Machine()
    machine.wait("V_S")
    use = machine.issue("duplicate", "float32", ub(0), 1.0, 64)
    assert machine.hazards(strict=True)[0]["second"]["site"] == use


def test_a_set_before_the_last_one_was_waited_for():
    machine = Machine()
    first = machine.set("MTE2_V")
    second = machine.set("MTE2_V")
    machine.wait("MTE2_V")
    (hazard,) = machine.hazards()
    assert hazard["kind"] == "set_twice"
    assert (hazard["first"]["site"], hazard["second"]["site"]) == (first, second)
    assert hazard["fix"] == "WaitFlag<HardEvent::MTE2_V>"


def test_a_set_that_may_overtake_the_last_wait():
    """MTE2 does not know that V came to its wait: it may raise the flag while it is still up."""
    machine = Machine()
    machine.set("MTE2_V")
    wait = machine.wait("MTE2_V")
    second = machine.set("MTE2_V")
    machine.wait("MTE2_V")
    (hazard,) = machine.hazards()
    assert hazard["kind"] == "set_twice"
    assert (hazard["first"]["site"], hazard["second"]["site"]) == (wait, second)
    assert hazard["fix"] == "SetFlag/WaitFlag<HardEvent::V_MTE2>"


@pytest.mark.parametrize("way_back", ["flag", "barrier", "scalar"])
def test_a_set_after_its_wait_is_known_is_clean(way_back):
    machine = Machine()
    machine.sync("MTE2_V")
    if way_back == "flag":
        machine.sync("V_MTE2")
    elif way_back == "barrier":
        machine.barrier()
    else:
        machine.sync("V_S")
    machine.sync("MTE2_V")
    machine.clean()


def test_a_flag_to_the_scalar_unit_may_be_raised_again():
    machine = Machine()
    machine.sync("V_S")
    machine.sync("V_S")
    machine.clean()


def test_a_flag_left_up_is_reported():
    machine = Machine()
    machine.sync("V_MTE3")
    site = machine.set("V_MTE3", 1)
    (hazard,) = machine.hazards()
    assert hazard["kind"] == "unconsumed_flag"
    assert hazard["first"]["site"] == site
    assert "id 1" in hazard["message"]


def test_a_flag_that_nobody_waits_for_names_who_should():
    machine = Machine()
    waiting = machine.load(ub(0), machine.tensor("A", np.zeros(8, "float32")), 8, "float32")
    raising = machine.set("V_MTE2")
    (hazard,) = machine.hazards()
    assert hazard["kind"] == "unconsumed_flag"
    assert hazard["first"]["site"] == raising
    assert hazard["second"]["site"] == waiting
    assert "no wait ever lowered it, and the last statement on pipe MTE2" in hazard["message"]


@pytest.mark.parametrize(("event_id", "text"), [(6, "is reserved"), (7, "is reserved")])
def test_reserved_ids_are_refused(event_id, text):
    machine = Machine()
    machine.set("V_MTE3", event_id)
    (hazard, *_) = machine.hazards(strict=True)
    assert hazard["kind"] == "event_id"
    assert text in hazard["message"]


def test_ids_past_the_last_one_are_refused():
    machine = Machine()
    machine.set("V_MTE3", 8)
    (hazard,) = machine.hazards(strict=True)
    assert hazard["kind"] == "parameter"
    assert "id = 8" in hazard["message"]


def test_events_of_the_other_core_kind_are_refused():
    machine = Machine("AIV")
    machine.set("MTE1_M")
    (hazard,) = machine.hazards(strict=True)
    assert hazard["kind"] == "event_id"
    assert "AIV" in hazard["message"]


def test_double_buffering_with_two_ids_is_clean():
    machine = Machine()
    data, out = np.arange(64 * 6, dtype="float32"), np.zeros(64 * 6, "float32")
    machine.tensor("data", data), machine.tensor("out", out)
    for side in (0, 1):
        machine.set("V_MTE2", side)
        machine.set("MTE3_V", side)
    for i in range(6):
        side = i % 2
        machine.wait("V_MTE2", side)
        machine.load(ub(512 * side), Gm("data", 64 * i), 64, "float32")
        machine.sync("MTE2_V", side)
        machine.wait("MTE3_V", side)
        machine.issue("adds", "float32", ub(4096 + 512 * side), ub(512 * side), 1.0, 64)
        machine.set("V_MTE2", side)
        machine.sync("V_MTE3", side)
        machine.store(Gm("out", 64 * i), ub(4096 + 512 * side), 64, "float32")
        machine.set("MTE3_V", side)
    for side in (0, 1):
        machine.wait("V_MTE2", side)
        machine.wait("MTE3_V", side)
    machine.clean(strict=True)
    assert np.array_equal(out, data + 1)


def test_every_sync_of_the_double_buffered_loop_is_needed():
    """Proof by deletion: without any one flag statement something is reported."""

    def deleted(index):
        machine = Machine()
        data, out = np.arange(64 * 4, dtype="float32"), np.zeros(64 * 4, "float32")
        machine.tensor("data", data), machine.tensor("out", out)
        for i in range(4):
            if i:
                machine.sync("V_MTE2")
            machine.load(ub(0), Gm("data", 64 * i), 64, "float32")
            machine.sync("MTE2_V")
            if i:
                machine.sync("MTE3_V")
            machine.issue("adds", "float32", ub(512), ub(0), 1.0, 64)
            machine.sync("V_MTE3")
            machine.store(Gm("out", 64 * i), ub(512), 64, "float32")
        syncs = [i for i, s in enumerate(machine.sites) if s["op"] in ("set_flag", "wait_flag")]
        if index is not None:
            machine.blocks[0].remove([syncs[index]])
        return len(syncs), machine

    count, intact = deleted(None)
    intact.clean()
    for index in range(count):
        hazards = deleted(index)[1].hazards()
        assert hazards, index
        named = [h for h in hazards if h["first"] and h["second"]]
        assert named, [h["message"] for h in hazards]

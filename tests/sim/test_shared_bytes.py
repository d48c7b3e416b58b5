# SPDX-License-Identifier: Apache-2.0
"""Bytes that several cores read or add to: none of them is forgotten for a later one."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import At, Gm, Machine, ub


def three_cores(*parts):
    """A Cube core and two Vector cores that share `w`, by what each does."""
    machine = Machine(core_type="MIX")
    for name in "dw":
        machine.tensor(name, np.ones(64, "float32"))
    for i, part in enumerate(parts):
        if i:
            machine.block()
        part(machine)
    return machine


def read_by_vector(machine):
    machine.load(ub(0), Gm("w"), 64, "float32")
    machine.sync("MTE2_MTE3")


def between_vectors(machine):
    machine.cross_set(1, "MTE3", 4)
    machine.cross_wait(4)


@pytest.mark.parametrize("told", [True, False])
def test_a_write_after_the_reads_of_three_cores_needs_the_first_of_them_too(told):
    """The writer heard of the second reader, and is the third."""

    def cube(machine):
        machine.issue("data_copy_in_count", "float32", At("l1", 0), Gm("w"), 64)
        if told:
            machine.cross_set(2, "MTE2", 2)

    def reader(machine):
        if told:
            machine.cross_wait(2)
        read_by_vector(machine)
        between_vectors(machine)

    def writer(machine):
        reader(machine)
        machine.store(Gm("w"), ub(0), 64, "float32")

    machine = three_cores(cube, reader, writer)
    # Between cores the one that writes is named first.
    assert [h["core_name"] for h in machine.hazards()] == ([] if told else ["AIC 0"])


def add_in_order(machine):
    machine.issue("set_atomic_add", None, "float32")
    machine.store(Gm("w"), ub(0), 64, "float32")


def fill(machine):
    machine.issue("duplicate", "float32", ub(0), 1.0, 64)
    machine.sync("V_MTE3")


@pytest.mark.parametrize("first", ["load", "store"])
@pytest.mark.parametrize("ordered", [True, False])
def test_an_atomic_store_does_not_hide_what_came_before_it(first, ordered):
    """One core reads or replaces bytes and then adds to them; the other only adds."""

    def both(machine):
        fill(machine)
        if first == "load":
            machine.load(ub(512), Gm("w"), 64, "float32")
            machine.sync("MTE2_MTE3")
        else:
            machine.store(Gm("w"), ub(0), 64, "float32")
            machine.barrier("MTE3")
        if ordered:
            between_vectors(machine)
        add_in_order(machine)
        if not ordered:
            between_vectors(machine)

    def adder(machine):
        fill(machine)
        if ordered:
            between_vectors(machine)
        add_in_order(machine)
        if not ordered:
            between_vectors(machine)

    machine = three_cores(lambda machine: machine.barrier(), both, adder)
    pipes = [(h["first"]["pipe"], h["second"]["pipe"]) for h in machine.hazards()]
    expected = [("MTE3", "MTE2" if first == "load" else "MTE3")]
    assert pipes == ([] if ordered else expected)


def test_a_store_races_with_every_core_that_added():
    def adder(machine):
        fill(machine)
        add_in_order(machine)
        machine.cross_set(2, "MTE3", 2)

    def cube(machine):
        machine.issue("fill_l1", "float32", At("l1", 0), 1, 8, 0, 0.0)
        machine.sync("MTE2_MTE3")
        machine.issue("data_copy_l1_out_count", "float32", Gm("w"), At("l1", 0), 64)
        machine.cross_wait(2)

    machine = three_cores(cube, adder, adder)
    races = [h["message"] for h in machine.hazards()]
    assert len(races) == 2
    assert all("AIC 0 writes" in message for message in races)
    order = machine.blocks[0]
    order.insert(0, order.pop())
    machine.clean()

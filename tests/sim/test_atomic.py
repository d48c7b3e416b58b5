# SPDX-License-Identifier: Apache-2.0
"""Atomic stores: what they compute on each path, and which orders they need."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from sim.cube_machine import CubeMachine, zn, zz
from sim.machine import At, Gm, Machine, ub

from tvm_ascend.isa.table import TABLE

TYPES = TABLE["set_atomic_add"].params[0].values
COMBINED = {"add": np.add, "max": np.maximum, "min": np.minimum}


def numpy_dtype(name):
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def loaded(dtype, rng, grid=1, out=None):
    """A machine with 32 values in UB, and the tensor they go to."""
    machine = Machine(grid=grid)
    old, new = (rng.integers(-50, 50, 32).astype(numpy_dtype(dtype)) for _ in range(2))
    machine.tensor("new", new), machine.tensor("out", old if out is None else out)
    return machine, old, new


def fill_ub(machine, dtype):
    machine.load(ub(0), Gm("new"), 32, dtype)
    machine.sync("MTE2_MTE3")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operation", COMBINED)
@pytest.mark.parametrize("path", ["pad_out", "out", "out_count"])
def test_stores_combine(dtype, operation, path, rng):
    machine, old, new = loaded(dtype, rng)
    want = COMBINED[operation](old, new)
    fill_ub(machine, dtype)
    machine.issue(f"set_atomic_{operation}", None, dtype)
    if path == "pad_out":
        machine.store(Gm("out"), ub(0), 32, dtype)
    elif path == "out":
        machine.issue("data_copy_out", dtype, Gm("out"), ub(0), 1, 32 * old.itemsize // 32, 0, 0)
    else:
        machine.issue("data_copy_out_count", dtype, Gm("out"), ub(0), 32)
    machine.clean()
    assert np.array_equal(machine.arrays["out"], want)


@pytest.mark.parametrize("dma", ["eager", "late"])
def test_the_operation_is_that_of_the_issue(dma, rng):
    machine, old, new = loaded("float32", rng)
    want = old + new
    fill_ub(machine, "float32")
    machine.issue("set_atomic_add", None, "float32")
    machine.store(Gm("out"), ub(0), 32, "float32")
    machine.issue("disable_dma_atomic", None)
    machine.clean(dma=dma)
    assert np.array_equal(machine.arrays["out"], want)


def test_stores_replace_again_afterwards(rng):
    machine, _, new = loaded("float32", rng)
    fill_ub(machine, "float32")
    machine.issue("set_atomic_add", None, "float32")
    machine.issue("disable_dma_atomic", None)
    machine.store(Gm("out"), ub(0), 32, "float32")
    machine.clean()
    assert np.array_equal(machine.arrays["out"], new)


def test_the_type_can_change_alone(rng):
    machine, old, new = loaded("int16", rng)
    want = old + new
    fill_ub(machine, "int16")
    machine.issue("set_atomic_add", None, "float32")
    machine.issue("set_atomic_type", None, "int16")
    machine.store(Gm("out"), ub(0), 32, "int16")
    machine.clean()
    assert np.array_equal(machine.arrays["out"], want)


def test_another_element_type_is_refused(rng):
    machine, *_ = loaded("float32", rng)
    fill_ub(machine, "float32")
    machine.issue("set_atomic_add", None, "float16")
    machine.store(Gm("out"), ub(0), 32, "float32")
    (hazard,) = machine.hazards()
    assert "stores float32 while atomic stores are set for float16" in hazard["message"]


def test_the_cube_accumulates_in_gm(rng):
    a, b = (rng.integers(-4, 5, (16, 16)).astype("float16") for _ in range(2))
    machine = CubeMachine()
    machine.into_l0("l0a", "a", zz(a), 0)
    machine.into_l0("l0b", "b", zn(b), 4096)
    machine.multiply("float16", 16, 16, 16)
    out = np.ones((16, 16), "float32")
    machine.tensor("out", out)
    machine.barrier()
    machine.issue("set_atomic_add", None, "float32")
    operands = (Gm("out"), At("l0c", 0))
    machine.issue("fixpipe", ("float32", "float32"), *operands, 16, 16, 16, 16, 0, "NoQuant")
    machine.clean()
    assert np.array_equal(out, 1 + a.astype("float32") @ b.astype("float32"))


def block(machine, *, atomic, load=False, store=True):
    """One core's use of `out`."""
    fill_ub(machine, "float32")
    if atomic:
        machine.issue("set_atomic_add", None, "float32")
    if store:
        machine.store(Gm("out"), ub(0), 32, "float32")
    if load:
        machine.sync("MTE3_MTE2")
        machine.load(ub(1024), Gm("out"), 32, "float32")


def kinds(machine):
    return [h["kind"] for h in machine.hazards()]


def test_cores_may_add_to_the_same_bytes(rng):
    machine, old, new = loaded("float32", rng, grid=2)
    want = old + new + new
    block(machine, atomic=True)
    machine.block()
    block(machine, atomic=True)
    machine.clean()
    assert np.array_equal(machine.arrays["out"], want)


@pytest.mark.parametrize("first", [True, False])
def test_an_atomic_and_a_plain_store_of_two_cores_race(first, rng):
    machine, *_ = loaded("float32", rng, grid=2)
    block(machine, atomic=first)
    machine.block()
    block(machine, atomic=not first)
    assert kinds(machine) == ["race"]


@pytest.mark.parametrize("reader", [0, 1, 2])
def test_reading_sums_of_other_cores_races(reader, rng):
    machine, *_ = loaded("float32", rng, grid=3)
    for core in range(3):
        if core:
            machine.block()
        block(machine, atomic=True, load=core == reader)
    assert "race" in kinds(machine)


def test_reading_and_not_adding_races_with_each_adder(rng):
    machine, *_ = loaded("float32", rng, grid=2)
    block(machine, atomic=True)
    machine.block()
    block(machine, atomic=False, load=True, store=False)
    assert kinds(machine) == ["race"]


def test_one_core_may_add_twice_and_read_in_order(rng):
    machine, old, new = loaded("float32", rng)
    want = old + new + new
    block(machine, atomic=True)
    machine.store(Gm("out"), ub(0), 32, "float32")
    machine.sync("MTE3_MTE2", 1)
    machine.load(ub(1024), Gm("out"), 32, "float32")
    machine.clean()
    assert np.array_equal(machine.arrays["out"], want)


def test_reading_without_waiting_for_the_second_add_races(rng):
    machine, *_ = loaded("float32", rng)
    block(machine, atomic=True)
    machine.sync("MTE3_MTE2", 1)
    second = machine.store(Gm("out"), ub(0), 32, "float32")
    machine.load(ub(1024), Gm("out"), 32, "float32")
    (hazard,) = machine.hazards()
    assert hazard["kind"] == "race"
    assert hazard["first"]["site"] == second


def test_an_atomic_store_reads_what_it_adds_to():
    machine = Machine()
    machine.tensor("out", np.zeros(64, "float32"))
    machine.issue("duplicate", "float32", ub(0), 1.0, 64)
    machine.sync("V_MTE3")
    machine.issue("set_atomic_add", None, "float32")
    machine.store(Gm("out"), ub(0), 64, "float32")
    (hazard,) = machine.hazards(fresh=[0])
    assert (hazard["kind"], hazard["bytes"]) == ("poison", [0, 1])
    assert machine.hazards() == []


def test_the_read_of_an_atomic_store_is_named_a_read(rng):
    machine, *_ = loaded("float32", rng)
    block(machine, atomic=True)
    machine.issue("duplicate", "float32", ub(0), 1.0, 32)
    (hazard,) = (h for h in machine.hazards() if h["first"]["pipe"] == "MTE3")
    assert "on pipe MTE3 reads" in hazard["message"]

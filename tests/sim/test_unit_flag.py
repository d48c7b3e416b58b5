# SPDX-License-Identifier: Apache-2.0
"""unitFlag: Mmad and Fixpipe wait for each other by the flags of 512-byte units of L0C."""

from __future__ import annotations

import numpy as np
import pytest
from sim.cube_machine import ACC, CubeMachine, numpy_dtype, up, zn, zz
from sim.machine import At, Gm

from tvm_ascend.isa.table import TABLE

KEEP, TURN = 2, 3
PRODUCTS = TABLE["mmad_unit_flag"].dtypes
OUT = {"float32": "NoQuant", "int32": "NoQuant"}


def integers(rng, dtype, *shape):
    return rng.integers(-4, 5, shape).astype(numpy_dtype(dtype))


class Tile(CubeMachine):
    """A product with its operands in L0, and a tensor for its tiles."""

    def __init__(self, m, n, k, rng, dtype="float16", tiles=2, **kwargs):
        super().__init__(**kwargs)
        self.m, self.n, self.k, self.dtype = m, n, k, dtype
        self.acc = ACC.get(dtype, "float32")
        a, b = integers(rng, dtype, m, k), integers(rng, dtype, k, n)
        self.want = a.astype(self.acc) @ b.astype(self.acc)
        self.into_l0("l0a", "a", zz(a), 0)
        self.into_l0("l0b", "b", zn(b), 262144)
        self.result = np.zeros((tiles, m, n), self.acc)
        self.tensor("c", self.result)
        self.barrier()

    def mmad(self, flag, init=0, l0c=0):
        place = (At("l0c", l0c), At("l0a", 0), At("l0b", 0))
        sizes = (self.m, self.n, self.k, init)
        dtypes = (self.acc, self.dtype, self.dtype)
        if flag:
            return self.issue("mmad_unit_flag", dtypes, *place, *sizes, flag)
        return self.issue("mmad", dtypes, *place, *sizes)

    def drain(self, flag, tile=0, columns=None, l0c=0):
        """Some columns of L0C to a tile of the tensor."""
        first, last = columns or (0, self.n)
        place = Gm("c", (tile * self.m) * self.n + first)
        source = At("l0c", l0c + first * up(self.m, 16) * 4)
        sizes = (last - first, self.m, up(self.m, 16), self.n, 0, OUT[self.acc])
        dtypes = (self.acc, self.acc)
        if flag:
            return self.issue("fixpipe_unit_flag", dtypes, place, source, *sizes, flag)
        return self.issue("fixpipe", dtypes, place, source, *sizes)


@pytest.mark.parametrize("late_dma", [False, True])
@pytest.mark.parametrize("shape", [(64, 64, 64), (20, 40, 32), (5, 3, 64), (64, 48, 100)])
@pytest.mark.parametrize(("_acc", "dtype", "_b"), PRODUCTS)
def test_tiles_need_no_other_flag(_acc, dtype, _b, shape, late_dma, rng):
    """Two tiles of three steps in k in the same L0C; only the steps keep their barrier."""
    machine = Tile(*shape, rng, dtype)
    for tile in range(2):
        for step in range(3):
            machine.mmad(TURN if step == 2 else KEEP, init=int(step == 0))
            machine.barrier("M")
        machine.drain(TURN, tile)
    machine.clean(late_dma=late_dma)
    assert np.array_equal(machine.result, np.stack([3 * machine.want] * 2))


@pytest.mark.parametrize("broken", ["mmad", "drain", "next"])
def test_without_the_flag_it_is_a_race(broken, rng):
    machine = Tile(64, 64, 64, rng)
    machine.mmad(0 if broken == "mmad" else TURN, init=1)
    if broken == "mmad":
        machine.drain(0)
    else:
        machine.drain(0 if broken == "drain" else TURN)
        machine.mmad(0 if broken == "next" else TURN, init=1)
    kinds = {h["kind"] for h in machine.hazards()}
    assert kinds & {"race", "wait_without_set"}


@pytest.mark.parametrize("shape", [(64, 64, 64), (20, 40, 32)])
def test_a_tile_drained_in_two_parts(shape, rng):
    machine = Tile(*shape, rng)
    for tile in range(2):
        machine.mmad(TURN, init=1)
        machine.drain(TURN, tile, (0, 16))
        machine.drain(TURN, tile, (16, machine.n))
    machine.clean()
    assert np.array_equal(machine.result, np.stack([machine.want] * 2))


def test_flags_that_stay_down_do_not_stand_for_a_barrier(rng):
    """Small products into one tile need PIPE_M between them, with flags as without."""
    machine = Tile(16, 16, 64, rng)
    machine.mmad(KEEP, init=1)
    machine.mmad(TURN)
    machine.drain(TURN)
    assert {h["fix"] for h in machine.hazards()} == {"PipeBarrier<PIPE_M>"}


def test_a_drain_that_keeps_the_flags_can_be_repeated(rng):
    machine = Tile(32, 32, 32, rng)
    machine.mmad(TURN, init=1)
    machine.drain(KEEP, 0)
    machine.drain(TURN, 1)
    machine.clean()
    assert np.array_equal(machine.result, np.stack([machine.want] * 2))


def message_of(machine, kind):
    (hazard,) = machine.hazards()
    assert hazard["kind"] == kind
    return hazard["message"]


def test_a_drain_of_flags_that_nobody_raised(rng):
    machine = Tile(32, 32, 32, rng)
    kept = machine.mmad(KEEP, init=1)
    machine.drain(TURN)
    text = message_of(machine, "wait_without_set")
    assert "L0C bytes [0, 512) to be raised, and no Mmad before it does that" in text
    assert f"Mmad #{kept}" in text


def test_a_second_product_before_the_drain(rng):
    machine = Tile(32, 32, 32, rng)
    first = machine.mmad(TURN, init=1)
    machine.mmad(TURN, init=1)
    text = message_of(machine, "wait_without_set")
    assert f"`Mmad #{first}`" in text
    assert "to be lowered, and no Fixpipe before it does that" in text


def test_flags_left_up_poison_the_next_kernel(rng):
    machine = Tile(32, 32, 32, rng)
    machine.mmad(TURN, init=1)
    machine.drain(TURN, 0, (0, 16))
    assert "leaves the flag of L0C bytes [2048, 2560) raised" in message_of(
        machine, "unconsumed_flag"
    )


def test_the_flags_tell_nothing_about_the_operands(rng):
    """A Fixpipe that followed a Mmad by flags does not tell MTE1 that L0A is free."""
    machine = Tile(32, 32, 32, rng)
    machine.mmad(TURN, init=1)
    machine.drain(TURN, 0, (0, 16))
    machine.sync("FIX_MTE1", 1)
    machine.issue("load_data_2d", "float16", At("l0a", 0), At("l1", 0), 0, 1, 1, 0, 0)
    machine.drain(TURN, 0, (16, 32))
    (hazard,) = machine.hazards()
    assert (hazard["kind"], hazard["space"]) == ("race", "l0a")


RATES = {
    "MMAD_ISSUE": 8,
    "MMAD_LATENCY": 52,
    "FIXPIPE_ELEMENTS_PER_CYCLE": 20,
    "FIXPIPE_LATENCY": 26,
}
RATES |= {"GM_BURST_CYCLES": 20, "GM_ROW_CYCLES": 1, "GM_WRITE_BYTES_PER_CYCLE": 80}


def timed(units, rng, tiles=6):
    machine = Tile(128, 128, 128, rng, tiles=tiles, constants=RATES)
    for tile in range(tiles):
        if tile and not units:
            machine.wait("FIX_M")
        machine.mmad(TURN if units else 0, init=1)
        if not units:
            machine.sync("M_FIX")
        machine.drain(TURN if units else 0, tile)
        if not units and tile + 1 < tiles:
            machine.set("FIX_M")
    report = machine.clean()
    assert np.array_equal(machine.result, np.stack([machine.want] * tiles))
    return report


def test_units_overlap_what_events_put_one_after_the_other(rng):
    by_units, by_events = timed(True, rng), timed(False, rng)
    assert by_units["cycles"] < by_events["cycles"]
    busy = by_units["cores"][0]["busy"]
    assert by_units["cycles"] >= max(busy.values())
    assert busy == by_events["cores"][0]["busy"] | {
        pipe: cycles for pipe, cycles in busy.items() if pipe == "S"
    }


def test_the_drain_ends_after_the_product(rng):
    machine = Tile(128, 128, 128, rng, constants=RATES)
    machine.mmad(TURN, init=1)
    machine.drain(TURN)
    trace = machine.clean(trace=True)["trace"]
    spans = {pipe: (start, end) for _, pipe, start, end, _ in trace}
    assert spans["M"][0] < spans["FIX"][0] < spans["M"][1] < spans["FIX"][1]

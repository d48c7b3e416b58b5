# SPDX-License-Identifier: Apache-2.0
"""The chip descriptions are complete, fit the instruction rows and make physical sense."""

from __future__ import annotations

import pytest

from tvm_ascend.hw import CHIPS, DEFAULT_CHIP
from tvm_ascend.hw.chip import interpolate
from tvm_ascend.isa import gen
from tvm_ascend.isa.instr import Space

chips = pytest.mark.parametrize("chip", CHIPS.values(), ids=list(CHIPS))
core_types = pytest.mark.parametrize("core_type", ["AIC", "AIV"])


def test_the_six_chips_are_there():
    assert list(CHIPS) == ["910b1", "910b2", "910b3", "910b4", "910b4-1", "a3"]
    assert DEFAULT_CHIP in CHIPS
    assert all(name == chip.name for name, chip in CHIPS.items())


@chips
@core_types
def test_every_constant_of_a_program_is_supplied(chip, core_type):
    assert set(gen.all_constants()) <= set(chip.timing_constants(core_type, 1))


@chips
def test_every_timing_key_of_a_program_is_known(chip):
    assert set(gen.timing_keys()) == set(chip.vector)


@chips
@core_types
def test_more_cores_move_no_less_in_total(chip, core_type):
    rate = "GM_READ_BYTES_PER_CYCLE"
    one = chip.timing_constants(core_type, 1)[rate]
    full = chip.cores(core_type)
    assert one < full * chip.timing_constants(core_type, full)[rate]


@chips
@core_types
def test_every_constant_is_a_positive_number(chip, core_type):
    constants = chip.timing_constants(core_type, chip.cores(core_type))
    warm = constants.pop("L2_WARM_BYTES")  # none is possible
    assert warm >= 0
    assert all(value > 0 for value in constants.values())


@chips
@core_types
def test_longer_code_and_more_cores_start_later(chip, core_type):
    def start(cores, statements):
        return chip.timing_constants(core_type, cores, statements)["CORE_START_CYCLES"]

    assert start(1, 0) == start(1, chip.first_statements) < start(1, 50) < start(20, 50)


@chips
def test_capacities_are_whole_fractals_and_leave_the_reserved_bytes(chip):
    assert chip.capacity("ub") == chip.ub_bytes - chip.ub_reserved_bytes
    for space in ("ub", "l1", "l0a", "l0b", "l0c"):
        assert chip.capacity(space) % chip.fractal_bytes == 0
        assert chip.capacity(Space(space)) == chip.capacity(space)


@chips
def test_two_vector_cores_for_each_cube_core(chip):
    assert chip.cores("AIV") == 2 * chip.cores("AIC")


def test_interpolation_is_linear_between_points_and_flat_outside():
    curve = ((1, 10.0), (3, 20.0))
    assert [interpolate(curve, x) for x in (0, 1, 2, 3, 9)] == [10.0, 10.0, 15.0, 20.0, 20.0]

# SPDX-License-Identifier: Apache-2.0
"""Bounds, alignment, undefined bytes, overlap, parameter ranges: each caught, each with a twin."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import SPACES, At, Gm, Machine, ub


def only(machine):
    (hazard,) = machine.hazards()
    return hazard


def with_array(elements=64, dtype="float32"):
    machine = Machine()
    machine.tensor("array", np.zeros(elements, dtype))
    return machine


@pytest.mark.parametrize(("count", "inside"), [(64, True), (65, False)])
def test_the_end_of_ub(count, inside):
    machine = Machine()
    machine.issue("duplicate", "float32", ub(SPACES["ub"] - 256, "tile"), 1.0, count)
    if inside:
        machine.clean()
        return
    hazard = only(machine)
    assert hazard["kind"] == "out_of_bounds"
    assert hazard["space"] == "ub"
    assert hazard["bytes"] == [SPACES["ub"] - 256, SPACES["ub"] + 4]
    assert str(SPACES["ub"]) in hazard["message"]


@pytest.mark.parametrize(
    ("byte", "count", "inside"), [(256, 64, True), (256, 65, False), (252, 8, False)]
)
def test_the_ends_of_a_buffer(byte, count, inside):
    machine = Machine(program={"buffers": {"tile": {"address": 256, "bytes": 256}}})
    machine.issue("duplicate", "float32", ub(0, "other"), 1.0, 64)
    machine.issue("set_value", "float32", ub(byte, "tile"), 1.0)
    machine.barrier()
    machine.issue("duplicate", "float32", ub(byte // 32 * 32, "tile"), 1.0, count)
    if inside:
        machine.clean()
        return
    hazard = machine.hazards()[0]
    assert (hazard["kind"], hazard["space"]) == ("out_of_bounds", "ub")
    assert "outside `tile` at ub bytes [256, 512)" in hazard["message"]


@pytest.mark.parametrize(("element", "count"), [(-1, 4), (0, 65), (64, 1)])
def test_outside_an_argument(element, count):
    machine = with_array()
    machine.load(ub(0), Gm("array", element), count, "float32")
    hazard = only(machine)
    assert hazard["kind"] == "out_of_bounds"
    assert "`array` of 256 bytes" in hazard["message"]
    assert hazard["bytes"] == [4 * element, 4 * (element + count)]


def test_an_address_in_no_argument():
    machine = with_array()
    machine.load(ub(0), Gm("array"), 4, "float32")
    machine.sites[0]["args"][1] = {"c": 4096}
    machine.sites[0]["operands"][1] = {"space": "gm"}
    assert only(machine)["kind"] == "out_of_bounds"


def test_an_out_of_bounds_store_leaves_memory_alone():
    backing = np.zeros(128, "float32")
    machine = Machine()
    machine.tensor("array", backing[:64])
    machine.issue("duplicate", "float32", ub(0), 1.0, 128)
    machine.sync("V_MTE3")
    machine.store(Gm("array"), ub(0), 128, "float32")
    assert only(machine)["kind"] == "out_of_bounds"
    assert not backing.any()


@pytest.mark.parametrize(
    ("key", "dtype", "args"),
    [
        ("duplicate", "float32", (ub(16), 1.0, 8)),
        ("fill_l1", "float16", (At("l1", 16), 1, 1, 0, 0.0)),
        ("load_data_2d", "float16", (At("l0a", 256), At("l1", 0), 0, 1, 1, 0, 0)),
        ("load_data_2d", "float16", (At("l0a", 0), At("l1", 16), 0, 1, 1, 0, 0)),
        ("set_value", "float32", (ub(2), 1.0)),
        (
            "mmad",
            ("float32", "float16", "float16"),
            (At("l0c", 512), At("l0a", 0), At("l0b", 0), 16, 16, 16, 1),
        ),
    ],
)
def test_misaligned_operands(key, dtype, args):
    spaces = {arg.space for arg in args if isinstance(arg, At)}
    machine = Machine("AIV" if "ub" in spaces else "AIC")
    machine.issue(key, dtype, *args)
    hazard = machine.hazards()[0]
    assert hazard["kind"] == "misaligned"
    assert "multiple of" in hazard["message"]


def test_gm_needs_only_element_alignment():
    machine = with_array()
    machine.load(ub(0), Gm("array", 1), 9, "float32")
    machine.clean()


def test_reading_what_nobody_wrote():
    machine = Machine()
    machine.issue("adds", "float32", ub(0), ub(512, "x"), 1.0, 64)
    hazard = only(machine)
    assert hazard["kind"] == "poison"
    assert hazard["bytes"] == [512, 513]
    assert "nobody wrote it" in hazard["message"]
    assert "`x`" in hazard["message"]


@pytest.mark.parametrize(("count", "clean"), [(5, True), (6, False)])
def test_reading_the_padding_of_a_copy_names_the_copy(count, clean):
    machine = with_array()
    load = machine.load(ub(0), Gm("array"), 5, "float32")
    machine.sync("MTE2_V")
    machine.issue("adds", "float32", ub(512), ub(0), 1.0, count)
    if clean:
        machine.clean()
        return
    hazard = only(machine)
    assert hazard["kind"] == "poison"
    assert hazard["first"]["site"] == load
    assert "left it as padding" in hazard["message"]
    assert hazard["bytes"] == [20, 21]


def test_masked_lanes_keep_their_state():
    machine = Machine()
    machine.issue("duplicate", "float32", ub(256), 1.0, 64)
    machine.issue("duplicate", "float32", ub(512), 1.0, 64)
    machine.barrier("V")
    machine.issue("add_repeat", "float32", ub(0), ub(256), ub(512), 60, 1, 1, 1, 1, 8, 8, 8)
    machine.barrier("V")
    machine.issue("adds", "float32", ub(1024), ub(0), 1.0, 60)
    machine.issue("adds", "float32", ub(2048), ub(0), 1.0, 61)
    assert only(machine)["bytes"] == [240, 241]


def test_parameters_outside_the_range_of_the_row():
    machine = Machine()
    machine.issue("duplicate", "float32", ub(0), 1.0, -1)
    hazard = only(machine)
    assert hazard["kind"] == "parameter"
    assert "count = -1" in hazard["message"]


@pytest.mark.parametrize(
    ("key", "args"),
    [
        ("add_repeat", (ub(0), ub(512), ub(1024), 65, 1, 1, 1, 1, 8, 8, 8)),
        ("whole_reduce_sum", (ub(0), ub(512), 65, 1, 1, 1, 8)),
    ],
)
def test_a_mask_wider_than_the_dtype(key, args):
    machine = Machine()
    machine.issue(key, "float32", *args)
    hazard = only(machine)
    assert hazard["kind"] == "parameter"
    assert "64 lanes of float32" in hazard["message"]


def test_copies_of_part_of_an_element():
    machine = with_array()
    machine.issue("data_copy_pad_in", "float32", ub(0), Gm("array"), 1, 6, 0, 0, 0, 0, 0, 0.0)
    assert only(machine)["kind"] == "parameter"


def test_a_transpose_of_bytes():
    machine = Machine("AIC")
    machine.issue("load_data_2d", "int8", At("l0a", 0), At("l1", 0), 0, 1, 1, 0, 1)
    assert only(machine)["kind"] == "parameter"


def test_an_instruction_of_the_other_core_kind():
    machine = Machine("AIC")
    machine.issue("duplicate", "float32", ub(0), 1.0, 8)
    hazard = only(machine)
    assert hazard["kind"] == "core"
    assert "AIC" in hazard["message"]


def filled(*bytes_):
    machine = Machine()
    for byte in bytes_:
        machine.issue("duplicate", "float32", ub(byte), 1.0, 256)
        machine.barrier("V")
    return machine


@pytest.mark.parametrize(
    ("dst", "legal"),
    [(4096, True), (5120, True), (4096 + 32, False), (4096 - 32, False), (3840, True)],
)
def test_overlap_of_the_count_form(dst, legal):
    machine = filled(4096, 3072)
    machine.issue("adds", "float32", ub(dst), ub(4096), 1.0, 256)
    if legal:
        machine.clean()
    else:
        assert only(machine)["kind"] == "overlap"


@pytest.mark.parametrize(
    ("dst", "dst_rep", "src1_rep", "legal"),
    [
        (0, 8, 8, True),  # in place
        (256, 8, 8, False),  # a repeat reads what the one before wrote
        (32, 8, 8, False),  # shifted by a block inside a repeat
        (1024, 0, 0, True),  # accumulates into the last source
        (2048, 8, 8, True),
    ],
)
def test_overlap_of_the_repeat_form(dst, dst_rep, src1_rep, legal):
    machine = filled(0, 1024, 2048)
    args = (ub(dst), ub(0), ub(1024), 64, 3, 1, 1, 1, dst_rep, 8, src1_rep)
    machine.issue("add_repeat", "float32", *args)
    kinds = [h["kind"] for h in machine.hazards()]
    assert kinds == ([] if legal else ["overlap"])


def test_division_does_not_accumulate():
    machine = filled(0, 1024)
    machine.issue("div_repeat", "float32", ub(1024), ub(0), ub(1024), 64, 3, 1, 1, 1, 0, 8, 0)
    assert only(machine)["kind"] == "overlap"


def test_casts_that_widen_in_place_overlap():
    machine = filled(0)
    machine.issue("cast", ("float32", "float16"), ub(0), ub(0), "CAST_NONE", 64)
    assert only(machine)["kind"] == "overlap"


def test_without_hazards_only_what_would_break_the_simulator_is_checked():
    machine = Machine()
    machine.issue("adds", "float32", ub(0), ub(512), 1.0, 64)
    machine.issue("adds", "float32", ub(1024), ub(0), 1.0, 64)
    assert machine.hazards(hazards=False) == []
    machine.issue("adds", "float32", ub(SPACES["ub"]), ub(0), 1.0, 64)
    assert [h["kind"] for h in machine.hazards(hazards=False)] == ["out_of_bounds"]


def test_the_number_of_hazards_is_bounded():
    machine = Machine()
    for i in range(10):
        machine.issue("adds", "float32", ub(0), ub(4096 + 512 * i), 1.0, 64)
        machine.barrier("V")
    assert len(machine.hazards(max_hazards=3)) == 3


def test_a_hazard_in_a_loop_is_listed_once():
    machine = Machine()
    site = machine.issue("adds", "float32", ub(0), ub(4096), 1.0, 64)
    machine.blocks[0] = [[site]] * 5
    assert [h["kind"] for h in machine.hazards()] == ["poison", "race"]

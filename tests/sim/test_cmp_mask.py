# SPDX-License-Identifier: Apache-2.0
"""Selections with strides and masks, and what goes through CmpMask, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import Machine, ub
from sim.test_numerics_compare import MASK_TYPES, OPERATORS, sample

BITS = [0x8000_0000_0000_0001, 0x5555_0000_FFFF_1237]
FLOATS = ["float16", "float32"]
SIZE = 2048  # elements of each area
OUT, SRC0, SRC1, SEL = ub(0), ub(16384), ub(32768), ub(49152)


def chosen_by_bits(lanes):
    """Whether each lane is in BITS."""
    return np.array([bool(BITS[i // 64] >> i % 64 & 1) for i in range(lanes)])


def words(*masks):
    return [int(np.array(m, "uint64").view("int64")) for m in masks]


class Setting:
    """Two sources, the bits of a selection and what dst held, in UB."""

    def __init__(self, dtype, rng):
        self.dtype, self.lanes = dtype, 256 // np.dtype(dtype).itemsize
        self.a, self.b = sample(rng, dtype, SIZE), sample(rng, dtype, SIZE)
        self.out = sample(rng, dtype, SIZE)
        self.sel = rng.integers(0, 256, 64).astype("uint8")
        self.want = self.out.copy()
        self.machine = Machine()
        for name, place in (("out", OUT), ("a", SRC0), ("b", SRC1)):
            array = self.machine.tensor(name, getattr(self, name))
            self.machine.load(place, array, SIZE, dtype)
        self.machine.load(SEL, self.machine.tensor("sel", self.sel), 64, "uint8")
        self.machine.sync("MTE2_V")

    def at(self, repeat, lane, blk, rep):
        block = 32 // np.dtype(self.dtype).itemsize
        return (repeat * rep + lane // block * blk) * block + lane % block

    def expect(self, repeats, lane, choose):
        """dst with blocks 2 and repeats 17 apart, src0 as it lies, src1 one block for all."""
        for r in range(repeats):
            a = self.a[self.at(r, lane, 1, 8)]
            b = self.b[self.at(r, lane, 0, 1)]
            self.want[self.at(r, lane, 2, 17)] = np.where(choose(r, lane), a, b)

    def chosen(self, repeat, lane, shared):
        bits = np.unpackbits(self.sel, bitorder="little").astype(bool)
        return bits[(0 if shared else repeat * self.lanes) + lane]

    def finish(self):
        self.machine.sync("V_MTE3")
        self.machine.store(self.machine.tensor("out", self.out), OUT, SIZE, self.dtype)
        self.machine.barrier()
        self.machine.clean()
        assert self.out.tobytes() == self.want.tobytes()


TENSORS = (2, 1, 0, 17, 8, 1)  # strides of dst, src0, src1: blocks, then repeats
SCALAR = (2, 1, 17, 8)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("bits", [False, True])
@pytest.mark.parametrize("mode", ["VSEL_CMPMASK_SPR", "VSEL_TENSOR_TENSOR_MODE"])
@pytest.mark.parametrize("mask_type", MASK_TYPES)
def test_select_repeats(dtype, bits, mode, mask_type, rng):
    run = Setting(dtype, rng)
    lane = np.arange(run.lanes - 5)
    if bits:
        lane = np.flatnonzero(chosen_by_bits(run.lanes))
    shared = mode == "VSEL_CMPMASK_SPR"
    run.expect(3, lane, lambda r, x: run.chosen(r, x, shared))
    key, mask = ("select_bits", words(*BITS)) if bits else ("select_repeat", [run.lanes - 5])
    run.machine.issue(key, (dtype, mask_type), OUT, SEL, SRC0, SRC1, mode, *mask, 3, *TENSORS)
    run.finish()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("bits", [False, True])
def test_select_scalar_repeats(dtype, bits, rng):
    run = Setting(dtype, rng)
    run.b[:] = 2.5
    lane = np.arange(run.lanes - 5)
    if bits:
        lane = np.flatnonzero(chosen_by_bits(run.lanes))
    run.expect(3, lane, lambda r, x: run.chosen(r, x, False))
    key, mask = (
        ("select_scalar_bits", words(*BITS)) if bits else ("select_scalar_repeat", [run.lanes - 5])
    )
    mode = "VSEL_TENSOR_SCALAR_MODE"
    run.machine.issue(key, (dtype, "uint8"), OUT, SEL, SRC0, 2.5, mode, *mask, 3, *SCALAR)
    run.finish()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mode", list(OPERATORS))
@pytest.mark.parametrize("form", ["repeat", "bits", "preset"])
def test_compare_then_select(dtype, mode, form, rng):
    """Lanes that the comparison leaves out take src1, in every repeat of the selection."""
    run = Setting(dtype, rng)
    lane = np.arange(run.lanes)
    compared = lane < run.lanes - 5
    if form != "repeat":
        compared = chosen_by_bits(run.lanes)
    result = OPERATORS[mode](run.a[run.at(0, lane, 2, 8)], run.b[run.at(0, lane, 1, 8)])
    run.expect(3, lane, lambda _, x: (result & compared)[x])
    masks = {"repeat": [run.lanes - 5], "bits": words(*BITS), "preset": []}[form]
    run.machine.issue("set_vector_mask", None, "float16", *reversed(words(*BITS)))
    run.machine.issue(f"compare_mask_{form}", dtype, SRC0, SRC1, mode, *masks, 2, 1)
    run.machine.issue("reset_mask", None)
    run.machine.issue("select_cmp_mask", dtype, OUT, SRC0, SRC1, 3, *TENSORS)
    run.finish()


@pytest.mark.parametrize("dtype", FLOATS)
def test_select_under_the_vector_mask(dtype, rng):
    run = Setting(dtype, rng)
    lane = np.flatnonzero(chosen_by_bits(run.lanes))
    run.expect(2, lane, lambda _, x: run.chosen(0, x, True))
    run.machine.issue("set_cmp_mask", "uint8", SEL)
    run.machine.issue("set_vector_mask", None, "float16", *reversed(words(*BITS)))
    run.machine.issue("select_cmp_mask", dtype, OUT, SRC0, SRC1, 2, *TENSORS)
    run.finish()


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_scalar_may_be_in_cmp_mask(dtype, rng):
    run = Setting(dtype, rng)
    run.machine.issue("set_cmp_mask", dtype, SRC1)
    scalar = run.b[0]
    run.b = np.full_like(run.b, scalar)
    run.expect(3, np.arange(run.lanes), lambda r, x: run.chosen(r, x, False))
    run.machine.issue("select_cmp_mask_scalar", (dtype, "uint8"), OUT, SEL, SRC0, 3, *SCALAR)
    run.finish()


def test_cmp_mask_to_ub_and_back(rng):
    data, out = rng.integers(0, 256, 16).astype("uint8"), np.zeros(16, "uint8")
    machine = Machine()
    machine.load(ub(0), machine.tensor("data", data), 16, "uint8")
    machine.sync("MTE2_V")
    machine.issue("set_cmp_mask", "uint8", ub(0))
    machine.issue("get_cmp_mask", "uint64", ub(64))
    machine.sync("V_MTE3")
    machine.store(machine.tensor("out", out), ub(64), 16, "uint8")
    machine.barrier()
    machine.clean()
    assert np.array_equal(out, data)


def test_the_bits_of_a_comparison_are_stored(rng):
    a, out = sample(rng, "float32", 64), np.zeros(16, "uint8")
    machine = Machine()
    machine.load(ub(0), machine.tensor("a", a), 64, "float32")
    machine.issue("duplicate", "float32", ub(256), 0.0, 64)
    machine.sync("MTE2_V")
    machine.barrier("V")
    machine.issue("compare_mask_repeat", "float32", ub(0), ub(256), "GT", 64, 1, 1)
    machine.issue("get_cmp_mask", "uint8", ub(512))
    machine.sync("V_MTE3")
    machine.store(machine.tensor("out", out), ub(512), 16, "uint8")
    machine.barrier()
    machine.clean()
    assert np.array_equal(np.unpackbits(out, bitorder="little")[:64], a > 0)
    assert not out[8:].any()


@pytest.mark.parametrize("overwritten", [False, True])
def test_a_cmp_mask_without_a_comparison_is_refused(overwritten):
    machine = Machine()
    machine.issue("duplicate", "float32", ub(0), 1.0, 256)
    machine.barrier("V")
    places = (ub(4096), ub(0), ub(256))
    if overwritten:
        machine.issue("compare_mask_repeat", "float32", ub(0), ub(256), "GT", 64, 1, 1)
        machine.issue("select_cmp_mask", "float32", *places, 1, 1, 1, 1, 8, 8, 8)
        machine.barrier("V")
        machine.issue(
            *("select", ("float32", "uint8"), ub(8192), ub(512), ub(0), ub(256)),
            *("VSEL_CMPMASK_SPR", 64),
        )
    machine.issue("select_cmp_mask", "float32", *places, 1, 1, 1, 1, 8, 8, 8)
    (hazard,) = machine.hazards()
    assert "holds no comparison" in hazard["message"]


def test_bits_beside_dst_do_not_overlap_it():
    machine = Machine()
    places = (ub(0), ub(256), ub(1024), ub(2048))
    args = ("VSEL_TENSOR_TENSOR_MODE", 64, 1, 1, 1, 1, 8, 8, 8)
    machine.issue("select_repeat", ("float32", "uint8"), *places, *args)
    machine.issue("select_repeat", ("float32", "uint8"), places[0], ub(224), *places[2:], *args)
    apart, under = machine.inspect()
    assert not apart["fault"]
    assert "sel_mask overlaps dst" in under["fault"]

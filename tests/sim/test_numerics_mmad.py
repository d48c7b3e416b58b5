# SPDX-License-Identifier: Apache-2.0
"""Mmad of float32 and HF32, with biases, padded rows of fractals, and of one row."""

from __future__ import annotations

import numpy as np
import pytest
from sim.cube_machine import ACC, CubeMachine, lanes, numpy_dtype, up, zn, zz
from sim.machine import At

from tvm_ascend.hw import CHIPS, DEFAULT_CHIP
from tvm_ascend.isa import formula
from tvm_ascend.isa.instr import Space
from tvm_ascend.isa.table import TABLE

DTYPES = [d[1] for d in TABLE["mmad_bias"].dtypes]


def integers(rng, dtype, *shape):
    return rng.integers(-8, 9, shape).astype(numpy_dtype(dtype))


def loaded(dtype, a, b, columns=0):
    machine = CubeMachine()
    machine.into_l0("l0a", "a", zz(a, columns), 0)
    machine.into_l0("l0b", "b", zn(b), 262144)
    return machine


@pytest.mark.parametrize("shape", [(16, 16, 8), (32, 48, 40), (17, 33, 21), (5, 3, 7)])
def test_float32_products_are_exact_on_integers(shape, rng):
    m, n, k = shape
    a, b = integers(rng, "float32", m, k), integers(rng, "float32", k, n)
    machine = loaded("float32", a, b)
    machine.multiply("float32", m, n, k)
    got = machine.out("c", m, n)
    machine.clean()
    assert np.array_equal(got, a @ b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(16, 16, 32), (20, 40, 64)])
def test_biases_start_the_sum(dtype, shape, rng):
    m, n, k = shape
    acc = ACC.get(dtype, "float32")
    a, b = integers(rng, dtype, m, k), integers(rng, dtype, k, n)
    bias = integers(rng, acc, n)
    machine = loaded(dtype, a, b)
    padded = np.zeros(up(n, 16), acc)
    padded[:n] = bias
    machine.into_l1("bias", padded, 131072)
    machine.sync("MTE2_MTE1", 4)
    machine.issue("data_copy_bt", acc, At("bt", 64), At("l1", 131072), 1, up(n, 16) // 16, 0, 0)
    machine.sync("MTE1_M", 5)
    operands = (At("l0c", 0), At("l0a", 0), At("l0b", 0), At("bt", 64))
    machine.issue("mmad_bias", (acc, dtype, dtype, acc), *operands, m, n, k, 0)
    got = machine.out("c", m, n, acc)
    machine.clean()
    assert np.array_equal(got, a.astype(acc) @ b.astype(acc) + bias)


def test_half_biases_are_widened(rng):
    a, b = integers(rng, "float16", 16, 16), integers(rng, "float16", 16, 32)
    bias = rng.normal(size=32).astype("float16")
    machine = loaded("float16", a, b)
    machine.into_l1("bias", bias, 131072)
    machine.sync("MTE2_MTE1", 4)
    dtypes = ("float32", "float16")
    machine.issue("data_copy_bt_cast", dtypes, At("bt", 0), At("l1", 131072), 2, 1, 0, 0)
    machine.sync("MTE1_M", 5)
    operands = (At("l0c", 0), At("l0a", 0), At("l0b", 0), At("bt", 0))
    machine.issue("mmad_bias", ("float32", *("float16",) * 2, "float32"), *operands, 16, 32, 16, 0)
    got = machine.out("c", 16, 32)
    machine.clean()
    assert np.array_equal(got, a.astype("float32") @ b.astype("float32") + bias.astype("float32"))


def test_biases_nobody_wrote(rng):
    machine = loaded("float16", integers(rng, "float16", 16, 16), integers(rng, "float16", 16, 16))
    machine.sync("MTE1_M", 5)
    operands = (At("l0c", 0), At("l0a", 0), At("l0b", 0), At("bt", 0))
    machine.issue("mmad_bias", ("float32", *("float16",) * 2, "float32"), *operands, 16, 16, 16, 0)
    assert [(h["kind"], h["space"]) for h in machine.hazards()] == [("poison", "bt")]


@pytest.mark.parametrize("k", [8, 24, 36, 48])
def test_rows_of_fractals_padded_to_an_even_number(k, rng):
    a, b = integers(rng, "float32", 40, k), integers(rng, "float32", k, 16)
    machine = loaded("float32", a, b, columns=up(k, 16))
    machine.sync("MTE1_M", 5)
    operands = (At("l0c", 0), At("l0a", 0), At("l0b", 0))
    machine.issue("mmad_aligned", ("float32",) * 3, *operands, 40, 16, k, 1, 1)
    got = machine.out("c", 40, 16)
    machine.clean()
    assert np.array_equal(got, a @ b)


def hf32(x, to_zero):
    """11 bits of mantissa, to the nearest."""
    bits = x.view("uint32").astype("uint64")
    odd = 0 if to_zero else bits >> np.uint64(12) & np.uint64(1)
    return ((bits + 0x7FF + odd) >> np.uint64(12) << np.uint64(12)).astype("uint32").view("float32")


@pytest.mark.parametrize("to_zero", [0, 1])
def test_hf32_rounds_the_operands(to_zero, rng):
    a, b = (rng.normal(size=s).astype("float32") for s in ((16, 8), (8, 16)))
    a[0, :4] = np.array([0x3F800800, 0x3F801800, 0x3F8007FF, 0x3F800801], "uint32").view("float32")
    machine = loaded("float32", a, b)
    machine.issue("set_hf32_mode", None, 1)
    machine.issue("set_hf32_trans_mode", None, to_zero)
    machine.multiply("float32", 16, 16, 8)
    got = machine.out("c", 16, 16)
    machine.clean()
    want = np.zeros((16, 16), "float32")
    a, b = hf32(a, to_zero), hf32(b, to_zero)
    for i in range(8):
        want += a[:, i : i + 1] * b[i]
    assert np.array_equal(got, want)


def test_hf32_ends_when_switched_off(rng):
    a, b = (rng.normal(size=s).astype("float32") for s in ((16, 8), (8, 16)))
    machine = loaded("float32", a, b)
    machine.issue("set_hf32_mode", None, 1)
    machine.issue("set_hf32_mode", None, 0)
    machine.multiply("float32", 16, 16, 8)
    got = machine.out("c", 16, 16)
    machine.clean()
    want = np.zeros((16, 16), "float32")
    for i in range(8):
        want += a[:, i : i + 1] * b[i]
    assert np.array_equal(got, want)


@pytest.mark.parametrize(("enable", "factor"), [(0, 2), (1, 1)])
def test_hf32_doubles_the_speed(enable, factor, rng):
    machine = loaded("float32", integers(rng, "float32", 64, 64), integers(rng, "float32", 64, 64))
    machine.issue("set_hf32_mode", None, enable)
    machine.multiply("float32", 64, 64, 64)
    trace = machine.clean(trace=True)["trace"]
    (start, end) = next(t[2:4] for t in trace if t[1] == "M")
    assert end - start == 7 + 4 * 4 * 8 * factor
    row, chip = TABLE["mmad"], CHIPS[DEFAULT_CHIP]
    cycles = formula.cycles(
        row,
        ("float32",) * 3,
        (Space.L0C, Space.L0A, Space.L0B),
        {"m": 64, "n": 64, "k": 64, "init": 1},
        chip.timing_constants("AIC", 1),
        {},
        {"hf32": enable},
    )
    assert cycles == 8 + 128 * factor


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_row_is_a_plain_vector(dtype, rng):
    k, n = 4 * lanes(dtype), 20
    a, b = integers(rng, dtype, k), integers(rng, dtype, k, n)
    machine = CubeMachine()
    vector = np.zeros(512 // a.itemsize, a.dtype)
    vector[:k] = a
    machine.into_l0("l0a", "a", vector, 0)
    machine.into_l0("l0b", "b", zn(b), 262144)
    machine.multiply(dtype, 1, n, k)
    got = machine.out("c", 1, n, ACC.get(dtype, "float32"))
    machine.clean()
    assert np.array_equal(got[0], a.astype(got.dtype) @ b.astype(got.dtype))

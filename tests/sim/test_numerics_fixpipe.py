# SPDX-License-Identifier: Apache-2.0
"""Ways out of L0C against numpy: layouts, quantisation, relu, matrices, scales by column."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from sim.cube_machine import CubeMachine, numpy_dtype, up, zn, zz
from sim.machine import At, Gm

from tvm_ascend.isa.table import TABLE

PLAIN = {"float16": "F322F16", "bfloat16": "F322BF16", "float32": "NoQuant", "int32": "NoQuant"}
SCALED = {
    ("float16", "int32"): "DEQF16",
    ("int8", "int32"): "REQ8",
    ("int8", "float32"): "QF322B8_PRE",
}


def mode(dst, src, vector=False):
    narrow = "int8" if dst == "uint8" else dst
    name = SCALED.get((narrow, src)) or PLAIN[dst]
    return f"V{name}" if vector else name


def word(scale, *, offset=0, signed=True, shift=0):
    """A quantisation word; a shift of 0 is none."""
    (bits,) = struct.unpack("<I", struct.pack("<f", scale))
    shifting = (shift - 1 & 0xF) << 32 | 1 << 36 if shift else 0
    return bits | shifting | (offset & 0x1FF) << 37 | int(signed) << 46


def quantised(x, scale, *, offset=0, signed=True, shift=0, relu=False, dst="int8"):
    """The vendor's model of one element for each of an array."""
    if relu:
        x = np.maximum(x, 0)
    if shift and x.dtype == np.int32:
        x = np.clip(x >> shift, -32768, 32767)
    factor = np.asarray(scale, "float32").view("uint32") & np.uint32(0xFFFFE000)
    product = x.astype("float32") * factor.view("float32")
    if dst == "float16":
        return product.astype("float16")
    whole = np.rint(np.clip(product, -256, 255)).astype("int32") + offset
    low, high = (-128, 127) if signed else (0, 255)
    return np.clip(whole, low, high).astype(dst)


def with_result(values, at=0):
    """A machine whose L0C holds a matrix: the product of its 8-bit parts and a unit matrix."""
    m, n = values.shape
    machine = CubeMachine()
    if values.dtype == np.int32:
        high, low = values // 64, values % 64
        machine.into_l0("l0a", f"a{at}", zz(np.hstack([high, low]).astype("int8")), 0)
        eye = np.eye(n, dtype="int8")
        machine.into_l0("l0b", f"b{at}", zn(np.vstack([eye * 64, eye])), 262144)
        machine.multiply("int8", m, n, 2 * n)
    else:
        machine.into_l0("l0a", f"a{at}", zz(values), 0)
        machine.into_l0("l0b", f"b{at}", zn(np.eye(n, dtype="float32")), 262144)
        machine.multiply("float32", m, n, n)
    machine.sync("M_FIX", 5)
    return machine


def matrix(rng, src, m, n):
    if src == "int32":
        return rng.integers(-4000, 4000, (m, n)).astype("int32")
    return (rng.normal(size=(m, n)) * 40).astype("float32")


@pytest.mark.parametrize(("dst", "src"), TABLE["fixpipe_nd"].dtypes)
@pytest.mark.parametrize("relu", [0, 1])
@pytest.mark.parametrize("shape", [(16, 32), (20, 27)])
def test_rows_with_one_scale(dst, src, relu, shape, rng):
    m, n = shape
    values = matrix(rng, src, m, n)
    machine = with_result(values)
    out = np.zeros((m, n + 3), numpy_dtype(dst))
    machine.tensor("out", out)
    signed, scale = dst != "uint8", 0.0371
    machine.issue(
        "fixpipe_nd", (dst, src), Gm("out"), At("l0c", 0), n, m, up(m, 16), n + 3, relu,
        mode(dst, src), word(scale, offset=-3, signed=signed), 1, 0, 0,
    )  # fmt: skip
    machine.clean()
    if dst in PLAIN and (dst, src) != ("float16", "int32"):
        want = (np.maximum(values, 0) if relu else values).astype(numpy_dtype(dst))
    else:
        want = quantised(values, scale, offset=-3, signed=signed, relu=relu, dst=dst)
    assert np.array_equal(out[:, :n], want)
    assert not out[:, n:].any()


@pytest.mark.parametrize("shift", [1, 4, 16])
def test_integers_shifted_before_the_scale(shift, rng):
    values = matrix(rng, "int32", 16, 16)
    machine = with_result(values)
    out = np.zeros((16, 16), "int8")
    machine.tensor("out", out)
    machine.issue(
        "fixpipe_nd", ("int8", "int32"), Gm("out"), At("l0c", 0), 16, 16, 16, 16, 0, "REQ8",
        word(0.5, shift=shift), 1, 0, 0,
    )  # fmt: skip
    machine.clean()
    assert np.array_equal(out, quantised(values, 0.5, shift=shift))


def test_bounds_are_kept(rng):
    values = np.array([[3e4, -3e4, 127.5, -128.5] * 4] * 16, "float32")
    machine = with_result(values)
    out = np.zeros((16, 16), "uint8")
    machine.tensor("out", out)
    machine.issue(
        "fixpipe_nd", ("uint8", "float32"), Gm("out"), At("l0c", 0), 16, 16, 16, 16, 0,
        "QF322B8_PRE", word(1.0, signed=False, offset=255), 1, 0, 0,
    )  # fmt: skip
    machine.clean()
    assert out[0, :4].tolist() == [255, 0, 255, 127]


@pytest.mark.parametrize(("dst", "src"), TABLE["fixpipe_nd_vector"].dtypes)
@pytest.mark.parametrize("form", ["nd", "nz", "l1"])
def test_a_scale_for_each_column(dst, src, form, rng):
    m, n = 16, 32
    values = matrix(rng, src, m, n)
    scales = rng.uniform(0.01, 0.1, n).astype("float32")
    signed = dst != "uint8"
    words = np.array([word(float(s), signed=signed) for s in scales], "uint64")
    machine = with_result(values)
    machine.into_l1("words", words, 131072)
    machine.sync("MTE2_FIX", 4)
    out = np.zeros(m * n, numpy_dtype(dst))
    machine.tensor("out", out)
    place = At("l1", 0) if form == "l1" else Gm("out")
    size, more = out.itemsize, {"nd": (1, 0, 0), "nz": (0,), "l1": ()}[form]
    pitch = n if form == "nd" else m * (32 if size == 1 else 16) * size // 32
    machine.issue(
        f"fixpipe_{form}_vector", (dst, src), place, At("l0c", 0), At("l1", 131072), n, m, 16,
        pitch, 0, mode(dst, src, True), *more,
    )  # fmt: skip
    if form == "l1":
        machine.sync("FIX_MTE3", 4)
        machine.issue("data_copy_l1_out_count", dst, Gm("out"), At("l1", 0), m * n)
    machine.clean()
    want = quantised(values, scales, signed=signed, dst=dst)
    assert np.array_equal(out, want.reshape(-1) if form == "nd" else columns(want))


def columns(result, split=False):
    """The NZ that Fixpipe writes: 16 columns together, 32 of 8 bits, 8 when split."""
    width = 32 if result.itemsize == 1 else 8 if split else 16
    parts = [result[:, i : i + width] for i in range(0, result.shape[1], width)]
    return np.concatenate([p.reshape(-1) for p in parts])


@pytest.mark.parametrize(("dst", "src"), TABLE["fixpipe_nz"].dtypes)
def test_columns_of_fractals(dst, src, rng):
    m, n = 32, 64
    values = matrix(rng, src, m, n)
    machine = with_result(values)
    out = np.zeros(m * n, numpy_dtype(dst))
    machine.tensor("out", out)
    width = 32 if out.itemsize == 1 else 16
    machine.issue(
        "fixpipe_nz", (dst, src), Gm("out"), At("l0c", 0), n, m, m, m * width * out.itemsize // 32,
        1, mode(dst, src), word(0.02, signed=dst != "uint8"), 0,
    )  # fmt: skip
    machine.clean()
    relu = np.maximum(values, 0)
    exact = dst in PLAIN and (dst, src) != ("float16", "int32")
    want = (
        relu.astype(numpy_dtype(dst))
        if exact
        else quantised(relu, 0.02, signed=dst != "uint8", dst=dst)
    )
    assert np.array_equal(out, columns(want))


def test_a_last_column_without_a_partner_stays_narrow(rng):
    m, n = 16, 48
    values = matrix(rng, "float32", m, n)
    machine = with_result(values)
    out = np.zeros(m * n, "int8")
    machine.tensor("out", out)
    machine.issue(
        "fixpipe_nz", ("int8", "float32"), Gm("out"), At("l0c", 0), n, m, m, m, 0, "QF322B8_PRE",
        word(0.5), 0,
    )  # fmt: skip
    machine.clean()
    assert np.array_equal(out, columns(quantised(values, 0.5)))


@pytest.mark.parametrize("n", [32, 24])
def test_float_columns_can_be_split(n, rng):
    m = 16
    values = matrix(rng, "float32", m, n)
    machine = with_result(values)
    out = np.zeros(m * n, "float32")
    machine.tensor("out", out)
    machine.issue(
        "fixpipe_nz",
        ("float32", "float32"),
        Gm("out"),
        At("l0c", 0),
        n,
        m,
        m,
        m,
        0,
        "NoQuant",
        0,
        1,
    )
    machine.clean()
    assert np.array_equal(out, columns(values, split=True))


@pytest.mark.parametrize(("dst", "src"), TABLE["fixpipe_l1"].dtypes)
def test_results_in_l1(dst, src, rng):
    m, n = 16, 32
    values = matrix(rng, src, m, n)
    machine = with_result(values)
    out = np.zeros(m * n, numpy_dtype(dst))
    machine.tensor("out", out)
    pitch = m * (32 if out.itemsize == 1 else 16) * out.itemsize // 32
    machine.issue(
        "fixpipe_l1", (dst, src), At("l1", 0), At("l0c", 0), n, m, m, pitch, 0,
        mode(dst, src), word(0.02, signed=dst != "uint8"),
    )  # fmt: skip
    machine.sync("FIX_MTE3", 4)
    machine.issue("data_copy_l1_out_count", dst, Gm("out"), At("l1", 0), m * n)
    machine.clean()
    exact = mode(dst, src).startswith("F322")
    want = (
        values.astype(numpy_dtype(dst))
        if exact
        else quantised(values, 0.02, signed=dst != "uint8", dst=dst)
    )
    assert np.array_equal(out, columns(want))


def test_several_matrices(rng):
    """Three tiles of 16 x 16 behind each other become rows of three matrices."""
    values = matrix(rng, "float32", 16, 48)
    machine = with_result(values)
    out = np.zeros((3, 16, 20), "float32")
    machine.tensor("out", out)
    machine.issue(
        "fixpipe_nd", ("float32", "float32"), Gm("out"), At("l0c", 0), 16, 16, 16, 20, 0, "NoQuant",
        0, 3, 1, 320,
    )  # fmt: skip
    machine.clean()
    assert np.array_equal(out[:, :, :16], values.reshape(16, 3, 16).transpose(1, 0, 2))


@pytest.mark.parametrize("vector", [0, 1])
@pytest.mark.parametrize("nz2nd", [0, 1])
def test_scales_from_registers(vector, nz2nd, rng):
    m, n = 16, 32
    values = matrix(rng, "int32", m, n)
    scales = rng.uniform(0.01, 0.1, n).astype("float32")
    machine = with_result(values)
    words = np.array([word(float(s)) for s in scales], "uint64")
    machine.into_l1("words", words, 131072)
    machine.sync("MTE2_FIX", 4)
    machine.issue("data_copy_fb", "uint64", At("fb", 128), At("l1", 131072), 1, 2, 0, 0)
    machine.barrier("FIX")
    machine.issue("set_fixpipe_config", None, At("fb", 128))
    machine.issue("set_quant_pre", None, word(0.25))
    machine.issue("set_fixpipe_nz2nd", None, 1, 1, 1)
    out = np.zeros(m * n, "int8")
    machine.tensor("out", out)
    machine.issue(
        "data_copy_co12_gm", ("int8", "int32"), Gm("out"), At("l0c", 0), n, m, n if nz2nd else m, m,
        mode("int8", "int32", vector), 0, 0, nz2nd,
    )  # fmt: skip
    machine.clean()
    want = quantised(values, scales if vector else 0.25)
    assert np.array_equal(out, want.reshape(-1) if nz2nd else columns(want))


REFUSED = {
    "no multiple": (
        "fixpipe_nz",
        ("float16", "float32"),
        20,
        ("F322F16", 0, 0),
        "no multiple of 16",
    ),
    "split": ("fixpipe_nz", ("float16", "float32"), 16, ("F322F16", 0, 1), "needs float32 results"),
    "mode": ("fixpipe_nz", ("int8", "int32"), 16, ("QF322B8_PRE", 0, 0), "use REQ8"),
    "no cast": ("fixpipe_l1", ("float16", "float32"), 16, ("NoQuant", 0), "use F322F16"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_chip_does_not_do(case):
    key, dtypes, n, rest, text = REFUSED[case]
    machine = CubeMachine()
    out = machine.tensor("out", np.zeros(1024, numpy_dtype(dtypes[0])))
    dst = At("l1", 0) if key == "fixpipe_l1" else out
    machine.issue(key, dtypes, dst, At("l0c", 0), n, 16, 16, 16, 0, *rest)
    (hazard,) = machine.hazards()
    assert text in hazard["message"]

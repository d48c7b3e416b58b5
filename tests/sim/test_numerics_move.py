# SPDX-License-Identifier: Apache-2.0
"""Copies between GM, UB and L1, and element accesses of the scalar unit."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from sim.machine import At, Gm, Machine, ub, word

from tvm_ascend.isa.table import TABLE

DTYPES = [d[0] for d in TABLE["data_copy_pad_in"].dtypes]
NUMPY = {"bfloat16": np.dtype(ml_dtypes.bfloat16)}


def numpy_dtype(name):
    return NUMPY.get(name) or np.dtype(name)


def numbers(count, dtype):
    return (np.arange(count) % 119).astype(numpy_dtype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_strided_rows_in_and_out(dtype):
    size = numpy_dtype(dtype).itemsize
    rows, columns, pitch, out_pitch = 5, 7, 11, 9
    data, out = numbers(rows * pitch, dtype), np.zeros(rows * out_pitch, numpy_dtype(dtype))
    machine = Machine()
    source, target = machine.tensor("data", data), machine.tensor("out", out)
    gap = (pitch - columns) * size
    zero = 0.0 if "float" in dtype else 0
    machine.issue(
        "data_copy_pad_in", dtype, ub(64), source, rows, columns * size, gap, 1, 0, 0, 0, zero
    )
    machine.sync("MTE2_MTE3")
    gap = (out_pitch - columns) * size
    machine.issue("data_copy_pad_out", dtype, target, ub(64), rows, columns * size, 1, gap)
    report = machine.clean()
    want = np.zeros((rows, out_pitch), numpy_dtype(dtype))
    want[:, :columns] = data.reshape(rows, pitch)[:, :columns]
    assert out.tobytes() == want.tobytes()
    moved = rows * columns * size
    assert report["bytes"] == {"gm_to_ub": moved, "ub_to_gm": moved}


@pytest.mark.parametrize("dtype", DTYPES)
def test_padding_gets_its_value(dtype):
    data, out = numbers(6, dtype), np.zeros(12, numpy_dtype(dtype))
    size, value = data.itemsize, 3.0 if "float" in dtype else 3
    left, width, right = 2, 6 if size < 4 else 2, 4
    machine = Machine()
    source, target = machine.tensor("data", data), machine.tensor("out", out)
    machine.issue(
        "data_copy_pad_in", dtype, ub(0), source, 1, width * size, 0, 0, 1, left, right, value
    )
    machine.sync("MTE2_MTE3")
    machine.store(target, ub(0), left + width + right, dtype)
    machine.clean()
    want = [3, 3, *data[:width].tolist(), 3, 3, 3, 3]
    assert out[: len(want)].astype("float64").tolist() == [float(x) for x in want]


def test_without_padding_the_rest_of_a_block_repeats_the_first_element():
    data, out = numbers(6, "float32") + 5, np.zeros(8, "float32")
    machine = Machine()
    machine.load(ub(0), machine.tensor("data", data), 6, "float32")
    machine.sync("MTE2_MTE3")
    machine.store(machine.tensor("out", out), ub(0), 8, "float32")
    assert [h["kind"] for h in machine.hazards()] == ["poison"]
    assert out.tolist() == [*data.tolist(), 5.0, 5.0]


@pytest.mark.parametrize("dtype", [d[0] for d in TABLE["get_value"].dtypes])
def test_elements_of_ub_and_gm(dtype):
    array = np.array([1, 2, 3], numpy_dtype(dtype))
    machine = Machine()
    gm = machine.tensor("array", array)
    value = 5.0 if "float" in dtype else 1
    machine.issue("set_value", dtype, ub(40), value)
    machine.issue("get_value", dtype, ub(40))
    machine.issue("get_value", dtype, Gm("array", 1))
    machine.issue("set_value", dtype, Gm("array", 2), value)
    machine.issue("data_cache_clean", "uint8", Gm("array"), "ENTIRE_DATA_CACHE")
    report = machine.clean()
    assert report["values"] == [
        word(value),
        word(float(array[1]) if "float" in dtype else array[1]),
    ]
    assert array[2] == value
    assert gm.element == 0


def test_negative_integers_keep_their_sign():
    machine = Machine()
    machine.issue("set_value", "int8", ub(0), -3)
    machine.issue("get_value", "int8", ub(0))
    machine.issue("get_value", "uint8", ub(0))
    assert machine.clean()["values"] == [-3, 253]


def test_fill_of_bytes_writes_pairs(rng):
    data = rng.integers(-128, 128, 1024).astype("int8")
    out = np.zeros_like(data)
    machine = Machine("AIC")
    machine.issue("data_copy_in_count", "int8", At("l1", 0), machine.tensor("data", data), 1024)
    machine.barrier()
    machine.issue("fill_l1_bytes", "int8", At("l1", 64), 3, 2, 1, -2)
    machine.barrier()
    machine.issue("data_copy_l1_out_count", "int8", machine.tensor("out", out), At("l1", 0), 1024)
    machine.barrier()
    machine.clean()
    for group in range(3):
        at = 64 + group * 96
        data[at : at + 64] = np.full(32, -2, "int16").view("int8")
    assert np.array_equal(out, data)


def test_fill_l1_writes_groups_of_blocks():
    machine = Machine("AIC")
    machine.issue("fill_l1", "float16", At("l1", 64), 3, 2, 1, 1.0)
    report = machine.clean()
    assert report["instructions"] == {"fill_l1": 1}
    accesses = machine.inspect()[0]["accesses"]
    assert accesses == [[0, "write", 0, 3 * 64 + 2 * 32, 3 * 64]]

# SPDX-License-Identifier: Apache-2.0
"""DataCopy in bursts against numpy: every path, every dtype, gaps, several matrices."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from sim.machine import At, Gm, Machine, ub

from tvm_ascend.isa.table import TABLE

DTYPES = [d[0] for d in TABLE["data_copy_in"].dtypes]


def numpy_dtype(name):
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def numbers(count, dtype):
    return (np.arange(count) % 119).astype(numpy_dtype(dtype))


def block(dtype):
    return 32 // numpy_dtype(dtype).itemsize


def bursts(data, count, length, gap):
    """The burst elements of a flat array, in units of blocks of 32 bytes."""
    per = 32 // data.itemsize
    blocks = data.reshape(-1, per)
    return np.concatenate([blocks[i * (length + gap) :][:length] for i in range(count)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("space", "core", "out"), [("ub", "AIV", "out"), ("l1", "AIC", "l1_out")])
def test_bursts_with_gaps_in_and_out(dtype, space, core, out):
    count, length, gap_in, gap_on, gap_out = 3, 2, 1, 2, 3
    per = block(dtype)
    data = numbers(count * (length + gap_in) * per, dtype)
    got = np.zeros(count * (length + gap_out) * per, numpy_dtype(dtype))
    machine = Machine(core)
    source, target = machine.tensor("data", data), machine.tensor("got", got)
    tile = At(space, 64)
    machine.issue("data_copy_in", dtype, tile, source, count, length, gap_in, gap_on)
    machine.sync("MTE2_MTE3")
    machine.issue(f"data_copy_{out}", dtype, target, tile, count, length, gap_on, gap_out)
    report = machine.clean()
    want = bursts(data, count, length, gap_in)
    assert bursts(got, count, length, gap_out).tobytes() == want.tobytes()
    assert np.count_nonzero(got) == np.count_nonzero(want)
    moved = count * length * 32
    assert report["bytes"] == {f"gm_to_{space}": moved, f"{space}_to_gm": moved}


@pytest.mark.parametrize("dtype", DTYPES)
def test_contiguous_copies_through_ub(dtype):
    count = 3 * block(dtype)
    data, got = numbers(count, dtype), np.zeros(count, numpy_dtype(dtype))
    machine = Machine()
    source, target = machine.tensor("data", data), machine.tensor("got", got)
    machine.issue("data_copy_in_count", dtype, ub(0), source, count)
    machine.sync("MTE2_V")
    machine.issue("data_copy_ub_count", dtype, ub(256), ub(0), count)
    machine.barrier("V")
    machine.issue("data_copy_ub", dtype, ub(512), ub(256), 3, 1, 0, 1)
    machine.sync("V_MTE3")
    machine.issue("data_copy_out", dtype, target, ub(512), 3, 1, 1, 0)
    machine.clean()
    assert got.tobytes() == data.tobytes()


def test_contiguous_copies_out_of_l1():
    data, got = numbers(64, "float16"), np.zeros(64, "float16")
    machine = Machine("AIC")
    source, target = machine.tensor("data", data), machine.tensor("got", got)
    machine.issue("data_copy_in_count", "float16", At("l1", 0), source, 64)
    machine.sync("MTE2_MTE3")
    machine.issue("data_copy_l1_out_count", "float16", target, At("l1", 0), 64)
    machine.clean()
    assert np.array_equal(got, data)


def test_a_copy_of_half_a_block_is_refused():
    machine = Machine()
    machine.issue(
        "data_copy_in_count", "float16", ub(0), machine.tensor("a", numbers(8, "int16")), 8
    )
    (hazard,) = machine.hazards()
    assert "use DataCopyPad" in hazard["message"]


@pytest.mark.parametrize(("core", "space"), [("AIC", "ub"), ("AIV", "l1")])
def test_a_memory_of_the_other_core(core, space):
    machine = Machine(core)
    source = machine.tensor("a", numbers(8, "float32"))
    machine.issue("data_copy_in_count", "float32", At(space, 0), source, 8)
    (hazard,) = machine.hazards()
    assert hazard["kind"] == "core"
    assert f"a memory that {core} does not have" in hazard["message"]


def test_undefined_bytes_travel_inside_ub():
    machine = Machine()
    source = machine.tensor("a", numbers(8, "float32"))
    target = machine.tensor("b", numbers(8, "float32"))
    machine.load(ub(0), source, 5, "float32")
    machine.sync("MTE2_V")
    machine.issue("data_copy_ub_count", "float32", ub(64), ub(0), 8)
    machine.sync("V_MTE3")
    machine.store(target, ub(64), 5, "float32")
    machine.clean()
    machine.store(target, ub(64), 6, "float32")
    kinds = [h["kind"] for h in machine.hazards()]
    assert "poison" in kinds


def nz(matrix, rows):
    """A matrix as NZ: columns of 32 bytes, each of `rows` rows."""
    per = 32 // matrix.itemsize
    groups = -(-matrix.shape[1] // per)
    out = np.zeros((groups, rows, per), matrix.dtype)
    padded = np.zeros((matrix.shape[0], groups * per), matrix.dtype)
    padded[:, : matrix.shape[1]] = matrix
    out[:, : matrix.shape[0]] = padded.reshape(-1, groups, per).transpose(1, 0, 2)
    return out


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8"])
@pytest.mark.parametrize("rows_apart", [1, 2])
def test_several_matrices_become_nz(dtype, rows_apart):
    matrices, rows, columns, pitch = 3, 5, 37, 40
    per = block(dtype)
    groups = -(-columns // per)
    data = numbers(matrices * rows * pitch + 7, dtype)
    height = 16 * rows_apart
    got = np.zeros(matrices * groups * height * per, numpy_dtype(dtype))
    machine = Machine("AIC")
    machine.tensor("data", data), machine.tensor("got", got)
    words = got.nbytes // 32
    machine.issue("fill_l1", "float32", At("l1", 0), 1, words, 0, 0.0)
    machine.barrier("MTE2")
    machine.issue(
        "data_copy_nd2nz", dtype, At("l1", 0), Gm("data"), matrices, rows, columns, rows * pitch,
        pitch, height, rows_apart, groups * height * per,
    )  # fmt: skip
    machine.sync("MTE2_MTE3")
    machine.issue("data_copy_l1_out", dtype, Gm("got"), At("l1", 0), 1, words, 0, 0)
    machine.clean()
    for i in range(matrices):
        matrix = data[i * rows * pitch :][: rows * pitch].reshape(rows, pitch)[:, :columns]
        mine = got.reshape(matrices, groups, height, per)[i, :, ::rows_apart]
        assert mine.tobytes() == nz(matrix, 16).tobytes()


def test_many_groups_with_row_gaps_are_listed_whole():
    machine = Machine("AIC")
    machine.tensor("data", numbers(2 * 4 * 64, "float16"))
    machine.issue(
        "data_copy_nd2nz", "float16", At("l1", 0), Gm("data"), 2, 4, 64, 256, 64, 16, 2, 1024
    )
    (call,) = machine.inspect()
    assert sum(total for _, kind, *_, total in call["accesses"] if kind == "write") == 2 * 4 * 128


@pytest.mark.parametrize(
    ("dtype", "source"), [("float32", ""), ("int32", ""), ("float32", "float16")]
)
def test_biases_reach_the_table(dtype, source):
    """Checked by the bytes touched; Mmad reads the values in test_numerics_mmad."""
    machine = Machine("AIC")
    data = numbers(64, source or dtype)
    machine.issue("data_copy_in_count", source or dtype, At("l1", 0), machine.tensor("d", data), 64)
    machine.sync("MTE2_MTE1")
    key, dtypes = ("data_copy_bt_cast", (dtype, source)) if source else ("data_copy_bt", dtype)
    machine.issue(key, dtypes, At("bt", 64), At("l1", 0), 2, 1, 1, 1)
    machine.clean()
    read = 32 if source else 64
    assert machine.inspect()[-1]["accesses"] == [
        [1, "copy", 0, 2 * read + 32, 2 * read],
        [0, "write", 0, 3 * 64, 128],
    ]


def test_scales_reach_the_fixpipe_buffer():
    machine = Machine("AIC")
    data = numbers(48, "uint64")
    machine.issue("data_copy_in_count", "uint64", At("l1", 0), machine.tensor("d", data), 48)
    machine.sync("MTE2_FIX")
    machine.issue("data_copy_fb", "uint64", At("fb", 128), At("l1", 0), 2, 1, 1, 1)
    machine.clean()
    assert machine.inspect()[-1]["accesses"] == [
        [1, "copy", 0, 2 * 128 + 32, 256],
        [0, "write", 0, 3 * 128, 256],
    ]
    machine.issue("data_copy_fb", "uint64", At("fb", 64), At("l1", 0), 1, 1, 0, 0)
    assert machine.hazards()[0]["kind"] == "misaligned"

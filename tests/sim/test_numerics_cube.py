# SPDX-License-Identifier: Apache-2.0
"""GM to L1, L1 to L0, Mmad and Fixpipe against numpy, through the real layouts."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest
from sim.machine import At, Gm, Machine

INPUTS = {"float16": 16, "bfloat16": 16, "int8": 32}
ZERO = {"float16": 0.0, "bfloat16": 0.0, "int8": 0, "float32": 0.0}


def numpy_dtype(name):
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def up(x, to):
    return -(-x // to) * to


def load_nz(machine, dst, name, dtype, rows, columns, pitch):
    """A row-major matrix of GM as NZ in L1, rows padded to 16."""
    height = up(rows, 16)
    gm = Gm(name)
    machine.issue("data_copy_nd2nz", dtype, dst, gm, 1, rows, columns, 0, pitch, height, 1, 0)


def zero_l1(machine, byte, bytes_):
    machine.issue("fill_l1", "float32", At("l1", byte), 1, bytes_ // 32, 0, 0.0)


def matmul(dtype, m, n, k, *, out_dtype="float32", relu=0, data=None, steps=1):
    """C = A B with B stored [n, k]; K in `steps` Mmads; returns machine, arrays."""
    k0, a, b = INPUTS[dtype], *data
    acc = "int32" if dtype == "int8" else "float32"
    out = np.zeros((m, n + 3), numpy_dtype(out_dtype))
    machine = Machine("AIC")
    machine.tensor("a", a), machine.tensor("b", b), machine.tensor("out", out)
    b_at = 262144
    size = numpy_dtype(dtype).itemsize
    bytes_a, bytes_b = up(m, 16) * up(k, k0) * size, up(n, 16) * up(k, k0) * size
    zero_l1(machine, 0, bytes_a), zero_l1(machine, b_at, bytes_b)
    machine.barrier("MTE2")
    load_nz(machine, At("l1", 0), "a", dtype, m, k, k)
    load_nz(machine, At("l1", b_at), "b", dtype, n, k, k)
    machine.sync("MTE2_MTE1")
    m1, n1, k1 = up(m, 16) // 16, up(n, 16) // 16, up(k, k0) // k0
    per_step = -(-k1 // steps)
    for step in range(steps):
        first, count = step * per_step, min(per_step, k1 - step * per_step)
        if step:
            machine.sync("M_MTE1")
        if m == 1:  # Mmad reads a plain vector: row 0 of each fractal, gathered by hand
            raise AssertionError("use test_a_single_row")
        for i in range(m1):
            src, dst = At("l1", (first * m1 + i) * 512), At("l0a", i * count * 512)
            machine.issue("load_data_2d", dtype, dst, src, 0, count, m1, 0, 0)
        src = At("l1", b_at + first * n1 * 512)
        machine.issue("load_data_2d", dtype, At("l0b", 0), src, 0, count * n1, 1, 0, 0)
        machine.sync("MTE1_M")
        depth = min(k - first * k0, count * k0)
        if step and m1 * n1 < 10:
            machine.barrier("M")
        machine.issue(
            "mmad", (acc, dtype, dtype), At("l0c", 0), At("l0a", 0), At("l0b", 0), m, n, depth,
            int(step == 0),
        )  # fmt: skip
    machine.sync("M_FIX")
    quant = {"float16": "F322F16", "bfloat16": "F322BF16"}.get(out_dtype, "NoQuant")
    machine.issue(
        "fixpipe", (out_dtype, acc), Gm("out"), At("l0c", 0), n, m, up(m, 16), n + 3, relu, quant
    )
    return machine, out


def integers(rng, dtype, m, n, k):
    shapes = ((m, k), (n, k))
    return [rng.integers(-8, 9, shape).astype(numpy_dtype(dtype)) for shape in shapes]


SHAPES = [(16, 16, 16), (32, 48, 64), (17, 33, 50), (5, 3, 7), (64, 200, 96), (160, 16, 40)]


@pytest.mark.parametrize("dtype", INPUTS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("steps", [1, 2])
def test_matmul_is_exact_on_integers(dtype, shape, steps, rng):
    m, n, k = shape
    if steps > -(-k // INPUTS[dtype]):
        steps = 1
    data = integers(rng, dtype, m, n, k)
    out_dtype = "int32" if dtype == "int8" else "float32"
    machine, out = matmul(dtype, m, n, k, data=data, out_dtype=out_dtype, steps=steps)
    report = machine.clean()
    want = data[0].astype("int64") @ data[1].astype("int64").T
    assert np.array_equal(out[:, :n], want)
    assert not out[:, n:].any()
    assert report["bytes"]["l0c_to_gm"] == m * n * 4


def test_float_sums_run_in_the_order_of_k(rng):
    a, b = (rng.normal(size=(16, 64)).astype("float16") for _ in range(2))
    machine, out = matmul("float16", 16, 16, 64, data=(a, b))
    machine.clean()
    want = np.zeros((16, 16), "float32")
    for k in range(64):
        want += a[:, k : k + 1].astype("float32") * b[:, k].astype("float32")
    assert np.array_equal(out[:, :16], want)


def assert_large_sums_run_in_the_order_of_k():
    a, b = (np.random.default_rng(5).normal(size=(n, 64)).astype("float16") for n in (128, 240))
    machine, out = matmul("float16", 128, 240, 64, data=(a, b))
    machine.clean()
    want = np.zeros((128, 240), "float32")
    for k in range(64):
        want += a[:, k : k + 1].astype("float32") * b[:, k].astype("float32")
    assert np.array_equal(out[:, :240], want)


def test_large_products_shared_by_host_threads_have_the_same_bits():
    assert_large_sums_run_in_the_order_of_k()
    with ThreadPoolExecutor(4) as pool:  # several launches want the threads at once
        for done in [pool.submit(assert_large_sums_run_in_the_order_of_k) for _ in range(16)]:
            done.result()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_large_products_work_in_a_forked_process():
    assert_large_sums_run_in_the_order_of_k()  # the threads of this process are there
    child = multiprocessing.get_context("fork").Process(
        target=assert_large_sums_run_in_the_order_of_k
    )
    child.start()
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.parametrize("out_dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("relu", [0, 1])
def test_fixpipe_casts_after_relu(out_dtype, relu, rng):
    a, b = (rng.normal(size=(20, 32)).astype("float16") for _ in range(2))
    machine, out = matmul("float16", 20, 20, 32, data=(a, b), out_dtype=out_dtype, relu=relu)
    machine.clean()
    exact, full = matmul("float16", 20, 20, 32, data=(a, b))
    exact.clean()
    want = np.maximum(full, 0) if relu else full
    assert np.array_equal(out[:, :20], want[:, :20].astype(numpy_dtype(out_dtype)))


def test_a_fixpipe_without_its_cast_is_refused(rng):
    machine, _ = matmul("float16", 16, 16, 16, data=integers(rng, "float16", 16, 16, 16))
    machine.tensor("half", np.zeros((16, 16), "float16"))
    dtypes, dst = ("float16", "float32"), Gm("half")
    machine.issue("fixpipe", dtypes, dst, At("l0c", 0), 16, 16, 16, 16, 0, "NoQuant")
    (hazard,) = machine.hazards()
    assert hazard["kind"] == "parameter"
    assert "use F322F16" in hazard["message"]


def test_a_single_row_is_read_as_a_plain_vector(rng):
    k, n = 40, 24
    a, b = (
        rng.integers(-8, 9, (1, 48)).astype("float16"),
        rng.integers(-8, 9, (n, k)).astype("float16"),
    )
    a[:, k:] = 0
    out = np.zeros((1, n), "float32")
    machine = Machine("AIC")
    machine.tensor("a", a), machine.tensor("b", b), machine.tensor("out", out)
    zero_l1(machine, 0, 512), zero_l1(machine, 8192, 32 * 48 * 2)
    machine.barrier("MTE2")
    # 48 values as three rows of one column group: 96 bytes in a row, one k-vector.
    machine.issue("data_copy_nd2nz", "float16", At("l1", 0), Gm("a"), 1, 3, 16, 0, 16, 16, 1, 0)
    load_nz(machine, At("l1", 8192), "b", "float16", n, k, k)
    machine.sync("MTE2_MTE1")
    machine.issue("load_data_2d", "float16", At("l0a", 0), At("l1", 0), 0, 1, 1, 0, 0)
    machine.issue("load_data_2d", "float16", At("l0b", 0), At("l1", 8192), 0, 6, 1, 0, 0)
    machine.sync("MTE1_M")
    dtypes = ("float32", "float16", "float16")
    machine.issue("mmad", dtypes, At("l0c", 0), At("l0a", 0), At("l0b", 0), 1, n, k, 1)
    machine.sync("M_FIX")
    dst, src = Gm("out"), At("l0c", 0)
    machine.issue("fixpipe", ("float32", "float32"), dst, src, n, 1, 16, n, 0, "NoQuant")
    machine.clean()
    assert np.array_equal(out, a[:, :k].astype("float32") @ b.T.astype("float32"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_transposing_load_turns_each_fractal(dtype, rng):
    m, n, k = 32, 48, 32
    a = rng.integers(-8, 9, (m, k)).astype(numpy_dtype(dtype))
    b = rng.integers(-8, 9, (k, n)).astype(numpy_dtype(dtype))
    out = np.zeros((m, n), "float32")
    machine = Machine("AIC")
    machine.tensor("a", a), machine.tensor("b", b), machine.tensor("out", out)
    load_nz(machine, At("l1", 0), "a", dtype, m, k, k)
    load_nz(machine, At("l1", 65536), "b", dtype, k, n, n)
    machine.sync("MTE2_MTE1")
    for i in range(m // 16):
        src, dst = At("l1", i * 512), At("l0a", i * (k // 16) * 512)
        machine.issue("load_data_2d", dtype, dst, src, 0, k // 16, m // 16, 0, 0)
    for i in range(k // 16):
        src, dst = At("l1", 65536 + i * 512), At("l0b", i * (n // 16) * 512)
        machine.issue("load_data_2d", dtype, dst, src, 0, n // 16, k // 16, 0, 1)
    machine.sync("MTE1_M")
    dtypes = ("float32", dtype, dtype)
    machine.issue("mmad", dtypes, At("l0c", 0), At("l0a", 0), At("l0b", 0), m, n, k, 1)
    machine.sync("M_FIX")
    dst, src = Gm("out"), At("l0c", 0)
    machine.issue("fixpipe", ("float32", "float32"), dst, src, n, m, m, n, 0, "NoQuant")
    machine.clean()
    assert np.array_equal(out, a.astype("float32") @ b.astype("float32"))


def test_what_pads_k_takes_part():
    """Without zeros in L1 the padding of k is undefined, and Mmad reads it."""
    a, b = np.ones((16, 20), "float16"), np.ones((16, 20), "float16")
    machine, _ = matmul("float16", 16, 16, 20, data=(a, b))
    fills = [i for i, site in enumerate(machine.sites) if site["op"] == "fill_l1"]
    machine.blocks[0] = [call for call in machine.blocks[0] if call[0] not in fills]
    machine.clean()  # ND2NZ itself fills the last group of 16 with zeros


def test_rows_past_m_stay_undefined_and_unread():
    a, b = np.ones((5, 16), "float16"), np.ones((3, 16), "float16")
    machine, out = matmul("float16", 5, 3, 16, data=(a, b))
    fills = [i for i, site in enumerate(machine.sites) if site["op"] == "fill_l1"]
    machine.blocks[0] = [call for call in machine.blocks[0] if call[0] not in fills]
    machine.clean()
    assert np.array_equal(out[:, :3], np.full((5, 3), 16))
    fixpipe = machine.sites[-1]
    fixpipe["args"][3] = {"c": 6}  # one row too many
    fixpipe["args"][5] = {"c": 3}
    machine.arrays["out"] = np.zeros((6, 3), "float32")
    fixpipe["args"][0] = {"c": machine.arrays["out"].ctypes.data}
    kinds = [h["kind"] for h in machine.hazards()]
    assert kinds == ["poison"]

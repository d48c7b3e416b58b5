# SPDX-License-Identifier: Apache-2.0
"""What the transposing and the img2col loads leave in L0A and L0B, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from sim.cube_machine import CubeMachine, lanes, numpy_dtype, nz, of_l0a, of_l0b, up
from sim.machine import At, Gm

from tvm_ascend.isa.table import TABLE

MULTIPLIED = ["float16", "bfloat16", "float32", "int8"]


def small(rng, dtype, *shape):
    return rng.integers(-8, 9, shape).astype(numpy_dtype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8"])
@pytest.mark.parametrize("shape", [(16, 32), (64, 32), (33, 70)])
def test_a_stored_transposed(dtype, shape, rng):
    """[k, m] in L1 becomes A[m, k], with the parameters of ASCEND 2.3."""
    k, m = shape
    side = max(16, lanes(dtype))
    data = small(rng, dtype, up(k, side), up(m, side))
    machine = CubeMachine()
    machine.into_l1("data", nz(data), 0)
    machine.sync("MTE2_MTE1")
    tall, wide = up(k, side) // side, up(m, side) // side
    fractals = side // 16
    for i in range(wide):
        dst, src = At("l0a", i * fractals * tall * 512), At("l1", i * tall * fractals * 512)
        machine.issue("load_data_transpose", dtype, dst, src, 0, tall, 1, 0, tall - 1)
    seen = of_l0a(machine, dtype, up(m, side), up(k, side))
    machine.clean()
    assert np.array_equal(seen, data.T.astype(seen.dtype))


@pytest.mark.parametrize("dtype", [d[0] for d in TABLE["load_data_transpose"].dtypes])
def test_blocks_are_transposed_where_they_stand(dtype, rng):
    """One block at a time, its gaps and start; seen through the types that Mmad takes."""
    size = numpy_dtype(dtype).itemsize
    kind = {1: "int8", 2: "float16", 4: "float32"}[size]
    side, per = max(16, 32 // size), 32 // size
    blocks = small(rng, kind, 3, side, side)
    # Fractals of 32 bits stand side by side.
    raw = blocks.reshape(3, 16, 2, 8).transpose(0, 2, 1, 3) if size == 4 else blocks
    machine = CubeMachine()
    machine.into_l1("data", np.ascontiguousarray(raw).reshape(-1), 0)
    machine.sync("MTE2_MTE1")
    fractals = side * side * size // 512
    # Blocks 1 and 2, the second one behind both fractals of the first.
    machine.issue("load_data_transpose", dtype, At("l0b", 0), At("l1", 0), 1, 2, 1, fractals - 1, 0)
    # As ZN with n = 16: every fractal is per rows of k.
    seen = of_l0b(machine, kind, 2 * fractals * per, 16)
    machine.clean()
    want = []
    for block in blocks[1:]:
        turned = block.T
        if size == 4:
            parts = [turned[:, :8], turned[:, 8:]]
        else:
            parts = [turned[i : i + 16] for i in range(0, side, 16)]
        want += [part.T for part in parts]
    assert np.array_equal(seen, np.concatenate(want).astype(seen.dtype))


def test_a_gap_between_the_fractals_of_a_block():
    machine = CubeMachine()
    machine.issue("load_data_transpose", "int8", At("l0a", 0), At("l1", 0), 0, 3, 2, 0, 4)
    assert machine.inspect()[0]["accesses"] == [
        [1, "copy", 0, 5 * 1024, 3 * 1024],
        [0, "write", 0, 7 * 512 + 512, 6 * 512],
    ]


def unroll(image, pads, filters, strides, dilations, pad_value, c0):
    """The matrix of output pixels by (channel group, filter row, filter column, channel)."""
    channels, height, width = image.shape
    left, right, top, bottom = pads
    padded = np.full(
        (channels, height + top + bottom, width + left + right), pad_value, image.dtype
    )
    padded[:, top : top + height, left : left + width] = image
    (fw, fh), (sw, sh), (dw, dh) = filters, strides, dilations
    out_h = (padded.shape[1] - ((fh - 1) * dh + 1)) // sh + 1
    out_w = (padded.shape[2] - ((fw - 1) * dw + 1)) // sw + 1
    rows = []
    for y in range(out_h):
        for x in range(out_w):
            window = padded[:, y * sh :, x * sw :][:, : (fh - 1) * dh + 1 : dh]
            window = window[:, :, : (fw - 1) * dw + 1 : dw]
            rows.append(
                window.reshape(channels // c0, c0, fh, fw).transpose(0, 2, 3, 1).reshape(-1)
            )
    return np.array(rows)


def feature_map(image, c0):
    """[C, H, W] as NC1HWC0."""
    channels, height, width = image.shape
    return image.reshape(channels // c0, c0, height, width).transpose(0, 2, 3, 1).reshape(-1)


CASES = {
    "matrix": ((0, 0, 0, 0), (1, 1), (1, 1), (1, 1)),
    "window": ((0, 0, 0, 0), (3, 2), (1, 1), (1, 1)),
    "padding": ((1, 2, 2, 1), (3, 3), (1, 1), (1, 1)),
    "stride": ((1, 1, 0, 1), (2, 2), (2, 3), (1, 1)),
    "dilation": ((0, 0, 0, 0), (2, 2), (1, 1), (3, 2)),
}


def load_3d(machine, dtype, dst, channels, case, part, transpose=0, right=0):
    (m_start, m), (k_start, k) = part
    _, (fw, fh), (sw, sh), (dw, dh) = case
    machine.issue(
        "load_data_3d", dtype, dst, At("l1", 0), channels, transpose, right, k, m, k_start, m_start,
        sw, sh, fw, fh, dw, dh,
    )  # fmt: skip


PLACES = [
    *((dtype, place) for dtype in MULTIPLIED[:3] for place in ("l0a", "l0a transposed", "l0b")),
    ("int8", "l0a"),  # 8-bit elements are not transposed
]


@pytest.mark.parametrize(("dtype", "place"), PLACES)
@pytest.mark.parametrize("case", CASES)
def test_img2col(dtype, case, place, rng):
    c0, pads_and_more = lanes(dtype), CASES[case]
    channels, height, width = 2 * c0, 8, 11
    image = small(rng, dtype, channels, height, width)
    pad = 3.0 if "float" in dtype else 3
    want = unroll(image, *pads_and_more, pad, c0)
    m_start, k_start = 2, c0
    # Transposed, m is the depth of the product: whole fractals of it.
    m, k = (
        min(20, len(want) - m_start) if place != "l0a transposed" else 16,
        min(2 * c0 + 16, want.shape[1] - c0),
    )
    k = up(k, c0) if up(k, c0) + c0 <= want.shape[1] else k // c0 * c0
    part = want[m_start : m_start + m, k_start : k_start + k]
    machine = CubeMachine()
    side = "right" if place == "l0b" else "left"
    machine.issue(f"set_fmatrix_{side}", None, height, width, *pads_and_more[0])
    machine.issue("set_load_data_padding_value", dtype, pad)
    machine.into_l1("image", feature_map(image, c0), 0)
    machine.sync("MTE2_MTE1")
    window = ((m_start, m), (k_start, k))
    dst = At(place.split()[0], 0)
    load_3d(
        machine,
        dtype,
        dst,
        channels,
        pads_and_more,
        window,
        int("trans" in place),
        int(side == "right"),
    )
    if place == "l0a":
        seen = of_l0a(machine, dtype, m, k)
    elif place == "l0b":
        # Rows past m have no value, so only whole groups of rows can be multiplied.
        part = part[: m // c0 * c0]
        seen = of_l0b(machine, dtype, len(part), k)
    else:
        part = part.T
        seen = of_l0a(machine, dtype, k, m)
    machine.clean()
    assert np.array_equal(seen, part.astype(seen.dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("place", ["l0a", "l0b"])
def test_matrices_are_transposed_with_one_row_of_pixels(dtype, place, rng):
    """[k, m] or [k, n] in NZ: one row of pixels, no filter [ASCEND 2.3]."""
    k, across = 32, 48
    data = small(rng, dtype, k, across)
    machine = CubeMachine()
    side = "left" if place == "l0a" else "right"
    machine.issue(f"set_fmatrix_{side}", None, 1, k, 0, 0, 0, 0)
    machine.into_l1("data", nz(data), 0)
    machine.sync("MTE2_MTE1")
    window = ((0, k), (0, across))
    load_3d(
        machine,
        dtype,
        At(place, 0),
        across,
        CASES["matrix"],
        window,
        int(place == "l0a"),
        int(place == "l0b"),
    )
    seen = (
        of_l0a(machine, dtype, across, k) if place == "l0a" else of_l0b(machine, dtype, k, across)
    )
    machine.clean()
    assert np.array_equal(seen, (data.T if place == "l0a" else data).astype(seen.dtype))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"channels": 20}, "channel_size is no multiple of 16"),
        ({"m": 65}, "rows to 65 of 63 output pixels; check set_fmatrix_left"),
        ({"k": 64}, "columns to 64 of 32"),
        ({"k_start": 8}, "k_start is no multiple of 16"),
    ],
)
def test_img2col_beyond_the_map(change, text):
    sizes = {"channels": 32, "m": 16, "k": 16, "k_start": 0} | change
    machine = CubeMachine()
    machine.issue("set_fmatrix_left", None, 7, 9, 0, 0, 0, 0)
    window = ((0, sizes["m"]), (sizes["k_start"], sizes["k"]))
    load_3d(machine, "float16", At("l0a", 0), sizes["channels"], CASES["matrix"], window)
    (hazard,) = machine.hazards()
    assert text in hazard["message"]


def test_an_empty_map_loads_nothing():
    machine = CubeMachine()
    load_3d(machine, "float16", At("l0a", 0), 16, CASES["matrix"], ((0, 16), (0, 16)))
    machine.clean()


def test_rows_past_the_last_have_no_value(rng):
    machine = CubeMachine()
    machine.issue("set_fmatrix_left", None, 1, 16, 0, 0, 0, 0)
    machine.into_l1("data", nz(small(rng, "float16", 16, 16)), 0)
    machine.sync("MTE2_MTE1")
    load_3d(machine, "float16", At("l0a", 0), 16, CASES["matrix"], ((0, 5), (0, 16)))
    of_l0a(machine, "float16", 6, 16)
    assert [h["kind"] for h in machine.hazards()] == ["poison"]


def test_undefined_pixels_stay_undefined(rng):
    machine = CubeMachine()
    machine.issue("set_fmatrix_left", None, 1, 32, 0, 0, 0, 0)
    machine.into_l1("data", nz(small(rng, "float16", 16, 16)), 0)  # 16 of 32 pixels
    machine.sync("MTE2_MTE1")
    load_3d(machine, "float16", At("l0a", 0), 16, CASES["matrix"], ((0, 32), (0, 16)), 1)
    machine.into_l0("l0b", "identity", np.zeros(512, "float16"), 262144)
    machine.multiply("float16", 16, 16, 16)
    machine.run(strict=False)
    kinds = [h["kind"] for h in machine.hazards()]
    assert kinds == []
    machine.issue(
        "mmad",
        ("float32", "float16", "float16"),
        At("l0c", 1024),
        At("l0a", 0),
        At("l0b", 0),
        16,
        16,
        32,
        1,
    )
    assert [h["kind"] for h in machine.hazards()] == ["poison"]


@pytest.mark.parametrize("dtype", [d[0] for d in TABLE["fill_l0"].dtypes])
def test_fills_of_l0(dtype):
    machine = CubeMachine()
    machine.issue("fill_l0", dtype, At("l0b", 512), 2, 3, 1, 2.0 if "float" in dtype else 2)
    assert machine.inspect()[0]["accesses"] == [[0, "write", 0, 7 * 512, 6 * 512]]


def test_filled_fractals_multiply():
    machine = CubeMachine()
    machine.issue("fill_l0", "float16", At("l0a", 0), 1, 2, 0, 2.0)
    seen = of_l0a(machine, "float16", 16, 32)
    machine.clean()
    assert (seen == 2).all()


@pytest.mark.parametrize("dtype", [d[0] for d in TABLE["load_data_2d_gm"].dtypes])
def test_fractals_from_gm(dtype, rng):
    kind = {1: "int8", 2: "float16", 4: "float32"}[numpy_dtype(dtype).itemsize]
    data = small(rng, kind, 5, 512 // numpy_dtype(kind).itemsize)
    machine = CubeMachine()
    machine.tensor("data", data.reshape(-1))
    machine.issue("load_data_2d_gm", dtype, At("l0b", 0), Gm("data"), 1, 2, 2, 0)
    machine.sync("MTE2_M", 4)
    seen = of_l0b(machine, kind, 2 * lanes(kind), 16)
    machine.clean()
    want = np.concatenate([data[i].reshape(16, -1).T for i in (1, 3)])
    assert np.array_equal(seen, want.astype(seen.dtype))

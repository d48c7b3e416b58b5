# SPDX-License-Identifier: Apache-2.0
"""Random instructions of a Cube core with the bytes they touch and their exact values.

Products are of int8, so that every byte is a number and every sum exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sim.stream_op import BLOCK, GM_BYTES, Op, Pick, elements

FRACTAL, TILE, SIDE = 512, 1024, 16
K_BLOCK = 32  # int8 values of a fractal's row
WORDS = BLOCK // 4
SIZES = {"gm": GM_BYTES, "l1": 8192, "l0a": 4096, "l0b": 4096, "l0c": 8192, "bt": 512}
TABLE_UNIT = 64  # bytes that bursts into the bias table count in
# Fractals of results from which one Mmad may follow another on the same tile [doc: ASCEND 4.2].
# Fewer than chips have, so that small streams have such.
BACK_TO_BACK = 4

Memory = dict[str, np.ndarray]


def cube_op(
    pipe: str,
    key: str,
    dtypes: tuple[str, ...],
    params: tuple[Any, ...],
    operands: tuple[tuple[str, int], ...],
    dst: np.ndarray,
    sources: tuple[tuple[str, np.ndarray], ...],
    value: Callable[..., np.ndarray],
) -> Op | None:
    """One that writes ``value(bytes of each source)`` to ``dst`` of the first operand's memory.

    None where it leaves a memory.
    """
    into = operands[0][0]
    if any(at.max() >= SIZES[space] for space, at in ((into, dst), *sources)):
        return None

    def run(memory: Memory) -> None:
        read = [memory[space][at.reshape(-1)] for space, at in sources]
        memory[into][dst.reshape(-1)] = value(*read).reshape(-1).view("uint8")

    reads = {space: np.unique(at) for space, at in sources}
    return Op(pipe, key, dtypes, operands, params, reads, {into: np.unique(dst)}, run)


def place(pick: Pick, space: str, step: int) -> int:
    return step * pick(0, SIZES[space] // step - 1)


def bursts(at: int, count: int, length: int, gap: int) -> np.ndarray:
    """Bytes of `count` bursts of `length`, `gap` apart."""
    return elements(at + np.arange(count) * (length + gap), length)


def same(read: np.ndarray) -> np.ndarray:
    return read


def copy(pick: Pick, pipe: str, key: str, dst: str, src: str) -> Op | None:
    """Bursts of blocks."""
    count, length, gaps = pick(1, 3), pick(1, 12), (pick(0, 3), pick(0, 3))
    to, source = place(pick, dst, BLOCK), place(pick, src, BLOCK)
    return cube_op(
        pipe,
        key,
        ("int32",),
        (count, length, *gaps),
        ((dst, to), (src, source)),
        bursts(to, count, length * BLOCK, gaps[1] * BLOCK),
        ((src, bursts(source, count, length * BLOCK, gaps[0] * BLOCK)),),
        same,
    )


def load_fractals(pick: Pick) -> Op | None:
    """LoadData 2D, from L1 or from GM."""
    from_gm = pick(0, 3) == 0
    dst = ("l0a", "l0b", "l1")[pick(0, 2 if from_gm else 1)]
    src = "gm" if from_gm else "l1"
    start, repeat, stride, gap = pick(0, 1), pick(1, 4), pick(0, 2), pick(0, 1)
    to, source = place(pick, dst, FRACTAL), place(pick, src, BLOCK)
    read = elements(source + (start + np.arange(repeat) * stride) * FRACTAL, FRACTAL)
    places = ((dst, to), (src, source)), bursts(to, repeat, FRACTAL, gap * FRACTAL), ((src, read),)
    if from_gm:
        return cube_op(
            "MTE2", "load_data_2d_gm", ("int8",), (start, repeat, stride, gap), *places, same
        )
    turned = pick(0, 1)

    def value(read: np.ndarray) -> np.ndarray:
        tiles = read.view("int16").reshape(-1, SIDE, SIDE)
        return np.ascontiguousarray(tiles.transpose(0, 2, 1)) if turned else tiles

    params = (start, repeat, stride, gap, turned)
    return cube_op("MTE1", "load_data_2d", ("float16",), params, *places, value)


def load_rows(pick: Pick) -> Op | None:
    """Nd2Nz: rows of GM become columns of blocks in L1, filled up with zeros."""
    matrices, n, d, step = pick(1, 2), pick(1, 6), pick(1, 20), pick(1, 2)
    groups, pitch = -(-d // WORDS), d + pick(0, 5)
    group = n * step + pick(0, 2)
    apart = n * pitch + pick(0, 3), (groups * group + pick(0, 1)) * WORDS
    source, to = place(pick, "gm", 4), place(pick, "l1", BLOCK)
    matrix, row = np.arange(matrices)[:, None, None], np.arange(n)[:, None]
    read = source + 4 * (matrix * apart[0] + row * pitch + np.arange(d))
    blocks = matrix * (apart[1] // WORDS) + row * step + np.arange(groups) * group

    def value(read: np.ndarray) -> np.ndarray:
        rows = read.view("int32").reshape(matrices, n, d)
        return np.pad(rows, ((0, 0), (0, 0), (0, groups * WORDS - d)))

    return cube_op(
        "MTE2",
        "data_copy_nd2nz",
        ("int32",),
        (matrices, n, d, apart[0], pitch, group, step, apart[1]),
        (("l1", to), ("gm", source)),
        elements(to + blocks * BLOCK, BLOCK),
        (("gm", elements(read, 4)),),
        value,
    )


def load_transposed(pick: Pick) -> Op | None:
    """Square blocks: one fractal of 16 bits, two of 8 bits."""
    dtype = ("float16", "int8")[pick(0, 1)]
    fractals = 2 if dtype == "int8" else 1
    dst = ("l0a", "l0b")[pick(0, 1)]
    start, repeat, stride, between = pick(0, 1), pick(1, 3), pick(0, 2), pick(0, 1)
    gap = fractals * (between + 1) - 1 + pick(0, 1)
    to, source = place(pick, dst, FRACTAL), place(pick, "l1", BLOCK)
    size = fractals * FRACTAL
    first = np.arange(repeat)[:, None] * (gap + 1) + np.arange(fractals) * (between + 1)

    def value(read: np.ndarray) -> np.ndarray:
        side = SIDE * fractals
        blocks = read.view("int8" if fractals == 2 else "int16").reshape(repeat, side, side)
        return np.ascontiguousarray(blocks.transpose(0, 2, 1))

    return cube_op(
        "MTE1",
        "load_data_transpose",
        (dtype,),
        (start, repeat, stride, gap, between),
        ((dst, to), ("l1", source)),
        elements(to + first * FRACTAL, FRACTAL),
        (("l1", elements(source + (start + np.arange(repeat) * stride) * size, size)),),
        value,
    )


def fill(pick: Pick) -> Op | None:
    """A constant in L1 or in L0."""
    dst = ("l1", "l0a", "l0b")[pick(0, 2)]
    unit, pipe = (BLOCK, "MTE2") if dst == "l1" else (FRACTAL, "MTE1")
    repeat, length, gap, word = pick(1, 3), pick(1, 4), pick(0, 2), pick(-(2**31), 2**31 - 1)
    to = place(pick, dst, unit)
    at = bursts(to, repeat, length * unit, gap * unit)
    return cube_op(
        pipe,
        "fill_l1" if dst == "l1" else "fill_l0",
        ("int32",),
        (repeat, length, gap, word),
        ((dst, to),),
        at,
        (),
        lambda: np.full(at.size // 4, word, "int32"),
    )


def load_bias(pick: Pick) -> Op | None:
    """L1 into the bias table."""
    count, length, gaps = pick(1, 2), pick(1, 3), (pick(0, 2), pick(0, 1))
    to, source = place(pick, "bt", TABLE_UNIT), place(pick, "l1", BLOCK)
    return cube_op(
        "MTE1",
        "data_copy_bt",
        ("int32",),
        (count, length, *gaps),
        (("bt", to), ("l1", source)),
        bursts(to, count, length * TABLE_UNIT, gaps[1] * TABLE_UNIT),
        (("l1", bursts(source, count, length * TABLE_UNIT, gaps[0] * BLOCK)),),
        same,
    )


def multiply(pick: Pick) -> Op | None:
    """Mmad of whole fractals: into a new sum, onto an old one, or with biases."""
    m1, n1 = (2, 2) if pick(0, 1) else (pick(1, 2), pick(1, 2))
    m, n, k = m1 * SIDE, n1 * SIDE, pick(1, 2 * K_BLOCK)
    k1 = -(-k // K_BLOCK)
    kind = ("init", "add", "bias")[pick(0, 2)]
    c = place(pick, "l0c", m1 * n1 * TILE)  # so that tiles often coincide
    a, b = place(pick, "l0a", FRACTAL), place(pick, "l0b", FRACTAL)
    dst = c + np.arange(m1 * n1 * TILE)
    sources = [
        ("l0a", a + np.arange(m1 * k1 * FRACTAL)),
        ("l0b", b + np.arange(n1 * k1 * FRACTAL)),
    ]
    operands = [("l0c", c), ("l0a", a), ("l0b", b)]
    if kind == "bias":
        operands.append(("bt", place(pick, "bt", TABLE_UNIT)))
        sources.append(("bt", operands[-1][1] + np.arange(n * 4)))
    elif kind == "add":
        sources.append(("l0c", dst))

    def value(left: np.ndarray, right: np.ndarray, third: np.ndarray | None = None) -> np.ndarray:
        rows = left.view("int8").reshape(m1, k1, SIDE, K_BLOCK).transpose(0, 2, 1, 3)
        columns = right.view("int8").reshape(k1, n1, SIDE, K_BLOCK).transpose(0, 3, 1, 2)
        total = rows.reshape(m, -1).astype("int64") @ columns.reshape(-1, n).astype("int64")
        tiles = total.reshape(m, n1, SIDE).transpose(1, 0, 2)  # columns of 16, as L0C has them
        if kind == "add":
            tiles = tiles + third.view("int32").reshape(tiles.shape)
        elif kind == "bias":
            tiles = tiles + third.view("int32").reshape(n1, 1, SIDE)
        return np.ascontiguousarray(tiles.astype("int32"))

    flag = () if kind == "bias" else (int(kind == "init"),)
    dtypes = ("int32", "int8", "int8")
    return cube_op(
        "M",
        "mmad_bias" if kind == "bias" else "mmad",
        (*dtypes, "int32") if kind == "bias" else dtypes,
        (m, n, k, *(flag or (0,))),
        tuple(operands),
        dst,
        tuple(sources),
        value,
    )


def drain(pick: Pick) -> Op | None:
    """Fixpipe to rows of GM."""
    n, m, relu = pick(1, 32), pick(1, 20), pick(0, 1)
    stride, pitch = SIDE * pick(2, 3), n + pick(0, 9)
    to, source = place(pick, "gm", 4), place(pick, "l0c", TILE)
    row, column = np.arange(m)[:, None], np.arange(n)
    read = source + column // SIDE * stride * 64 + row * 64 + column % SIDE * 4

    def value(read: np.ndarray) -> np.ndarray:
        return np.maximum(read.view("int32"), 0) if relu else read

    return cube_op(
        "FIX",
        "fixpipe",
        ("int32", "int32"),
        (n, m, stride, pitch, relu, "NoQuant"),
        (("gm", to), ("l0c", source)),
        elements(to + (row * pitch + column) * 4, 4),
        (("l0c", elements(read, 4)),),
        value,
    )


def draw_cube_op(pick: Pick) -> Op:
    """Any instruction, those that use GM and L0 more often."""
    draws = (
        lambda: copy(pick, "MTE2", "data_copy_in", "l1", "gm"),
        lambda: copy(pick, "MTE3", "data_copy_l1_out", "gm", "l1"),
        lambda: load_rows(pick),
        lambda: load_fractals(pick),
        lambda: load_fractals(pick),
        lambda: load_transposed(pick),
        lambda: fill(pick),
        lambda: load_bias(pick),
        lambda: multiply(pick),
        lambda: multiply(pick),
        lambda: drain(pick),
    )
    while True:
        op = draws[pick(0, len(draws) - 1)]()
        if op is not None:
            return op

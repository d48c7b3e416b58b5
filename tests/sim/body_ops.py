# SPDX-License-Identifier: Apache-2.0
"""Vector instructions that have a body of their own, as parts of random streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sim.stream_op import BLOCK, REPEAT_BYTES, UB_BYTES, Op, Pick, elements

SIDE = 16  # of the tiles that are transposed
MOST = 150  # elements

Operand = tuple[int, np.ndarray]
"""The address of an operand, and the bytes of UB that it touches in the order of their values."""


def vector_op(
    key: str,
    dtypes: tuple[str, ...],
    params: tuple[Any, ...],
    dst: Operand,
    sources: tuple[Operand, ...],
    value: Callable[..., np.ndarray],
) -> Op | None:
    """An instruction that writes ``value(bytes of each source)`` to the bytes of ``dst``.

    None where an operand leaves UB or a source overlaps with ``dst``.
    """
    bytes_of = [at.reshape(-1) for _, at in (dst, *sources)]
    if any(at.max() >= UB_BYTES for at in bytes_of):
        return None
    low, high = bytes_of[0].min() // BLOCK, bytes_of[0].max() // BLOCK
    if any(at.min() // BLOCK <= high and low <= at.max() // BLOCK for at in bytes_of[1:]):
        return None

    def run(memory: dict[str, np.ndarray]) -> None:
        read = [memory["ub"][at] for at in bytes_of[1:]]
        memory["ub"][bytes_of[0]] = value(*read).reshape(-1).view("uint8")

    reads = {"ub": np.unique(np.concatenate(bytes_of[1:]))} if sources else {}
    places = tuple(("ub", at) for at, _ in (dst, *sources))
    return Op("V", key, dtypes, places, params, reads, {"ub": np.unique(bytes_of[0])}, run)


def run_of(pick: Pick, size: int) -> Operand:
    """So many bytes from any block on."""
    at = BLOCK * pick(0, UB_BYTES // BLOCK - 1)
    return at, at + np.arange(size)


def brcb(pick: Pick) -> Op | None:
    """Eight elements fill a block each, per repeat."""
    dtype = ("int16", "uint32")[pick(0, 1)]
    size = np.dtype(dtype).itemsize
    repeat, blk, rep = pick(1, 3), pick(1, 2), pick(16, 18)
    blocks = np.arange(repeat)[:, None] * rep + np.arange(8) * blk
    at, _ = run_of(pick, 0)
    return vector_op(
        "brcb",
        (dtype,),
        (repeat, blk, rep),
        (at, elements(at + blocks * BLOCK, BLOCK)),
        (run_of(pick, repeat * 8 * size),),
        lambda read: np.repeat(read.view(dtype), BLOCK // size),
    )


def transpose(pick: Pick) -> Op | None:
    """A tile of 16 by 16."""

    def value(read: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(read.view("int16").reshape(SIDE, SIDE).T)

    dst, src = (run_of(pick, 2 * SIDE * SIDE) for _ in range(2))
    return vector_op("transpose", ("int16",), (), dst, (src,), value)


def transpose_blocks(pick: Pick) -> Op | None:
    """TransDataTo5HD of 2 and 4 bytes: 16 rows of a block become columns."""
    dtype = ("int16", "int32")[pick(0, 1)]
    columns = BLOCK // np.dtype(dtype).itemsize
    repeat, blocks, rep = pick(1, 2), (pick(1, 2), pick(1, 2)), (pick(0, 1), pick(0, 1))
    if repeat > 1:
        rep = tuple(SIDE * b for b in blocks)  # repeats do not share blocks

    def operand(i: int) -> Operand:
        at, _ = run_of(pick, 0)
        first = np.arange(repeat) * rep[i] if repeat > 1 else np.array([rep[i]])
        starts = first[:, None] + np.arange(SIDE) * blocks[i]
        return at, elements(at + starts * BLOCK, BLOCK)

    def value(read: np.ndarray) -> np.ndarray:
        tiles = read.view(dtype).reshape(repeat, SIDE, columns)
        return np.ascontiguousarray(tiles.transpose(0, 2, 1))

    steps = tuple(b * columns for b in blocks)
    params = (*steps, 0, 0, repeat, *rep)
    return vector_op("trans_data_to_5hd", (dtype,), params, operand(0), (operand(1),), value)


def create_vec_index(pick: Pick) -> Op | None:
    """Counts up."""
    dtype = ("int16", "int32")[pick(0, 1)]
    first, count = pick(-9, 9), pick(1, MOST)
    return vector_op(
        "create_vec_index",
        (dtype,),
        (first, count),
        run_of(pick, count * np.dtype(dtype).itemsize),
        (),
        lambda: np.arange(first, first + count, dtype=dtype),
    )


def copy_in_ub(pick: Pick) -> Op | None:
    """Bursts of whole blocks with gaps."""
    count, length, gaps = pick(1, 3), pick(1, 4), (pick(0, 2), pick(0, 2))

    def operand(gap: int) -> Operand:
        at, _ = run_of(pick, 0)
        return at, elements(at + np.arange(count) * (length + gap) * BLOCK, length * BLOCK)

    params = (count, length, *gaps)
    dst, src = operand(gaps[1]), operand(gaps[0])
    return vector_op("data_copy_ub", ("int32",), params, dst, (src,), lambda read: read)


def cast(pick: Pick) -> Op | None:
    """int16 to float32, which holds each."""
    count = pick(1, MOST)
    return vector_op(
        "cast",
        ("float32", "int16"),
        ("CAST_NONE", count),
        run_of(pick, count * 4),
        (run_of(pick, count * 2),),
        lambda read: read.view("int16").astype("float32"),
    )


def compare(pick: Pick) -> Op | None:
    """A bit per element; of int32 the chip has only equality."""
    count = REPEAT_BYTES // 4 * pick(1, 3)
    return vector_op(
        "compare",
        ("int32", "uint8"),
        ("EQ", count),
        run_of(pick, count // 8),
        (run_of(pick, count * 4), run_of(pick, count * 4)),
        lambda a, b: np.packbits(a.view("int32") == b.view("int32"), bitorder="little"),
    )


def select(pick: Pick) -> Op | None:
    """Words of one source or the other, by the bits of a mask."""
    count = pick(1, MOST)

    def value(mask: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        bits = np.unpackbits(mask, bitorder="little")[:count]
        return np.where(bits, a.view("int32"), b.view("int32"))

    sources = run_of(pick, -(-count // 8)), run_of(pick, count * 4), run_of(pick, count * 4)
    params = ("VSEL_TENSOR_TENSOR_MODE", count)
    return vector_op(
        "select", ("float32", "uint8"), params, run_of(pick, count * 4), sources, value
    )


def gather_mask(pick: Pick) -> Op | None:
    """Packs every second, every fourth or all of the elements."""
    pattern, count = pick(1, 7), pick(8, MOST)
    first, step = ((0, 2), (1, 2), (0, 4), (1, 4), (2, 4), (3, 4), (0, 1))[pattern - 1]
    at, _ = run_of(pick, 0)
    read = elements(at + 4 * np.arange(first, count, step), 4)
    return vector_op(
        "gather_mask_fixed",
        ("int32",),
        (pattern, 1, count, 1, 1, 8, 0),
        run_of(pick, read.size),
        ((at, read),),
        lambda read: read,
    )


DRAWS = (
    *(brcb, transpose, transpose_blocks, create_vec_index, copy_in_ub, cast),
    *(compare, select, gather_mask),
)


def body_op(pick: Pick) -> Op | None:
    """Any of them."""
    return DRAWS[pick(0, len(DRAWS) - 1)](pick)

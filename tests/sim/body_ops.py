# SPDX-License-Identifier: Apache-2.0
"""Vector instructions that have a body of their own, as parts of random streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sim.stream_op import BLOCK, UB_BYTES, Op, Pick, elements

SIDE = 16  # of the tile that Transpose turns


def vector_op(
    key: str,
    dtypes: tuple[str, ...],
    params: tuple[Any, ...],
    dst: np.ndarray,
    src: np.ndarray | None,
    value: Callable[[np.ndarray], np.ndarray],
) -> Op | None:
    """An instruction that writes ``value(bytes of src)`` to the bytes ``dst``, in their order.

    Both begin at the operand's address. None where they lie outside of UB or overlap.
    """
    touched = [x.reshape(-1) for x in (dst, src) if x is not None]
    if any(x.max() >= UB_BYTES for x in touched):
        return None
    if src is not None:
        first, second = sorted(touched, key=lambda x: x.min())
        if first.max() >= second.min():
            return None

    def run(memory: dict[str, np.ndarray]) -> None:
        read = np.array([], "uint8") if src is None else memory["ub"][src.reshape(-1)]
        memory["ub"][dst.reshape(-1)] = value(read).reshape(-1).view("uint8")

    reads = {} if src is None else {"ub": np.unique(src)}
    places = tuple(("ub", int(x.reshape(-1)[0])) for x in touched)
    return Op("V", key, dtypes, places, params, reads, {"ub": np.unique(dst)}, run)


def ub_block(pick: Pick) -> int:
    return BLOCK * pick(0, UB_BYTES // BLOCK - 1)


def brcb(pick: Pick) -> Op | None:
    """Eight elements fill a block each, per repeat."""
    dtype = ("int16", "uint32")[pick(0, 1)]
    size = np.dtype(dtype).itemsize
    repeat, blk, rep = pick(1, 3), pick(1, 2), pick(16, 18)
    starts = np.arange(repeat)[:, None] * rep + np.arange(8) * blk
    dst = elements(ub_block(pick) + starts * BLOCK, BLOCK)
    src = ub_block(pick) + np.arange(repeat * 8 * size)

    def value(read: np.ndarray) -> np.ndarray:
        return np.repeat(read.view(dtype), BLOCK // size)

    return vector_op("brcb", (dtype,), (repeat, blk, rep), dst, src, value)


def transpose(pick: Pick) -> Op | None:
    """A tile of 16 by 16."""
    dst, src = (ub_block(pick) + np.arange(2 * SIDE * SIDE) for _ in range(2))

    def value(read: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(read.view("int16").reshape(SIDE, SIDE).T)

    return vector_op("transpose", ("int16",), (), dst, src, value)


def create_vec_index(pick: Pick) -> Op | None:
    """Counts up."""
    dtype = ("int16", "int32")[pick(0, 1)]
    first, count = pick(-9, 9), pick(1, 150)
    dst = ub_block(pick) + np.arange(count * np.dtype(dtype).itemsize)
    return vector_op(
        "create_vec_index",
        (dtype,),
        (first, count),
        dst,
        None,
        lambda _: np.arange(first, first + count, dtype=dtype),
    )


def copy_in_ub(pick: Pick) -> Op | None:
    """Bursts of whole blocks with gaps."""
    count, length, src_gap, dst_gap = pick(1, 3), pick(1, 4), pick(0, 2), pick(0, 2)

    def places(gap: int) -> np.ndarray:
        pitch = (length + gap) * BLOCK
        return elements(ub_block(pick) + np.arange(count) * pitch, length * BLOCK)

    params = (count, length, src_gap, dst_gap)
    dst, src = places(dst_gap), places(src_gap)
    return vector_op("data_copy_ub", ("int32",), params, dst, src, lambda read: read)


def cast(pick: Pick) -> Op | None:
    """int16 to float32, which holds each."""
    count = pick(1, 150)
    dst, src = (ub_block(pick) + np.arange(count * size) for size in (4, 2))
    return vector_op(
        "cast",
        ("float32", "int16"),
        ("CAST_NONE", count),
        dst,
        src,
        lambda read: read.view("int16").astype("float32"),
    )


DRAWS = (brcb, transpose, create_vec_index, copy_in_ub, cast)


def body_op(pick: Pick) -> Op | None:
    """Any of them."""
    return DRAWS[pick(0, len(DRAWS) - 1)](pick)

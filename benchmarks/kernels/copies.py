# SPDX-License-Identifier: Apache-2.0
"""Loads of a float16 matrix into UB or L1, tile by tile [measured: 5.5]."""

from __future__ import annotations

from tvm import tirx
from tvm.script import tirx as T

import tvm_ascend.language  # noqa: F401  registers T.ascend


def load_tiles(
    target: str, shape: tuple[int, int], tile: tuple[int, int], cores: int, repeats: int, parts: int
) -> tirx.PrimFunc:
    """Each core loads its rows; each of ``parts`` column ranges is loaded ``repeats`` times.

    Tiles land on each other in no order: nothing reads them.
    """
    (m, n), (rows, cols) = shape, tile
    own, width = m // cores, -(-n // parts)
    tall, wide = own // rows, -(-width // cols)
    scope, kind = ("shared.ub", "AIV") if target == "ub" else ("shared.l1", "AIC")
    to_ub = target == "ub"

    @T.prim_func
    def load(a: T.Buffer((m * n,), "float16")):
        T.func_attr({"global_symbol": "load", "ascend.core_type": kind, "ascend.grid": cores})
        with T.launch_thread("blockIdx.x", cores) as bx:
            chip = T.alloc_buffer(
                (rows * cols,), "float16", scope=scope, annotations={"ascend.address": 0}
            )
            for part, _, i, j in T.grid(parts, repeats, tall, wide):
                row: T.let[T.int32] = bx * own + i * rows
                col: T.let[T.int32] = part * width + j * cols
                now: T.let[T.int32] = T.min(cols, n - col)
                if to_ub:
                    T.ascend.data_copy_pad_in(
                        chip[0], a[row * n + col], rows, now * 2, (n - now) * 2, 0,
                        False, 0, 0, T.float16(0),
                    )  # fmt: skip
                else:
                    T.ascend.data_copy_nd2nz(
                        chip[0], a[row * n + col], 1, rows, now, 0, n, rows, 1, 0
                    )

    return load

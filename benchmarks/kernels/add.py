# SPDX-License-Identifier: Apache-2.0
"""float16 z = x + y of one long row, in the ways of the vendor's tuning example [measured: 5.5].

Every core takes a contiguous part. Buffers lie where the example puts them.
"""

# ruff: noqa: F841  the parser of TVMScript defines loop variables
from __future__ import annotations

from tvm import tirx
from tvm.script import tirx as T

import tvm_ascend.language  # noqa: F401  registers T.ascend

UB_BYTES = 192 * 1024


def scalar_add(elements: int, length: int = 4096) -> tirx.PrimFunc:
    """One core adds element by element in scalar code, as floats."""

    @T.prim_func
    def add(
        x: T.Buffer((elements,), "float16"),
        y: T.Buffer((elements,), "float16"),
        z: T.Buffer((elements,), "float16"),
    ):
        T.func_attr({"global_symbol": "add", "ascend.core_type": "AIV", "ascend.grid": 1})
        with T.launch_thread("blockIdx.x", 1) as bx:
            a = T.alloc_buffer(
                (length,), "float16", scope="shared.ub", annotations={"ascend.address": 0}
            )
            b = T.alloc_buffer(
                (length,), "float16", scope="shared.ub", annotations={"ascend.address": 8192}
            )
            c = T.alloc_buffer(
                (length,), "float16", scope="shared.ub", annotations={"ascend.address": 16384}
            )
            for t in range(elements // length):
                T.ascend.data_copy_in_count(a[0], x[t * length], length)
                T.ascend.data_copy_in_count(b[0], y[t * length], length)
                T.ascend.set_flag("MTE2_S", 0)
                T.ascend.wait_flag("MTE2_S", 0)
                for i in range(length):
                    c[i] = T.Cast("float16", T.Cast("float32", a[i]) + T.Cast("float32", b[i]))
                T.ascend.set_flag("S_MTE3", 0)
                T.ascend.wait_flag("S_MTE3", 0)
                T.ascend.data_copy_out_count(z[t * length], c[0], length)
                T.ascend.set_flag("MTE3_S", 0)
                T.ascend.wait_flag("MTE3_S", 0)
                T.ascend.set_flag("S_MTE2", 0)
                T.ascend.wait_flag("S_MTE2", 0)

    return add


def overlapped_add(elements: int, length: int = 4096) -> tirx.PrimFunc:
    """One core; the next tile is loaded while the last one is stored."""
    tiles = elements // length

    @T.prim_func
    def add(
        x: T.Buffer((elements,), "float16"),
        y: T.Buffer((elements,), "float16"),
        z: T.Buffer((elements,), "float16"),
    ):
        T.func_attr({"global_symbol": "add", "ascend.core_type": "AIV", "ascend.grid": 1})
        with T.launch_thread("blockIdx.x", 1) as bx:
            a = T.alloc_buffer(
                (length,), "float16", scope="shared.ub", annotations={"ascend.address": 0}
            )
            b = T.alloc_buffer(
                (length,), "float16", scope="shared.ub", annotations={"ascend.address": 2 * length}
            )
            c = T.alloc_buffer(
                (length,), "float16", scope="shared.ub", annotations={"ascend.address": 4 * length}
            )
            T.ascend.set_flag("V_MTE2", 0)
            T.ascend.set_flag("MTE3_V", 0)
            for t in range(tiles):
                T.ascend.wait_flag("V_MTE2", 0)
                T.ascend.data_copy_in_count(a[0], x[t * length], length)
                T.ascend.data_copy_in_count(b[0], y[t * length], length)
                T.ascend.set_flag("MTE2_V", 0)
                T.ascend.wait_flag("MTE2_V", 0)
                T.ascend.wait_flag("MTE3_V", 0)
                T.ascend.add(c[0], a[0], b[0], length)
                T.ascend.set_flag("V_MTE2", 0)
                T.ascend.set_flag("V_MTE3", 0)
                T.ascend.wait_flag("V_MTE3", 0)
                T.ascend.data_copy_out_count(z[t * length], c[0], length)
                T.ascend.set_flag("MTE3_V", 0)
            T.ascend.wait_flag("V_MTE2", 0)
            T.ascend.wait_flag("MTE3_V", 0)

    return add


def buffered_add(
    elements: int,
    cores: int,
    length: int,
    places: tuple[tuple[int, int], tuple[int, int], tuple[int, int]] | None = None,
) -> tirx.PrimFunc:
    """All cores; each set of buffers is loaded, added and stored before it is loaded again.

    ``places``: byte addresses of the two versions of x, y and z; None: one version.
    """
    versions = 1 if places is None else 2
    (x0, x1), (y0, y1), (z0, z1) = places or tuple((2 * i * length,) * 2 for i in range(3))
    part = -(-elements // cores // 128) * 128
    tiles = -(-part // length)
    # One buffer covers both versions of an operand and what lies between them.
    sizes = [(UB_BYTES - first) // 2 for first in (x0, y0, z0)]
    steps = [(second - first) // 2 for first, second in ((x0, x1), (y0, y1), (z0, z1))]

    @T.prim_func
    def add(
        x: T.Buffer((elements,), "float16"),
        y: T.Buffer((elements,), "float16"),
        z: T.Buffer((elements,), "float16"),
    ):
        T.func_attr({"global_symbol": "add", "ascend.core_type": "AIV", "ascend.grid": cores})
        with T.launch_thread("blockIdx.x", cores) as bx:
            a = T.alloc_buffer(
                (sizes[0],), "float16", scope="shared.ub", annotations={"ascend.address": x0}
            )
            b = T.alloc_buffer(
                (sizes[1],), "float16", scope="shared.ub", annotations={"ascend.address": y0}
            )
            c = T.alloc_buffer(
                (sizes[2],), "float16", scope="shared.ub", annotations={"ascend.address": z0}
            )
            for v in range(versions):
                T.ascend.set_flag("MTE3_MTE2", v)
            for t in range(tiles):
                at: T.let[T.int32] = bx * part + t * length
                left: T.let[T.int32] = T.min(part - t * length, elements - at)
                if left > 0:
                    n: T.let[T.int32] = T.min(left, length)
                    v: T.let[T.int32] = t % versions
                    T.ascend.wait_flag("MTE3_MTE2", v)
                    T.ascend.data_copy_in_count(a[v * steps[0]], x[at], n)
                    T.ascend.data_copy_in_count(b[v * steps[1]], y[at], n)
                    T.ascend.set_flag("MTE2_V", v)
                    T.ascend.wait_flag("MTE2_V", v)
                    T.ascend.add(c[v * steps[2]], a[v * steps[0]], b[v * steps[1]], n)
                    T.ascend.set_flag("V_MTE3", v)
                    T.ascend.wait_flag("V_MTE3", v)
                    T.ascend.data_copy_out_count(z[at], c[v * steps[2]], n)
                    T.ascend.set_flag("MTE3_MTE2", v)
            for v in range(versions):
                T.ascend.wait_flag("MTE3_MTE2", v)

    return add

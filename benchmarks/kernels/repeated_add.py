# SPDX-License-Identifier: Apache-2.0
"""The same float32 Add many times, with operands at given places of UB [measured: 5.5]."""

from __future__ import annotations

from tvm import tirx
from tvm.script import tirx as T

import tvm_ascend.language  # noqa: F401  registers T.ascend


def repeated_add(
    dst: int, src0: int, src1: int, src0_strides: tuple[int, int] = (1, 8), times: int = 1000
) -> tirx.PrimFunc:
    """4096 lanes in 64 repeats; ``src0_strides``: from block to block and repeat to repeat."""
    block, repeat = src0_strides

    @T.prim_func
    def add():
        T.func_attr({"global_symbol": "add", "ascend.core_type": "AIV", "ascend.grid": 1})
        with T.launch_thread("blockIdx.x", 1):
            a = T.alloc_buffer(
                (4096,), "float32", scope="shared.ub", annotations={"ascend.address": src0}
            )
            b = T.alloc_buffer(
                (4096,), "float32", scope="shared.ub", annotations={"ascend.address": src1}
            )
            c = T.alloc_buffer(
                (4096,), "float32", scope="shared.ub", annotations={"ascend.address": dst}
            )
            for _ in range(times):
                T.ascend.add_repeat(c[0], a[0], b[0], 64, 64, 1, block, 1, 8, repeat, 8)
                T.ascend.pipe_barrier("V")

    return add

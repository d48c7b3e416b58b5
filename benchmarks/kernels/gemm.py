# SPDX-License-Identifier: Apache-2.0
"""C = A B^T in float16 with float32 sums, as the published Cube kernels do it [measured: 5.5].

Tiles of 128x256x64 in L0; L1 holds two pieces of each operand, ``step_a`` and ``step_b`` tiles
deep; the next piece is loaded as soon as its buffer is free.
"""

from __future__ import annotations

from tvm import tirx
from tvm.script import tirx as T

import tvm_ascend.language  # noqa: F401  registers T.ascend

M0, N0, K0 = 128, 256, 64


def gemm(
    size: int, grid: tuple[int, int], steps: tuple[int, int], rounds: int, out: str
) -> tirx.PrimFunc:
    """m = n = k = size on ``grid`` cores; ``rounds``: parts of m that all cores do together."""
    (cores_m, cores_n), (step_a, step_b) = grid, steps
    cores = cores_m * cores_n
    tall = -(-size // (cores_m * rounds) // M0)  # tiles of a core in one round
    columns = -(-size // N0)
    wide = -(-columns // cores_n)
    depth = size // K0
    quant = {"float16": "F322F16", "float32": "NoQuant"}[out]

    @T.prim_func
    def multiply(
        a: T.Buffer((size, size), "float16"),
        b: T.Buffer((size, size), "float16"),
        c: T.Buffer((size, size), out),
    ):
        T.func_attr({"global_symbol": "multiply", "ascend.core_type": "AIC", "ascend.grid": cores})
        with T.launch_thread("blockIdx.x", cores) as bx:
            a1 = T.alloc_buffer(
                (2, M0 * K0 * step_a),
                "float16",
                scope="shared.l1",
                annotations={"ascend.address": 0},
            )
            b1 = T.alloc_buffer(
                (2, N0 * K0 * step_b),
                "float16",
                scope="shared.l1",
                annotations={"ascend.address": 262144},
            )
            a2 = T.alloc_buffer(
                (2, M0 * K0), "float16", scope="local.l0a", annotations={"ascend.address": 0}
            )
            b2 = T.alloc_buffer(
                (2, N0 * K0), "float16", scope="local.l0b", annotations={"ascend.address": 0}
            )
            c1 = T.alloc_buffer(
                (M0 * N0,), "float32", scope="local.l0c", annotations={"ascend.address": 0}
            )
            for v in range(4):
                T.ascend.set_flag("MTE1_MTE2", v)
            for v in range(2):
                T.ascend.set_flag("M_MTE1", v)
            T.ascend.set_flag("FIX_M", 0)
            for r, i, j in T.grid(rounds, tall, wide):
                row: T.let[T.int32] = ((r * cores_m + bx % cores_m) * tall + i) * M0
                col: T.let[T.int32] = (bx // cores_m * wide + j) * N0
                if T.bitwise_and(row < size, col < size):
                    T.ascend.wait_flag("MTE1_MTE2", 2)
                    T.ascend.data_copy_nd2nz(
                        b1[0, 0], b[col, 0], 1, N0, K0 * step_b, 0, size, N0, 1, 0
                    )
                    T.ascend.set_flag("MTE2_MTE1", 2)
                    T.ascend.wait_flag("MTE1_MTE2", 0)
                    T.ascend.data_copy_nd2nz(
                        a1[0, 0], a[row, 0], 1, M0, K0 * step_a, 0, size, M0, 1, 0
                    )
                    T.ascend.set_flag("MTE2_MTE1", 0)
                    for k in range(depth):
                        at_a: T.let[T.int32] = k // step_a % 2
                        at_b: T.let[T.int32] = k // step_b % 2
                        v: T.let[T.int32] = k % 2
                        T.ascend.wait_flag("M_MTE1", v)
                        if k % step_a == 0:
                            T.ascend.wait_flag("MTE2_MTE1", at_a)
                        for s in range(M0 // 16):
                            T.ascend.load_data_2d(
                                a2[v, s * 16 * K0],
                                a1[at_a, k % step_a * M0 * K0 + s * 256],
                                0, K0 // 16, M0 // 16, 0, False,
                            )  # fmt: skip
                        if k % step_b == 0:
                            T.ascend.wait_flag("MTE2_MTE1", at_b + 2)
                        T.ascend.load_data_2d(
                            b2[v, 0], b1[at_b, k % step_b * N0 * K0], 0, N0 * K0 // 256, 1, 0, False
                        )
                        if k % step_a == step_a - 1:
                            T.ascend.set_flag("MTE1_MTE2", at_a)
                        if k % step_b == step_b - 1:
                            T.ascend.set_flag("MTE1_MTE2", at_b + 2)
                        T.ascend.set_flag("MTE1_M", v)
                        T.ascend.wait_flag("MTE1_M", v)
                        if k == 0:
                            T.ascend.wait_flag("FIX_M", 0)
                        T.ascend.mmad(c1[0], a2[v, 0], b2[v, 0], M0, N0, K0, k == 0)
                        T.ascend.set_flag("M_MTE1", v)
                        if T.bitwise_and(k % step_b == 0, k + step_b < depth):
                            T.ascend.wait_flag("MTE1_MTE2", 3 - at_b)
                            T.ascend.data_copy_nd2nz(
                                b1[1 - at_b, 0], b[col, (k + step_b) * K0],
                                1, N0, K0 * step_b, 0, size, N0, 1, 0,
                            )  # fmt: skip
                            T.ascend.set_flag("MTE2_MTE1", 3 - at_b)
                        if T.bitwise_and(k % step_a == 0, k + step_a < depth):
                            T.ascend.wait_flag("MTE1_MTE2", 1 - at_a)
                            T.ascend.data_copy_nd2nz(
                                a1[1 - at_a, 0], a[row, (k + step_a) * K0],
                                1, M0, K0 * step_a, 0, size, M0, 1, 0,
                            )  # fmt: skip
                            T.ascend.set_flag("MTE2_MTE1", 1 - at_a)
                    T.ascend.set_flag("M_FIX", 0)
                    T.ascend.wait_flag("M_FIX", 0)
                    T.ascend.fixpipe(c[row, col], c1[0], N0, M0, M0, size, False, quant)
                    T.ascend.set_flag("FIX_M", 0)
            for v in range(4):
                T.ascend.wait_flag("MTE1_MTE2", v)
            for v in range(2):
                T.ascend.wait_flag("M_MTE1", v)
            T.ascend.wait_flag("FIX_M", 0)

    return multiply

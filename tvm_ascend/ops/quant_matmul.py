# SPDX-License-Identifier: Apache-2.0
"""Products of int8 that end in half or bfloat16: Cube cores multiply, Vector cores scale.

A tile of int32 sums goes through a workspace in GM, which holds two of each AI Core; the two Vector
cores of it take half of the rows each. Fixpipe has no scale that ends in bfloat16 [doc: ASCEND
3.10].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from tvm import tirx

from tvm_ascend import language as T
from tvm_ascend.hw.chip import VECTOR_CORES, ChipSpec
from tvm_ascend.isa.formula import ITEMSIZE
from tvm_ascend.layout.fractal import align, c0_of, ceildiv
from tvm_ascend.ops.op import Op, Signature, numpy_dtype
from tvm_ascend.ops.tiles import piece, tiled
from tvm_ascend.schedule.tile_model import Model, Problem, Tile
from tvm_ascend.schedule.tiling import candidates, misfit

RESULTS = ("float16", "bfloat16")
SCALES = ("float32", "bfloat16")
STAGES = 2
# Flags: a slot of the workspace is full (Cube to Vector cores), or free again (back).
FULL, FREE = 0, STAGES
# Bytes of UB for an element of a tile: the sum, its value in float32, the result, and temporaries.
_UB_BYTES = 11


def make_quant_matmul(signature: Signature, chip: ChipSpec) -> tirx.PrimFunc | None:
    """``a[m, k], b[n, k], scale[n]`` and a bias or a scale of each row -> ``c[m, n]``.

    ``c = (a b^T + bias[n]) * scale`` with int32 bias, ``c = (a b^T) * scale * rows[m]`` with
    float32 scales of the rows. The last parameter is a workspace, which needs no values.
    """
    if not _fits(signature):
        return None
    (m, k), (n, _), *_ = signature.inputs
    problem = Problem(batch=1, m=m, n=n, k=k, dtype="int8", out_dtype="int32", transpose_b=True)
    tile = min(_tiles(problem, chip), key=lambda t: _cycles(t, problem, signature, chip))
    blocks = min(chip.cores("AIC"), ceildiv(m, tile.tile_m) * ceildiv(n, tile.tile_n))
    return _kernel(m, n, k, tile, blocks, (*signature.dtypes[2:], *signature.out_dtypes))


def _fits(signature: Signature) -> bool:
    shapes, dtypes = signature.inputs, signature.dtypes
    if len(shapes) != 4 or len(shapes[0]) != 2 or len(shapes[1]) != 2:
        return False
    (m, k), (n, depth), scale, last = shapes
    return (
        (depth, scale, signature.outputs) == (k, (n,), ((m, n),))
        and dtypes[:2] == ("int8", "int8")
        and dtypes[2] in SCALES
        and (dtypes[3], last) in {("int32", (n,)), ("float32", (m,))}
        and signature.out_dtypes[0] in RESULTS
    )


def _tiles(problem: Problem, chip: ChipSpec) -> Iterator[Tile]:
    """Tiles that fit, with the longest piece of k that does for each step of it."""
    options, c0 = candidates(problem, chip), c0_of(problem.dtype, chip)
    for tile_m in options["tile_m"]:
        for tile_n in options["tile_n"]:
            if tile_m // VECTOR_CORES * tile_n * _UB_BYTES > chip.capacity("ub"):
                continue
            for k0 in options["tile_k0"]:
                steps = (s for s in (8, 4, 2, 1) if s * k0 <= align(problem.k, c0))
                fitting = (
                    Tile(
                        tile_m=tile_m,
                        tile_n=tile_n,
                        tile_k0=k0,
                        k_steps=step,
                        num_stages=STAGES,
                        l0_stages=STAGES,
                    )
                    for step in steps
                )
                found = next((t for t in fitting if misfit(t, problem, chip) is None), None)
                if found is not None:
                    yield found


def _cycles(tile: Tile, problem: Problem, signature: Signature, chip: ChipSpec) -> float:
    """Both kinds of core work on different tiles; tiles of one core follow each other."""
    rows, cols = min(tile.tile_m, problem.m), min(tile.tile_n, problem.n)
    grid = ceildiv(problem.m, tile.tile_m) * ceildiv(problem.n, tile.tile_n)
    cores = min(grid, chip.cores("AIC"))
    one = Problem(**{**vars(problem), "m": rows, "n": cols})
    cube = Model(one, chip).estimate(tile).cycles
    rates = chip.timing_constants("AIV", VECTOR_CORES * cores)
    lanes = ceildiv(rows, VECTOR_CORES) * cols
    vector = rates["GM_READ_LATENCY"] + lanes * (
        ITEMSIZE["int32"] / rates["GM_READ_BYTES_PER_CYCLE"]
        + ITEMSIZE[signature.out_dtypes[0]] / rates["GM_WRITE_BYTES_PER_CYCLE"]
    )
    return ceildiv(grid, cores) * max(cube, vector) + min(cube, vector)


class _Places:
    """Where the i-th tile of a block is: tiles go down the rows first, so that cores share b."""

    def __init__(self, m: int, n: int, tile: Tile, blocks: int) -> None:
        self.m, self.n, self.tile, self.blocks = m, n, tile, blocks
        self.rows = ceildiv(m, tile.tile_m)
        self.tiles = self.rows * ceildiv(n, tile.tile_n)

    def turns(self, block):
        """How many tiles a block has."""
        if self.tiles % self.blocks == 0:
            return self.tiles // self.blocks
        return T.ceildiv(self.tiles - block, self.blocks)

    def row(self, block, turn):
        """First row of a tile."""
        return (block + turn * self.blocks) % self.rows * self.tile.tile_m

    def column(self, block, turn):
        """First column of a tile."""
        return (block + turn * self.blocks) // self.rows * self.tile.tile_n

    def height(self, block, core, turn):
        """Rows of the half of a tile that exist, where any does."""
        half = self.tile.tile_m // VECTOR_CORES
        if self.m % half == 0:
            return half
        return T.min(half, self.m - self.row(block, turn) - core * half)

    def width(self, block, turn):
        """Columns of a tile that exist."""
        return piece(self.n, self.tile.tile_n, (block + turn * self.blocks) // self.rows)


def _kernel(
    m: int, n: int, k: int, tile: Tile, blocks: int, dtypes: Sequence[str]
) -> tirx.PrimFunc:
    """``dtypes``: of the scale, of what is last among the inputs, and of the result."""
    tall, wide, deep = tile.tile_m, tile.tile_n, tile.tile_k
    half, at = tall // VECTOR_CORES, _Places(m, n, tile, blocks)
    scale, last, out = dtypes
    biased = last == "int32"
    more = ceildiv(at.tiles, blocks) > STAGES

    @T.prim_func
    def quant_matmul(
        A: T.Tensor((m, k), "int8"),
        B: T.Tensor((n, k), "int8"),
        S: T.Tensor((1, n), scale),
        X: T.Tensor((1, n) if biased else (m, 1), last),
        C: T.Tensor((m, n), out),
        W: T.Tensor((blocks, STAGES, tall, wide), "int32"),
    ):
        with T.Kernel(blocks, is_npu=True) as (cid, vid):
            with T.Scope("C"):
                for i in T.serial(at.turns(cid)):
                    c = T.alloc_L0C((tall, wide), "int32")
                    T.clear(c)
                    for step in T.Pipelined(T.ceildiv(k, deep), num_stages=STAGES):
                        a = T.alloc_L1((tall, deep), "int8")
                        b = T.alloc_L1((wide, deep), "int8")
                        T.copy(A[at.row(cid, i), step * deep], a)
                        T.copy(B[at.column(cid, i), step * deep], b)
                        T.gemm(a, b, c, transpose_B=True)
                    if more:  # noqa: SIM102  decided as the kernel is made
                        if i >= STAGES:
                            T.wait_cross_flag(FREE + i % STAGES)
                    T.copy(c, W[cid, i % STAGES, 0, 0])
                    T.set_cross_flag("FIX", FULL + i % STAGES)
            with T.Scope("V"):
                for i in T.serial(at.turns(cid)):
                    scales = T.alloc_ub((1, wide), "float32")
                    added = T.alloc_ub((1, wide) if biased else (half, 1), last)
                    sums = T.alloc_ub((half, wide), "int32")
                    values = T.alloc_ub((half, wide), "float32")
                    T.copy(S[0, at.column(cid, i)], scales[0:1, 0 : at.width(cid, i)])
                    if biased:
                        T.copy(X[0, at.column(cid, i)], added[0:1, 0 : at.width(cid, i)])
                    else:
                        if at.row(cid, i) + vid * half < m:
                            T.copy(
                                X[at.row(cid, i) + vid * half, 0],
                                added[0 : at.height(cid, vid, i), 0:1],
                            )
                    T.wait_cross_flag(FULL + i % STAGES)
                    T.copy(W[cid, i % STAGES, vid * half, 0], sums)
                    if more:  # noqa: SIM102  decided as the kernel is made
                        if i + STAGES < at.turns(cid):
                            T.set_cross_flag("MTE2", FREE + i % STAGES)
                    if biased:
                        for r, q in T.Parallel(half, at.width(cid, i)):
                            sums[r, q] = sums[r, q] + added[0, q]
                    for r, q in T.Parallel(half, at.width(cid, i)):
                        values[r, q] = T.Cast("float32", sums[r, q]) * scales[0, q]
                    if at.row(cid, i) + vid * half < m:
                        if not biased:
                            for r, q in T.Parallel(at.height(cid, vid, i), at.width(cid, i)):
                                values[r, q] = values[r, q] * added[r, 0]
                        T.copy(
                            values[0:half, 0 : at.width(cid, i)],
                            C[at.row(cid, i) + vid * half, at.column(cid, i)],
                        )

    return tiled(quant_matmul, tall, wide, deep)


def _reference(inputs: Sequence[np.ndarray], signature: Signature) -> tuple[np.ndarray, ...]:
    a, b, scale, last = inputs
    sums = a.astype("int64") @ b.astype("int64").T
    if last.dtype == np.int32:
        values = (sums + last).astype("float32") * scale.astype("float32")
    else:
        values = sums.astype("float32") * scale.astype("float32") * last[:, None]
    return (values.astype(numpy_dtype(signature.out_dtypes[0])),)


QUANT_MATMUL = Op(name="quant_matmul", make=make_quant_matmul, reference=_reference, workspaces=1)

# SPDX-License-Identifier: Apache-2.0
"""Multi-level tiling of a matrix multiply onto the Cube: GM -> L1 -> L0A/L0B -> L0C -> GM."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tvm import s_tir, tirx
from tvm.ir import TensorLoad
from tvm.s_tir import SBlock

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.cube import DRAINS
from tvm_ascend.layout.fractal import c0_of
from tvm_ascend.schedule.intrinsics import ACCUMULATOR_OF
from tvm_ascend.schedule.match import (
    Contraction,
    covers_domains,
    match_contraction,
    realizes,
    strip_casts,
)
from tvm_ascend.schedule.tile_model import Problem
from tvm_ascend.schedule.tiling import CHOICES, OVERRIDES, candidates, choose_tiling, has_tile

STAGES = "ascend.num_stages"
OP = "ascend.op"

Sampler = Callable[[str, Sequence[int]], object]
"""Returns the value, or the random variable of a traced schedule, of one named decision."""


class Matmul(NamedTuple):
    """A matrix multiply that the Cube can do, and the blocks around it.

    ``producers`` only reorder an operand and are inlined; ``epilogue`` casts the sum in storing it.
    """

    block: str
    contraction: Contraction
    producers: tuple[str, ...] = ()
    epilogue: str | None = None


def find_matmul(func: tirx.PrimFunc, chip: ChipSpec) -> Matmul | None:
    """The matrix multiply that a function is, or None."""
    if not covers_domains(func):
        return None
    before = [r.block for r in realizes(func)]
    producers = tuple(block.name_hint for block in before if _reorders(block, before))
    if producers:
        sch = s_tir.Schedule(func)
        for name in producers:
            sch.compute_inline(sch.get_sblock(name))
        func = sch.mod["main"]
    blocks = realizes(func)
    found = match_contraction(blocks[0]) if blocks else None
    if found is None or found.dtype not in ACCUMULATOR_OF or len(blocks) > 2:
        return None
    epilogue = None
    if len(blocks) == 2:
        last = blocks[1].block
        if found.out_dtype != ACCUMULATOR_OF[found.dtype] or not _casts(last, blocks[0].block):
            return None
        epilogue, out_dtype = last.name_hint, str(last.body.buffer.dtype)
        found = replace(found, out_dtype=out_dtype)
    if not _fits_the_cube(found, chip):
        return None
    return Matmul(blocks[0].block.name_hint, found, producers, epilogue)


def _fits_the_cube(found: Contraction, chip: ChipSpec) -> bool:
    if (found.out_dtype, ACCUMULATOR_OF[found.dtype]) not in DRAINS:
        return False
    # An 8-bit fractal is 16 x 32 and LoadData transposes 16-bit fractals only [doc: ASCEND 2.3].
    if c0_of(found.dtype, chip) != chip.cube_block and (found.transpose_a or not found.transpose_b):
        return False
    if not all(isinstance(extent, (int, tirx.IntImm)) for extent in found.extents):
        return False
    return has_tile(problem_of(found), chip)


def _reorders(block: SBlock, blocks: Sequence[SBlock]) -> bool:
    """Whether a block copies its input, permuted perhaps, for a contraction to read."""
    store = block.body
    if block.init is not None or not isinstance(store, tirx.BufferStore):
        return False
    feeds = any(b.init is not None and store.buffer in [r.source for r in b.reads] for b in blocks)
    return feeds and isinstance(store.value, TensorLoad)


def _casts(block: SBlock, producer: SBlock) -> bool:
    """Whether a block casts the elements that ``producer`` wrote, each in its place."""
    store = block.body
    if block.init is not None or not isinstance(store, tirx.BufferStore):
        return False
    load = strip_casts(store.value)
    return (
        isinstance(load, TensorLoad)
        and load.source.same_as(producer.writes[0].source)
        and len(load.indices) == len(store.indices)
        and all(i.same_as(j) for i, j in zip(load.indices, store.indices, strict=True))
    )


def problem_of(found: Contraction) -> Problem:
    """The sizes that tiling looks at."""
    m, n, k = (int(x) for x in found.sizes)
    return Problem(
        batch=found.batch_size,
        m=m,
        n=n,
        k=k,
        dtype=found.dtype,
        out_dtype=found.out_dtype,
        transpose_a=found.transpose_a,
        transpose_b=found.transpose_b,
    )


def matmul_rule(
    func: tirx.PrimFunc, chip: ChipSpec, overrides: Mapping[str, int]
) -> tuple[s_tir.Schedule, dict] | None:
    """Schedule one matrix multiply with the best tiling of the model, or return None."""
    found = find_matmul(func, chip)
    if found is None:
        return None
    problem = problem_of(found.contraction)
    tiling = choose_tiling(problem, chip, overrides)
    sch = s_tir.Schedule(func)
    schedule_matmul(sch, tiling.chosen.decisions(), chip)
    named = tiling.chosen.settled(problem).decisions()
    names = [n for n in OVERRIDES if n in CHOICES or n in overrides]
    return sch, {**{name: named[name] for name in names}, "tiling": tiling}


def schedule_matmul(
    sch: s_tir.Schedule, tiles: Mapping[str, int] | Sampler, chip: ChipSpec, func_name: str = "main"
) -> None:
    """Tile the matrix multiply of ``sch``.

    ``tiles`` gives ``tile_m``, ``tile_n``, ``tile_k0`` (k of one Cube step), ``k_steps`` (Cube
    steps of one L1 tile, so ``tile_k = k_steps * tile_k0``), ``a_steps`` (L1 tiles of the right
    operand that one of the left spans in k), ``num_stages`` (L1) and ``l0_stages``;
    or it is a function of (name, candidates) whose results may be random variables of a traced
    schedule.
    Tiles need not divide: the loops run past the tensors, and tile copies clip at their edges.
    """
    func = sch.mod[func_name]
    found = find_matmul(func, chip)
    assert found is not None, "the function holds no matrix multiply for the Cube"
    if callable(tiles):
        sampler = tiles
    else:
        given = tiles

        def sampler(decision, _candidates):
            return given[decision]

    options = candidates(problem_of(found.contraction), chip)
    choice = {decision: sampler(decision, values) for decision, values in options.items()}
    _tile(sch, found, choice, func_name)


def _tile(sch: s_tir.Schedule, matmul: Matmul, choice: Mapping[str, object], func: str) -> None:
    for name in matmul.producers:
        sch.compute_inline(sch.get_sblock(name, func))
    block, found = sch.get_sblock(matmul.block, func), matmul.contraction
    if matmul.epilogue is None:
        c_l0 = sch.cache_write(block, 0, "local.l0c")
        if found.out_dtype != ACCUMULATOR_OF[found.dtype]:
            sch.unsafe_set_dtype(block, 0, ACCUMULATOR_OF[found.dtype])
    else:
        sch.set_scope(block, 0, "local.l0c")
        c_l0 = sch.get_sblock(matmul.epilogue, func)
    a_l1, b_l1 = (sch.cache_read(block, i, "shared.l1") for i in (found.a, found.b))
    a_l0, b_l0 = (
        sch.cache_read(block, i, scope)
        for i, scope in ((found.a, "local.l0a"), (found.b, "local.l0b"))
    )
    loops = sch.get_loops(block)
    batch = [loops[axis] for axis in found.batch]
    m0, m1 = _split(sch, loops[found.m], choice["tile_m"])
    n0, n1 = _split(sch, loops[found.n], choice["tile_n"])
    factors = (choice[name] for name in ("a_steps", "k_steps", "tile_k0"))
    a0, b0, k1, k2 = _split(sch, loops[found.k], *factors)
    sch.reorder(*batch, m0, n0, a0, b0, k1, m1, n1, k2)
    core = sch.fuse(*batch, m0, n0, preserve_unit_iters=True)
    sch.bind(core, "blockIdx.x")
    for copy, loop in ((a_l0, k1), (b_l0, k1), (a_l1, a0), (b_l1, b0)):
        sch.compute_at(copy, loop, preserve_unit_loops=True)
    sch.reverse_compute_at(c_l0, core, preserve_unit_loops=True)
    tile = sch.blockize(m1, preserve_unit_iters=True)
    sch.annotate(tile, OP, "gemm")
    sch.annotate(a0, STAGES, choice["num_stages"])
    sch.annotate(b0, STAGES, choice["num_stages"])
    sch.annotate(k1, STAGES, choice["l0_stages"])


def _split(sch: s_tir.Schedule, loop, *factors):
    return sch.split(loop, [None, *factors], preserve_unit_iters=True, disable_predication=True)

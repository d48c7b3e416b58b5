# SPDX-License-Identifier: Apache-2.0
"""Multi-level tiling of a matrix multiply onto the Cube: GM -> L1 -> L0A/L0B -> L0C -> GM."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tvm import s_tir, tirx

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.layout.fractal import c0_of
from tvm_ascend.schedule.match import Contraction, match_contraction, realizes
from tvm_ascend.schedule.tiling import Problem, candidates, choose_tiling

ACCUMULATOR_OF = {"float16": "float32", "bfloat16": "float32", "int8": "int32"}
STORES = {"float32": ("float32", "float16", "bfloat16"), "int32": ("int32",)}
STAGES = "ascend.num_stages"
OP = "ascend.op"

Sampler = Callable[[str, Sequence[int]], object]
"""Returns the value, or the random variable of a traced schedule, of one named decision."""


def find_matmul(func: tirx.PrimFunc, chip: ChipSpec) -> tuple[str, Contraction] | None:
    """The block of a function that is one matrix multiply the Cube can do, else None."""
    blocks = realizes(func)
    if len(blocks) != 1:
        return None
    found = match_contraction(blocks[0])
    if found is None or found.dtype not in ACCUMULATOR_OF:
        return None
    if found.out_dtype not in STORES[ACCUMULATOR_OF[found.dtype]]:
        return None
    # An 8-bit fractal is 16 x 32 and LoadData transposes 16-bit fractals only [doc: ASCEND 2.3].
    if c0_of(found.dtype, chip) != chip.cube_block and (found.transpose_a or not found.transpose_b):
        return None
    if not all(isinstance(extent, (int, tirx.IntImm)) for extent in found.extents):
        return None
    return blocks[0].block.name_hint, found


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
    tiling = choose_tiling(problem_of(found[1]), chip, overrides)
    sch = s_tir.Schedule(func)
    schedule_matmul(sch, tiling.chosen.decisions(), chip)
    return sch, {**tiling.chosen.decisions(), "tiling": tiling}


def schedule_matmul(
    sch: s_tir.Schedule, tiles: Mapping[str, int] | Sampler, chip: ChipSpec, func_name: str = "main"
) -> None:
    """Tile the matrix multiply of ``sch``.

    ``tiles`` gives ``tile_m``, ``tile_n``, ``tile_k0`` (k of one Cube step), ``k_steps`` (Cube
    steps of one L1 tile, so ``tile_k = k_steps * tile_k0``), ``num_stages`` (L1) and ``l0_stages``;
    or it is a function of (name, candidates) whose results may be random variables of a traced
    schedule.
    Tiles need not divide: the loops run past the tensors, and tile copies clip at their edges.
    """
    func = sch.mod[func_name]
    found = find_matmul(func, chip)
    assert found is not None, "the function holds no matrix multiply for the Cube"
    name, contraction = found
    if callable(tiles):
        sampler = tiles
    else:
        given = tiles

        def sampler(decision, _candidates):
            return given[decision]

    options = candidates(problem_of(contraction), chip)
    choice = {decision: sampler(decision, values) for decision, values in options.items()}
    _tile(sch, sch.get_sblock(name, func_name), contraction, choice)


def _tile(sch: s_tir.Schedule, block, found: Contraction, choice: Mapping[str, object]) -> None:
    c_l0 = sch.cache_write(block, 0, "local.l0c")
    if found.out_dtype != ACCUMULATOR_OF[found.dtype]:
        sch.unsafe_set_dtype(block, 0, ACCUMULATOR_OF[found.dtype])
    a_l1, b_l1 = (sch.cache_read(block, i, "shared.l1") for i in (found.a, found.b))
    a_l0, b_l0 = (
        sch.cache_read(block, i, scope)
        for i, scope in ((found.a, "local.l0a"), (found.b, "local.l0b"))
    )
    loops = sch.get_loops(block)
    batch = [loops[axis] for axis in found.batch]
    m0, m1 = _split(sch, loops[found.m], choice["tile_m"])
    n0, n1 = _split(sch, loops[found.n], choice["tile_n"])
    k0, k1, k2 = _split(sch, loops[found.k], choice["k_steps"], choice["tile_k0"])
    sch.reorder(*batch, m0, n0, k0, k1, m1, n1, k2)
    core = sch.fuse(*batch, m0, n0, preserve_unit_iters=True)
    sch.bind(core, "blockIdx.x")
    for copy, loop in ((a_l0, k1), (b_l0, k1), (a_l1, k0), (b_l1, k0)):
        sch.compute_at(copy, loop, preserve_unit_loops=True)
    sch.reverse_compute_at(c_l0, core, preserve_unit_loops=True)
    tile = sch.blockize(m1, preserve_unit_iters=True)
    sch.annotate(tile, OP, "gemm")
    sch.annotate(k0, STAGES, choice["num_stages"])
    sch.annotate(k1, STAGES, choice["l0_stages"])


def _split(sch: s_tir.Schedule, loop, *factors):
    return sch.split(loop, [None, *factors], preserve_unit_iters=True, disable_predication=True)

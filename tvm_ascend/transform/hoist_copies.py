# SPDX-License-Identifier: Apache-2.0
"""Load what every iteration of a loop needs alike once, before the loop."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.isa.instr import Space
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.match import variables
from tvm_ascend.transform.tile_args import as_region, sequence


@prim_func_pass(opt_level=0, name="ascend.HoistCopies")
class HoistCopies:
    """Move a copy out of a loop that neither its source nor its target depends on.

    Before::

        for step in T.serial(3):
            g = T.alloc_buffer((1024,), "float16", scope="shared.ub")
            T.ascend.tile_copy(Gamma[0:1024], g[0:1024])
            use(step, g)

    After::

        g = T.alloc_buffer((1024,), "float16", scope="shared.ub")
        T.ascend.tile_copy(Gamma[0:1024], g[0:1024])
        for step in T.serial(3):
            use(step, g)

    The tensor is one that the kernel only reads, and nothing else writes the tile. Runs after
    MapCores, whose loop over blocks is the usual one.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        written = _writes(func.body)

        def loop(stmt: tirx.For, mutator):
            stmt = mutator.default_mutate(stmt)
            if stmt.kind != tirx.ForKind.SERIAL or not isinstance(stmt.body, tirx.SeqStmt):
                return stmt
            hoisted, kept = _split(stmt, written)
            if not hoisted:
                return stmt
            body = sequence(kept, stmt.body.span)
            rest = tirx.For(
                stmt.loop_var, stmt.min, stmt.extent, stmt.kind, body, stmt.thread_binding,
                stmt.annotations, stmt.step, stmt.span,
            )  # fmt: skip
            return tirx.SeqStmt([*hoisted, rest], stmt.span)

        body = tvm_ffi.structural_mutate(func.body, [(tirx.For, loop)])
        return func.with_body(body, func.span)


def _writes(body) -> dict:
    """How many statements write each buffer."""
    count: dict = {}

    def add(buffer) -> None:
        count[buffer] = count.get(buffer, 0) + 1

    def evaluate(stmt: tirx.Evaluate) -> None:
        key = key_of(stmt)
        if key is None:
            return
        targets = {"tile_copy": 1, "tile_fill": 0, "tile_gemm": 0, "tile_reduce": 0}
        operands = [a for a in stmt.value.args if _is_operand(a)]
        # An instruction written by hand may write any operand.
        for operand in [operands[targets[key]]] if key in targets else operands:
            add(as_region(operand).source)

    tvm_ffi.structural_walk(
        body, [(tirx.Evaluate, evaluate), (tirx.BufferStore, lambda s: add(s.buffer))]
    )
    return count


def _is_operand(arg) -> bool:
    return isinstance(arg, (tvm.ir.TensorLoad, tvm.ir.TensorRegion))


def _split(loop: tirx.For, written: dict) -> tuple[list, list]:
    """The statements that may move before a loop, and those that stay."""
    parts = list(loop.body.seq)
    allocations = {s.buffer: s for s in parts if isinstance(s, tirx.AllocBuffer)}
    local = {loop.loop_var} | {s.var for s in parts if isinstance(s, tirx.Bind)}
    hoisted: list = []
    for stmt in parts:
        if key_of(stmt) != "tile_copy":
            continue
        src, dst = (as_region(arg) for arg in stmt.value.args)
        invariant = not any(
            variables(e) & local for r in (*src.region, *dst.region) for e in (r.min, r.extent)
        )
        once = written.get(dst.source) == 1 and src.source not in written
        if invariant and once and space_of(src.source) is Space.GM and dst.source in allocations:
            hoisted += [allocations[dst.source], stmt]
    return hoisted, [s for s in parts if not any(s.same_as(h) for h in hoisted)]

# SPDX-License-Identifier: Apache-2.0
"""Order every dependence between instructions with the fewest flags and barriers."""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.language.core_sides import on_each_core
from tvm_ascend.language.ops import call
from tvm_ascend.target import chip_of
from tvm_ascend.transform.notes import note
from tvm_ascend.transform.sync.hoist import hoist_scalar_reads
from tvm_ascend.transform.sync.machine import Action, Placed
from tvm_ascend.transform.sync.plan import Sync, placed
from tvm_ascend.transform.sync.program import read_program
from tvm_ascend.transform.sync.require import Requirements
from tvm_ascend.transform.sync.search import Search
from tvm_ascend.transform.sync.tree import Node, build, rebuild, steps

OWN_FLAGS = "ascend.own_flags"
"""Set on a function whose order is its author's."""


@prim_func_pass(opt_level=0, name="ascend.InsertSync")
class InsertSync:
    """Insert ``set_flag``, ``wait_flag`` and ``pipe_barrier``.

    Before::

        T.ascend.data_copy_pad_in(x[0], A[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        T.ascend.exp(x[0], x[0], 64)
        T.ascend.abs(x[0], x[0], 64)

    After::

        T.ascend.data_copy_pad_in(x[0], A[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        T.ascend.set_flag("MTE2_V", 0)
        T.ascend.wait_flag("MTE2_V", 0)
        T.ascend.exp(x[0], x[0], 64)
        T.ascend.pipe_barrier("V")
        T.ascend.abs(x[0], x[0], 64)

    What has to be ordered: accesses of overlapping bytes by two pipes unless both read; on one pipe
    a write followed by a read or write of the same bytes (for Mmad only while it is short); the
    scalar unit is a pipe, in order with itself. Dependences are found by address, so reuse of
    memory is covered. Loops are cut to as many iterations as buffers have versions; a run with
    vector clocks says what is still open, and at the end every sync that can go has gone.

    Runs after PlanMemory. A program that has flags or barriers of its own is left alone: then all
    order is the author's. Flags between cores are always the author's and stay where they are.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        return on_each_core(func, _ordered)


def _ordered(func: tirx.PrimFunc) -> tirx.PrimFunc:
    if any(step.sync for step in steps(build(func.body))):
        func = note(func, "InsertSync: the kernel has flags of its own, none were added")
        return func.with_attr(OWN_FLAGS, True)
    chip = chip_of(func)
    tree = build(hoist_scalar_reads(func.body))
    fractals = int(chip.constants["MMAD_BARRIER_FRACTALS"])
    requirements = Requirements(read_program(tree), fractals * chip.cube_block**2)
    syncs = Search(requirements, chip.usable_event_ids).run()
    before, after = (_statements(actions) for actions in placed(syncs))
    return func.with_body(rebuild(tree, before, after))


def _statements(actions: Placed) -> dict[Node, list[tirx.Stmt]]:
    return {node: [_statement(a) for a in found] for node, found in actions.items()}


def _statement(action: Action) -> tirx.Stmt:
    """The TIR of one action, on the user's line that it protects."""
    sync = action.owner
    assert isinstance(sync, Sync)
    step = sync.first if action.kind == "set" else sync.second
    span = step.stmt.span
    if sync.is_barrier:
        pipe = "ALL" if action.kind == "barrier_all" else sync.target.value
        return call("pipe_barrier", pipe, span=span)
    number: object = action.base
    if action.ids > 1:
        assert sync.loop is not None
        loop = sync.loop.stmt
        number = tirx.floormod(loop.loop_var - loop.min, action.ids)
        number = number + action.base if action.base else number
    return call(f"{action.kind}_flag", sync.event, number, span=span)

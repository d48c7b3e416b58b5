# SPDX-License-Identifier: Apache-2.0
"""Refuse what a chip that is known in part lacks, and then the chip itself."""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.errors import AbsentInstruction, ChipNotModelled
from tvm_ascend.target import chip_of
from tvm_ascend.transform.sync.access import instruction
from tvm_ascend.transform.sync.program import read_program
from tvm_ascend.transform.sync.tree import build


@prim_func_pass(opt_level=0, name="ascend.CheckChip")
class CheckChip:
    """Let functions for a modelled chip pass; changes nothing.

    For another chip the first instruction that it lacks is an error, and without one the chip is:
    its memories were large enough then, and what is missing is not the user's to mend. Runs after
    every pass that chooses instructions, so that the error has the line of the statement.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        chip = chip_of(func)
        if chip.deltas is None:
            return func
        for step in read_program(build(func.body)).rows:
            row = instruction(step.stmt)
            if row is None:
                continue
            space = next((a.space.value for a in step.accesses if a.writes), "")
            if chip.deltas.lacks(row.key, row.name, space):
                raise AbsentInstruction(row.name, row.key, chip.title, step.stmt.span)
        name = str(func.attrs["global_symbol"])
        raise ChipNotModelled(name, chip.title, "; ".join(chip.deltas.not_modelled), func.span)

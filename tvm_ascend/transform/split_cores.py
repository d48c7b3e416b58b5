# SPDX-License-Identifier: Apache-2.0
"""Decide which core kind runs a kernel."""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.errors import MixedKernel
from tvm_ascend.isa.instr import CoreType, Space
from tvm_ascend.transform.sync.access import instruction, placed_in
from tvm_ascend.transform.sync.tree import Step, build, steps

CORE_TYPE = "ascend.core_type"
_OWNER = {
    Space.UB: CoreType.AIV,
    Space.L1: CoreType.AIC,
    Space.L0A: CoreType.AIC,
    Space.L0B: CoreType.AIC,
    Space.L0C: CoreType.AIC,
    Space.BT: CoreType.AIC,
    Space.FB: CoreType.AIC,
}


@prim_func_pass(opt_level=0, name="ascend.SplitCores")
class SplitCores:
    """Set ``ascend.core_type`` to AIC or AIV from the instructions and memories that are used.

    Before::

        T.ascend.exp(x[0], x[0], 64)

    After::

        T.func_attr({"ascend.core_type": "AIV"})
        T.ascend.exp(x[0], x[0], 64)

    Scalar code that touches global memory only runs on the vector core, of which there are more.
    A kernel that needs both kinds is an error. Runs after SelectInstructions.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        needs: dict[CoreType, Step] = {}
        for step in steps(build(func.body)):
            core = _core_of(step)
            if core is not None:
                needs.setdefault(core, step)
        if len(needs) > 1:
            vector, cube = needs[CoreType.AIV].stmt, needs[CoreType.AIC].stmt
            raise MixedKernel(_name(vector), vector.span, _name(cube), cube.span)
        core = next(iter(needs), CoreType.AIV)
        return func.with_attr(CORE_TYPE, core.value)


def _core_of(step: Step) -> CoreType | None:
    """The only core kind that can run a step, or None when both can."""
    if isinstance(step.stmt, tirx.AllocBuffer):
        return _OWNER.get(placed_in(step.stmt.buffer))
    row = instruction(step.stmt)
    if row is not None and len(row.core) == 1:
        return row.core[0]
    owners = [_OWNER[a.space] for a in step.accesses if a.space in _OWNER]
    return owners[0] if owners else None


def _name(stmt: tirx.Stmt) -> str:
    if isinstance(stmt, tirx.AllocBuffer):
        return f"buffer `{stmt.buffer.name}` in {placed_in(stmt.buffer).value.upper()}"
    row = instruction(stmt)
    return row.name if row is not None else "a scalar access"

# SPDX-License-Identifier: Apache-2.0
"""Loops with a step as loops that count by one."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend import sym
from tvm_ascend.errors import LoopStep
from tvm_ascend.transform.access import constant


@prim_func_pass(opt_level=0, name="ascend.UnitSteps")
class UnitSteps:
    """Let every loop count by one from where it started.

    Before::

        for i in range(3, 64, 2):
            a[i] = 0.0

    After::

        for i in range(31):
            a[i * 2 + 3] = 0.0

    Runs before schedules and all other passes, none of which reads the step of a loop.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        body = tvm_ffi.structural_map(func.body, [(tirx.For, _by_one)])
        return func if body.same_as(func.body) else func.with_body(body, func.span)


def _by_one(loop: tirx.For) -> tirx.For:
    if loop.step is None:
        return loop
    analyzer = sym.Analyzer()
    step = constant(analyzer.simplify(loop.step))
    if step is None or step < 1:
        raise LoopStep(loop.loop_var.name, loop.step, loop.span)
    old, dtype = loop.loop_var, loop.loop_var.ty
    var = tirx.Var(old.name, dtype, old.span)
    value = analyzer.simplify(loop.min + var * tirx.const(step, str(dtype.dtype)))
    extent = analyzer.simplify((loop.extent + (step - 1)) // step)
    rule = (tirx.Var, lambda v: value if v.same_as(old) else v)
    body = tvm_ffi.structural_map(loop.body, [rule])
    rest = (loop.thread_binding, loop.annotations, None, loop.span)
    return tirx.For(var, tirx.const(0, str(dtype.dtype)), extent, loop.kind, body, *rest)

# SPDX-License-Identifier: Apache-2.0
"""Name the depth of every pipelined loop, so that an override can replace it."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.language.loops import NUM_STAGES, STAGES_CHOICE
from tvm_ascend.schedule.depth import LOOP_STAGES, depth_of
from tvm_ascend.transform.choices import is_ruled, overrides_of


@prim_func_pass(opt_level=0, name="ascend.NameDepths")
class NameDepths:
    """Annotate the pipelined loops of a kernel with the override of their depth, and obey it.

    Before, with the override ``num_stages=3``::

        for k in T.serial(8, annotations={"ascend.num_stages": 2}):
            body(k)

    After::

        for k in T.serial(
            8, annotations={"ascend.num_stages": 3, "ascend.stages_choice": "num_stages"}
        ):
            body(k)

    Of several loops each has a name of its own: ``num_stages.k``, and ``num_stages.k_2`` for a
    second loop over a ``k``. Loops that a schedule rule pipelined by a choice of its own are left
    alone. Runs before every pass that asks how deep a loop is.

    Raises
    ------
    BadTile : an override is no number of versions that a tile can have.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        if is_ruled(func, LOOP_STAGES):
            return func
        loops: list[tirx.For] = []

        def find(loop: tirx.For) -> None:
            if NUM_STAGES in loop.annotations:
                loops.append(loop)

        tvm_ffi.structural_walk(func.body, [(tirx.For, find)], order="pre")
        names = dict(zip([loop.loop_var for loop in loops], _names(loops), strict=True))
        overrides = overrides_of(func)

        def named(loop: tirx.For) -> tirx.For:
            if NUM_STAGES not in loop.annotations:
                return loop
            name = names[loop.loop_var]
            depth = depth_of(overrides, name, int(loop.annotations[NUM_STAGES]))
            annotations = {**loop.annotations, NUM_STAGES: depth, STAGES_CHOICE: name}
            return tirx.For(
                loop.loop_var, loop.min, loop.extent, loop.kind, loop.body,
                loop.thread_binding, annotations, loop.step, loop.span,
            )  # fmt: skip

        body = tvm_ffi.structural_map(func.body, [(tirx.For, named)], order="post")
        return func.with_body(body, func.span)


def _names(loops: list[tirx.For]) -> list[str]:
    """A name for every loop, in program order."""
    if len(loops) == 1:
        return [LOOP_STAGES]
    names: list[str] = []
    for loop in loops:
        name = first = f"{LOOP_STAGES}.{loop.loop_var.name}"
        number = 1
        while name in names:
            number += 1
            name = f"{first}_{number}"
        names.append(name)
    return names

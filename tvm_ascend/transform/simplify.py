# SPDX-License-Identifier: Apache-2.0
"""Simplify loop bounds, indices and conditions, and nothing that is computed with elements."""

from __future__ import annotations

from typing import Any

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend import sym
from tvm_ascend.transform.expressions import has_loads

_IF_THEN_ELSE = "prim.if_then_else"


@prim_func_pass(opt_level=0, name="ascend.Simplify")
class Simplify:
    """Run TVM's ``StmtSimplify`` where values are integers that do not overflow.

    Before::

        if 0 <= i:
            B[i * 4 // 4] = A[i] * 4 // 4 + T.Cast("int32", x[i] - x[i])

    After::

        B[i] = A[i] * 4 // 4 + T.Cast("int32", x[i] - x[i])

    TVM's rules hold for real numbers, but floats have NaN and infinity, and integers that are
    elements or become elements wrap around. Runs while blocks are lowered.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        hidden = func.with_body(_hide(func.body), func.span)
        simpler = tirx.transform.StmtSimplify()(tvm.IRModule({"main": hidden}))["main"]
        shown = tvm_ffi.structural_map(simpler.body, [(tvm.ir.Call, sym.show)])
        return simpler.with_body(shown, simpler.span)


def _hide(body: tirx.Stmt) -> tirx.Stmt:
    values = 0

    def operation(node: Any, mutator: Any):
        opaque = values or sym.misjudged(node) or has_loads(node)
        node = mutator.default_mutate(node)
        return sym.hide(node) if opaque else node

    def cast(node: tirx.Cast, mutator: Any):
        opaque = sym.may_wrap(node)
        node = mutator.default_mutate(node)
        return sym.hide(node) if opaque else node

    def visible(node: Any, mutator: Any):
        """Indices and conditions are not what becomes an element."""
        nonlocal values
        outside, values = values, 0
        node = mutator.mutate(node)
        values = outside
        return node

    def store(node: tirx.BufferStore, mutator: Any):
        nonlocal values
        values += 1
        value = mutator.mutate(node.value)
        values -= 1
        indices = [visible(i, mutator) for i in node.indices]
        return tirx.BufferStore(node.buffer, value, indices, node.span)

    def load(node: TensorLoad, mutator: Any):
        return tirx.BufferLoad(node.source, [visible(i, mutator) for i in node.indices])

    def select(node: tirx.Select, mutator: Any):
        arms = (mutator.mutate(e) for e in (node.true_value, node.false_value))
        return tirx.Select(visible(node.condition, mutator), *arms, node.span)

    def call(node: tvm.ir.Call, mutator: Any):
        if not isinstance(node.op, tvm.ir.Op) or node.op.name != _IF_THEN_ELSE:
            return mutator.default_mutate(node)
        condition, *arms = node.args
        args = [visible(condition, mutator), *(mutator.mutate(e) for e in arms)]
        return tvm.ir.Call(node.op, args, ret_ty=node.ty, span=node.span)

    rules = [
        (sym.OPERATIONS, operation),
        (tirx.Cast, cast),
        (tirx.BufferStore, store),
        (TensorLoad, load),
        (tirx.Select, select),
        (tvm.ir.Call, call),
    ]
    return tvm_ffi.structural_mutate(body, rules)

# SPDX-License-Identifier: Apache-2.0
"""Give tensors of bool the bytes that the chip moves."""

from __future__ import annotations

from typing import Any

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.transform.access import dtype_of
from tvm_ascend.transform.sync.access import instruction

BYTE = "uint8"


@prim_func_pass(opt_level=0, name="ascend.BoolsAsBytes")
class BoolsAsBytes:
    """Turn buffers of bool into buffers of uint8.

    Before::

        T.ascend.data_copy_pad_in(tile[0], A[0], 1, 40, ...)  # all bool
        B[i] = T.Not(tile[i])

    After::

        T.ascend.data_copy_pad_in(tile[0], A[0], 1, 40, ...)  # all uint8
        B[i] = T.uint8(T.Not(tile[i] != T.uint8(0)))

    A byte other than 0 reads as True. What is computed is stored as 0 or 1; what is only moved, by
    a copy or from one element to another, keeps its byte.

    Runs after SelectInstructions, which knows what needs a comparison and what only moves.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        rewriter = _Rewriter()
        params = [rewriter.renamed(p) if tirx.is_buffer_var(p) else p for p in func.params]
        body = rewriter.rewrite(func.body)
        if not rewriter.bytes:
            return func
        return tirx.PrimFunc(params, body, func.ret_type, func.attrs, func.span)


class _Rewriter:
    def __init__(self) -> None:
        self.bytes: dict[tvm.ir.Var, tvm.ir.Var] = {}

    def rewrite(self, body: tirx.Stmt) -> tirx.Stmt:
        rules = [
            (tirx.AllocBuffer, self._allocation),
            (tirx.BufferStore, self._store),
            (tirx.Evaluate, self._evaluate),
            (TensorLoad, self._load),
        ]
        return tvm_ffi.structural_mutate(body, rules)

    def renamed(self, buffer: tvm.ir.Var) -> tvm.ir.Var:
        """The buffer of bytes of a buffer of bool; any other buffer itself."""
        if dtype_of(buffer) != "bool":
            return buffer
        if buffer not in self.bytes:
            ty = buffer.ty
            self.bytes[buffer] = tirx.decl_buffer(
                ty.shape, BYTE, str(buffer.name), strides=ty.strides, scope=buffer.scope()
            )
        return self.bytes[buffer]

    def _allocation(self, node: tirx.AllocBuffer, _mutator: Any) -> tirx.AllocBuffer:
        return tirx.AllocBuffer(self.renamed(node.buffer), node.annotations, node.span)

    def _element(self, node: TensorLoad, mutator: Any) -> TensorLoad:
        indices = [mutator.mutate(i) for i in node.indices]
        return tirx.BufferLoad(self.renamed(node.source), indices)

    def _load(self, node: TensorLoad, mutator: Any):
        element = self._element(node, mutator)
        return element if dtype_of(node.source) != "bool" else element != tirx.const(0, BYTE)

    def _store(self, node: tirx.BufferStore, mutator: Any) -> tirx.BufferStore:
        if dtype_of(node.buffer) != "bool":
            value = mutator.mutate(node.value)
        elif isinstance(node.value, TensorLoad):
            value = self._element(node.value, mutator)
        else:
            value = _byte(mutator.mutate(node.value))
        indices = [mutator.mutate(i) for i in node.indices]
        return tirx.BufferStore(self.renamed(node.buffer), value, indices, node.span)

    def _evaluate(self, node: tirx.Evaluate, mutator: Any) -> tirx.Evaluate:
        row = instruction(node)
        if row is None:
            return mutator.default_mutate(node)
        call, count = node.value, len(row.operands)
        operands = [self._element(a, mutator) for a in call.args[:count]]
        dtypes = {o.dtype: dtype_of(a.source) for o, a in zip(row.operands, operands, strict=True)}
        params = [mutator.mutate(value) for value in call.args[count:]]
        for k, param in enumerate(row.params):
            if dtypes.get(param.type) == BYTE and _is_bool(params[k]):
                params[k] = _byte(params[k])
        return tirx.Evaluate(tvm.ir.Call(call.op, [*operands, *params], ret_ty=call.ty), node.span)


def _is_bool(value: tvm.ir.Expr) -> bool:
    return isinstance(value.ty, tvm.ir.PrimType) and str(value.ty.dtype) == "bool"


def _byte(value: tvm.ir.Expr) -> tvm.ir.Expr:
    if isinstance(value, tirx.IntImm):
        return tirx.const(int(value.value), BYTE)
    return tirx.Cast(BYTE, value)

# SPDX-License-Identifier: Apache-2.0
"""Element loops of the scalar unit over tiles of tensors that run past their end."""

from __future__ import annotations

import functools

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend import sym
from tvm_ascend.isa.instr import Space
from tvm_ascend.layout.scope import space_of
from tvm_ascend.transform.padding_reads import choice
from tvm_ascend.transform.tile_args import proves
from tvm_ascend.transform.tile_tail import tail_start


def within_tensors(
    analyzer: sym.Analyzer, elements: list[tirx.For], part: tirx.BufferStore | tvm.ir.Expr
) -> tirx.Stmt | tvm.ir.Expr:
    """A store or an expression that, as copies do, reads 0 past a tensor and stores nothing."""

    def outside(buffer: tvm.ir.Var, indices: list) -> list[tvm.ir.Expr]:
        if space_of(buffer) is not Space.GM:
            return []
        return [
            index < size
            for index, size in zip(indices, buffer.ty.shape, strict=True)
            if tail_start(analyzer, index, elements) is not None
            and not proves(analyzer, index < size)
        ]

    def load(node: TensorLoad, mutator: object) -> tvm.ir.Expr:
        conditions = outside(node.source, list(node.indices))
        node = mutator.default_mutate(node)
        if not conditions:
            return node
        zero = tirx.const(0, str(node.ty.dtype))
        return tirx.if_then_else(functools.reduce(tirx.And, conditions), node, zero)

    def choose(node: tvm.ir.Call, mutator: object) -> tvm.ir.Expr:
        parts = choice(node)
        if parts is None:
            return mutator.default_mutate(node)
        condition = mutator.mutate(parts[0])
        with analyzer.constraint_scope(parts[0]):
            yes = mutator.mutate(parts[1])
        with analyzer.constraint_scope(tirx.Not(parts[0])):
            no = mutator.mutate(parts[2])
        return tirx.if_then_else(condition, yes, no, node.span)

    rules = [(TensorLoad, load), (tvm.ir.Call, choose)]
    result = tvm_ffi.structural_mutate(part, rules)
    if isinstance(part, tirx.BufferStore):
        for condition in outside(part.buffer, list(part.indices)):
            result = tirx.IfThenElse(condition, result, None, part.span)
    return result

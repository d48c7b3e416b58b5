# SPDX-License-Identifier: Apache-2.0
"""Let the first product into an accumulator start from zero instead of clearing it before."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend import sym
from tvm_ascend.errors import AccumulatorFill
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.ops import call, key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.match import is_zero
from tvm_ascend.transform.tile_args import as_region, sequence


@prim_func_pass(opt_level=0, name="ascend.FoldFill")
class FoldFill:
    """Move the clearing of L0C into the ``init`` of the product that follows.

    Before::

        T.ascend.tile_fill(c[0:64, 0:64], 0)
        for k in range(4):
            T.ascend.tile_gemm(c[0:64, 0:64], ..., False)

    After::

        for k in range(4):
            T.ascend.tile_gemm(c[0:64, 0:64], ..., k == 0)

    No instruction clears L0C, so any other clearing of it is an error. Runs after InferScope.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        body = tvm_ffi.structural_mutate(func.body, [(tirx.SeqStmt, _sequence)])

        def left(stmt: tirx.Evaluate) -> None:
            if _is_fill(stmt):
                raise AccumulatorFill(as_region(stmt.value.args[0]).source.name, stmt.span)

        tvm_ffi.structural_walk(body, [(tirx.Evaluate, left)])
        return func.with_body(body, func.span)


def _is_fill(stmt) -> bool:
    if key_of(stmt) != "tile_fill":
        return False
    return space_of(as_region(stmt.value.args[0]).source) is Space.L0C


def _sequence(seq: tirx.SeqStmt, mutator):
    stmts = list(mutator.default_mutate(seq).seq)
    for at, stmt in enumerate(stmts):
        if not _is_fill(stmt) or not is_zero(stmt.value.args[1]):
            continue
        buffer = as_region(stmt.value.args[0]).source
        user = next((i for i in range(at + 1, len(stmts)) if _uses(stmts[i], buffer)), None)
        if user is None:
            continue
        folded = _fold(stmts[user], buffer)
        if folded is not None:
            stmts[user] = folded
            stmts[at] = tirx.Evaluate(0)
    return sequence([s for s in stmts if not _is_nothing(s)], seq.span)


def _is_nothing(stmt) -> bool:
    return isinstance(stmt, tirx.Evaluate) and isinstance(stmt.value, tirx.IntImm)


def _uses(stmt, buffer) -> int:
    """How many operations inside a statement name a buffer."""
    found: list = []

    def seen(evaluate: tirx.Evaluate) -> None:
        args = evaluate.value.args if key_of(evaluate) else ()
        if any(as_region(a).source.same_as(buffer) for a in args if _is_operand(a)):
            found.append(evaluate)

    tvm_ffi.structural_walk(stmt, [(tirx.Evaluate, seen)])
    return len(found)


def _is_operand(arg) -> bool:
    return isinstance(arg, (tvm.ir.TensorLoad, tvm.ir.TensorRegion))


def _fold(stmt, buffer, first=None):
    """The statement with the product that is its only use of ``buffer`` clearing it first."""
    if _uses(stmt, buffer) != 1:
        return None
    first = first or []
    if isinstance(stmt, tirx.For):
        if not sym.Analyzer().can_prove(stmt.extent >= 1):
            return None
        body = _fold(stmt.body, buffer, [*first, tirx.EQ(stmt.loop_var, stmt.min)])
        if body is None:
            return None
        return tirx.For(
            stmt.loop_var, stmt.min, stmt.extent, stmt.kind, body, stmt.thread_binding,
            stmt.annotations, stmt.step, stmt.span,
        )  # fmt: skip
    if isinstance(stmt, tirx.SeqStmt):
        parts = [_fold(s, buffer, first) if _uses(s, buffer) else s for s in stmt.seq]
        return None if any(p is None for p in parts) else tirx.SeqStmt(parts, stmt.span)
    if key_of(stmt) != "tile_gemm":
        return None
    *operands, init = stmt.value.args
    cleared = tirx.IntImm("bool", 1)
    for condition in first:
        cleared = tirx.And(cleared, condition)
    return call(
        "tile_gemm", *operands, sym.Analyzer().simplify(tirx.Or(init, cleared)), span=stmt.span
    )

# SPDX-License-Identifier: Apache-2.0
"""Give every element read of a changing buffer its own statement, so that flags fit around it."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend.isa.instr import Space
from tvm_ascend.transform.sync.access import accesses_of, instruction, placed_in


def written_buffers(body: tirx.Stmt) -> set[tirx.Var]:
    """Every buffer that some statement writes."""
    found: set[tirx.Var] = set()

    def visit(stmt: tirx.Stmt) -> None:
        found.update(a.buffer for a in accesses_of(stmt) if a.writes)

    tvm_ffi.structural_walk(body, ((tirx.BufferStore, tirx.Evaluate), visit))
    return found


def hoist_scalar_reads(body: tirx.Stmt) -> tirx.Stmt:
    """Bind reads in instruction arguments, loop bounds and conditions to variables before them.

    Before::

        T.ascend.adds(y[0], x[0], mean[0], 64)

    After::

        mean_value: T.let = mean[0]
        T.ascend.adds(y[0], x[0], mean_value, 64)
    """
    written = written_buffers(body)

    def changing(expr: object) -> TensorLoad | None:
        found: list[TensorLoad] = []

        def visit(load: TensorLoad) -> None:
            if placed_in(load.source) is not Space.GM or load.source in written:
                found.append(load)

        tvm_ffi.structural_walk(expr, (TensorLoad, visit))
        return found[0] if found else None

    def value_of(expr: object, binds: list[tirx.Stmt], span: object) -> object:
        load = changing(expr)
        if load is None:
            return expr
        var = tirx.Var(f"{load.source.name}_value", expr.ty)  # type: ignore[attr-defined]
        binds.append(tirx.Bind(var, expr, span))
        return var

    def evaluate(stmt: tirx.Evaluate) -> tirx.Stmt:
        row = instruction(stmt)
        if row is None:
            return stmt
        binds: list[tirx.Stmt] = []
        call, args = stmt.value, []
        for position, arg in enumerate(call.args):
            if position < len(row.operands):
                inner = [value_of(i, binds, stmt.span) for i in arg.indices]
                args.append(tirx.BufferLoad(arg.source, inner, arg.span) if binds else arg)
            else:
                args.append(value_of(arg, binds, stmt.span))
        if not binds:
            return stmt
        moved = tvm.ir.Call(call.op, args, ret_ty="void", span=call.span)
        return tirx.SeqStmt([*binds, tirx.Evaluate(moved, stmt.span)])

    def loop(stmt: tirx.For) -> tirx.Stmt:
        binds: list[tirx.Stmt] = []
        low, extent = (value_of(e, binds, stmt.span) for e in (stmt.min, stmt.extent))
        if not binds:
            return stmt
        rest = (stmt.thread_binding, stmt.annotations, stmt.step, stmt.span)
        moved = tirx.For(stmt.loop_var, low, extent, stmt.kind, stmt.body, *rest)
        return tirx.SeqStmt([*binds, moved])

    def branch(stmt: tirx.IfThenElse) -> tirx.Stmt:
        binds: list[tirx.Stmt] = []
        condition = value_of(stmt.condition, binds, stmt.span)
        if not binds:
            return stmt
        moved = tirx.IfThenElse(condition, stmt.then_case, stmt.else_case, stmt.span)
        return tirx.SeqStmt([*binds, moved])

    callbacks = [(tirx.Evaluate, evaluate), (tirx.For, loop), (tirx.IfThenElse, branch)]
    return tvm_ffi.structural_map(body, callbacks, order="post")

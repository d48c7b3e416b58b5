# SPDX-License-Identifier: Apache-2.0
"""Leave out on-chip buffers that nothing names."""

from __future__ import annotations

from collections import Counter

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass


@prim_func_pass(opt_level=0, name="ascend.DropUnused")
class DropUnused:
    """Remove allocations without a use.

    Before::

        spare = T.alloc_buffer((64,), scope="local.fragment")
        work()

    After::

        work()

    Such a buffer would still be given a memory, and so a kind of core, that the kernel does not
    need. Runs before MapCores, which decides the kind of core.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        used: Counter = Counter()
        tvm_ffi.structural_walk(func.body, [(tvm.ir.Var, lambda var: used.update([var]))])

        def own(alloc: tirx.AllocBuffer) -> None:
            tvm_ffi.structural_walk(alloc, [(tvm.ir.Var, lambda var: used.subtract([var]))])

        tvm_ffi.structural_walk(func.body, [(tirx.AllocBuffer, own)])

        def drop(stmt: tirx.AllocBuffer) -> tirx.Stmt:
            return stmt if used[stmt.buffer] > 0 else tirx.Evaluate(0)

        body = tvm_ffi.structural_map(
            func.body, [(tirx.AllocBuffer, drop), (tirx.SeqStmt, _without_nothing)], order="post"
        )
        return func.with_body(body, func.span)


def _without_nothing(stmts: tirx.SeqStmt) -> tirx.Stmt:
    kept = [s for s in stmts.seq if not _is_nothing(s)]
    if len(kept) == len(stmts.seq):
        return stmts
    return tirx.SeqStmt(kept, stmts.span) if len(kept) > 1 else next(iter(kept), stmts.seq[0])


def _is_nothing(stmt: tirx.Stmt) -> bool:
    return isinstance(stmt, tirx.Evaluate) and isinstance(stmt.value, tirx.IntImm)

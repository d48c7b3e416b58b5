# SPDX-License-Identifier: Apache-2.0
"""Refuse accesses that are outside their buffer whatever the arguments are."""

from __future__ import annotations

from contextlib import contextmanager

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend import sym
from tvm_ascend.errors import IndexOutside
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.loops import is_parallel
from tvm_ascend.language.ops import TILE_OPS, key_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.schedule.match import variables
from tvm_ascend.transform.access import constant
from tvm_ascend.transform.tile_args import as_region
from tvm_ascend.transform.tile_tail import tail_start


@prim_func_pass(opt_level=0, name="ascend.CheckBounds")
class CheckBounds:
    """Refuse what is provably outside a buffer; change nothing.

    Refused, for a tile of 64 elements::

        for i in T.serial(70, annotations={"ascend.parallel": 1}):
            a[i] = 0.0

    Only statements that run whatever the arguments are, with indices that are linear in loops of
    constant extent, are judged; the simulator checks the others as they run. A tile that starts
    inside a tensor may run past its end. Runs on the kernel as it was written.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        _Checker().check(func.body)
        return func


class _Checker:
    def __init__(self) -> None:
        self.bounds: dict[tvm.ir.Var, tuple[int, int]] = {}
        self.elements: list[tirx.For] = []
        self.span: tvm.ir.Span | None = None
        self.analyzer = sym.Analyzer()

    def check(self, body: tirx.Stmt) -> None:
        """Judge every access of a statement."""
        rules = [
            (tirx.AttrStmt, self.attribute),
            (tirx.For, self.loop),
            (tirx.IfThenElse, self.branch),
            (tirx.While, lambda s, _m: s),
            (tirx.Select, lambda e, _m: e),
            (tvm.ir.Call, lambda e, _m: e),
            (tirx.Evaluate, self.evaluate),
            (tirx.BufferStore, self.store),
            (TensorLoad, self.load),
        ]
        tvm_ffi.structural_mutate(body, rules)

    @contextmanager
    def running(self, var: tvm.ir.Var, low: int | None, extent: int | None):
        """Know the values that a variable takes, if it takes any."""
        if low is not None and extent is not None and extent > 0:
            self.bounds[var] = (low, low + extent - 1)
        yield
        self.bounds.pop(var, None)

    def attribute(self, stmt: tirx.AttrStmt, mutator: object) -> tirx.Stmt:
        if not isinstance(stmt.node, tirx.IterVar):
            return mutator.default_mutate(stmt)
        with self.running(stmt.node.var, 0, constant(stmt.value)):
            return mutator.default_mutate(stmt)

    def loop(self, stmt: tirx.For, mutator: object) -> tirx.Stmt:
        low, extent = constant(stmt.min), constant(stmt.extent)
        if extent == 0:
            return stmt
        with self.running(stmt.loop_var, low, extent):
            self.elements += [stmt] if is_parallel(stmt) else []
            mutator.mutate(stmt.body)
            self.elements = [x for x in self.elements if not x.same_as(stmt)]
        return stmt

    def branch(self, stmt: tirx.IfThenElse, mutator: object) -> tirx.Stmt:
        mutator.mutate(stmt.condition)
        if constant(stmt.condition) is not None:
            taken = stmt.then_case if constant(stmt.condition) else stmt.else_case
            if taken is not None:
                mutator.mutate(taken)
        return stmt

    def store(self, stmt: tirx.BufferStore, mutator: object) -> tirx.Stmt:
        self.span = stmt.span
        self.element(stmt.buffer, stmt.indices)
        mutator.mutate(stmt.value)
        return stmt

    def load(self, expr: TensorLoad, mutator: object) -> TensorLoad:
        self.element(expr.source, expr.indices)
        return mutator.default_mutate(expr)

    def evaluate(self, stmt: tirx.Evaluate, _mutator: object) -> tirx.Stmt:
        if key_of(stmt) not in TILE_OPS:
            return stmt
        self.span = stmt.span
        for arg in stmt.value.args:
            if isinstance(arg, (tvm.ir.TensorRegion, TensorLoad)):
                region = as_region(arg)
                for axis, part in enumerate(region.region):
                    # Of a tensor in global memory it is enough that the tile starts inside.
                    tile = space_of(region.source) is not Space.GM
                    self.judge(region.source, axis, part.min, part.extent if tile else 1)
        return stmt

    def element(self, buffer: tvm.ir.Var, indices: list) -> None:
        for axis, index in enumerate(indices):
            if space_of(buffer) is Space.GM:
                start = tail_start(self.analyzer, index, self.elements)
                if start is not None and variables(start):
                    index = start
            self.judge(buffer, axis, index, 1)

    def judge(self, buffer: tvm.ir.Var, axis: int, first: tvm.ir.Expr, extent: object) -> None:
        """Refuse indices from ``first`` on if some of them are outside."""
        size, length, reach = constant(buffer.ty.shape[axis]), constant(extent), self.reach(first)
        if size is None or length is None or reach is None:
            return
        low, high = reach[0], reach[1] + length - 1
        if low < 0 or high >= size:
            raise IndexOutside(buffer.name, axis, low, high, size, self.span)

    def reach(self, index: tvm.ir.Expr) -> tuple[int, int] | None:
        """Smallest and largest value of an index, both of which occur."""
        names = list(variables(index))
        if any(v not in self.bounds for v in names):
            return None
        form = [constant(x) for x in sym.detect_linear_equation(index, names)]
        if not form or None in form:
            return None
        low = high = form[-1]
        for factor, var in zip(form, names, strict=False):
            ends = sorted(factor * end for end in self.bounds[var])
            low, high = low + ends[0], high + ends[1]
        return low, high

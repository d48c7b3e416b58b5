# SPDX-License-Identifier: Apache-2.0
"""Give every on-chip buffer a memory, from how it is used."""

from __future__ import annotations

from dataclasses import dataclass, field

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.errors import ScopeContradiction
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.scope import SPACE_OF_SCOPE, UNPLACED_SCOPES, space_of

SCALAR = "ascend.scalar"
"""Marks the variables of TVMScript, whose statements belong on the scalar unit."""
_SCOPE_OF_SPACE = {space: scope for scope, space in SPACE_OF_SCOPE.items() if scope}
_L0 = (Space.L0A, Space.L0B)


@dataclass(frozen=True)
class _Use:
    """One reason for a buffer to live in one memory."""

    space: Space
    what: str
    span: tvm.ir.Span | None


@dataclass
class _Uses:
    """What is known about every on-chip buffer of a function."""

    found: dict[tvm.ir.Var, _Use] = field(default_factory=dict)
    copies: list[tuple[tvm.ir.Var, tvm.ir.Var, tvm.ir.Span | None]] = field(default_factory=list)

    def add(self, buffer: tvm.ir.Var, use: _Use) -> None:
        if space_of(buffer) is Space.GM:
            return
        before = self.found.setdefault(buffer, use)
        if before.space is not use.space:
            first, second = ((u.what, u.space.value, u.span) for u in (before, use))
            raise ScopeContradiction(buffer.name, first, second)

    def declared(self, node: tirx.AllocBuffer) -> None:
        space = space_of(node.buffer)
        if space is not None:
            self.add(node.buffer, _Use(space, f'scope "{node.buffer.scope()}"', node.span))

    def evaluate(self, node: tirx.Evaluate) -> None:
        key, span = key_of(node), node.span
        args = node.value.args if key else ()
        if key == "tile_gemm":
            self._gemm(*(a.source for a in args[:3]), span)
        elif key == "tile_copy":
            self.copies.append((args[0].source, args[1].source, span))
        elif key == "tile_reduce":
            for operand in args[:2]:
                self.add(operand.source, _Use(Space.UB, "operand of a reduction", span))

    def _gemm(self, c: tvm.ir.Var, a: tvm.ir.Var, b: tvm.ir.Var, span: object) -> None:
        self.add(c, _Use(Space.L0C, "result of a gemm", span))
        for buffer, space in ((a, Space.L0A), (b, Space.L0B)):
            self.add(buffer, _Use(space, "operand of a gemm", span))

    def store(self, node: tirx.BufferStore) -> None:
        self.add(node.buffer, _Use(Space.UB, "element store", node.span))

        def load(expr: tvm.ir.TensorLoad) -> None:
            self.add(expr.source, _Use(Space.UB, "element load", node.span))

        tvm_ffi.structural_walk(node.value, [(tvm.ir.TensorLoad, load)])

    def spread(self) -> None:
        """Carry memories along copies between on-chip buffers until nothing changes."""
        before = -1
        while before != len(self.found):
            before = len(self.found)
            for src, dst, span in self.copies:
                at_src, at_dst = (self._space(b) for b in (src, dst))
                if at_dst in _L0:
                    self.add(src, _Use(Space.L1, f"copied to {at_dst.value}", span))
                elif at_dst is Space.UB:
                    self.add(src, _Use(Space.UB, "copied to ub", span))
                elif at_src is Space.UB:
                    self.add(dst, _Use(Space.UB, "copied from ub", span))

    def _space(self, buffer: tvm.ir.Var) -> Space | None:
        use = self.found.get(buffer)
        return use.space if use else space_of(buffer)


@prim_func_pass(opt_level=0, name="ascend.InferScope")
class InferScope:
    """Replace ``shared`` and ``local.fragment`` by the memory that the uses ask for.

    Before::

        t = T.alloc_buffer((64,), scope="local.fragment")
        T.ascend.tile_reduce(s[0:1], t[0:64], "sum", 0, True)

    After::

        t = T.alloc_buffer((64,), scope="shared.ub")
        ...

    The result of a gemm goes to L0C, its operands to L0A and L0B, what is copied to those to L1,
    anything else to UB. A buffer that names a memory keeps it; uses that contradict each other are
    an error. Runs after MapCores.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        uses = _Uses()
        walk = [
            (tirx.AllocBuffer, uses.declared),
            (tirx.Evaluate, uses.evaluate),
            (tirx.BufferStore, uses.store),
        ]
        tvm_ffi.structural_walk(func.body, walk, order="pre")
        uses.spread()
        placed: dict[tvm.ir.Var, tvm.ir.Var] = {}

        def place(node: tirx.AllocBuffer) -> tirx.AllocBuffer:
            old = node.buffer
            if old.scope() not in UNPLACED_SCOPES:
                return node
            space = uses.found[old].space if old in uses.found else Space.UB
            scope, ty = _SCOPE_OF_SPACE[space], old.ty
            placed[old] = tirx.decl_buffer(ty.shape, str(ty.dtype), old.name, scope=scope)
            annotations = dict(node.annotations)
            if old.scope() == "local":
                annotations[SCALAR] = 1
            return tirx.AllocBuffer(placed[old], annotations, node.span)

        body = tvm_ffi.structural_map(
            func.body,
            [(tirx.AllocBuffer, place), (tvm.ir.Var, lambda v: placed.get(v, v))],
            order="pre",  # an allocation comes before its uses, so `placed` is filled in time
        )
        return func.with_body(body, func.span)

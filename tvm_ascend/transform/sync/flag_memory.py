# SPDX-License-Identifier: Apache-2.0
"""What the elements hold that a program's decisions ask for, on one way through it."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

import tvm
from tvm import tirx
from tvm.ir import TensorLoad


class _Write(NamedTuple):
    """A write: of a value to one element, or of anything to any element."""

    at: Sequence[tvm.ir.Expr] | None
    value: tvm.ir.Expr | None


class Memory:
    """Scalar stores by value; a name for each element that holds what it held before.

    An element that something else may have written has an unknown value, and so has one of the
    ``shared`` tensors, which other cores write, unless this core stored it.
    """

    def __init__(self, shared: Container[tirx.Var]) -> None:
        self.shared = shared
        self._writes: dict[tirx.Var, list[_Write]] = {}
        self._names: dict[tuple, tirx.Var] = {}
        self._roots: dict[tirx.Var, tirx.Var] = {}
        self._unknown: set[tirx.Var] = set()

    def store(self, buffer: tirx.Var, at: Sequence[tvm.ir.Expr], value: tvm.ir.Expr) -> None:
        """An element gets a value."""
        self._writes.setdefault(buffer, []).append(_Write(at, value))

    def overwrite(self, buffer: tirx.Var) -> None:
        """Any of the elements may get any value."""
        self._writes.setdefault(buffer, []).append(_Write(None, None))

    def load(self, node: TensorLoad, at: Sequence[tvm.ir.Expr]) -> tvm.ir.Expr:
        """The value of an element, or its name."""
        writes = self._writes.get(node.source, [])
        for number in reversed(range(len(writes))):
            write = writes[number]
            if write.at is None:
                return self._name(node, at, number)
            if _same(write.at, at):
                assert write.value is not None
                return write.value
            if not _distinct(write.at, at):
                return self._name(node, at, number)
        return self._name(node, at, None)

    def root(self, var: tirx.Var) -> tirx.Var:
        """The tensor of a named element; anything else is a root itself."""
        return self._roots.get(var, var)

    def is_unknown(self, expr: tvm.ir.Expr) -> bool:
        """Whether a value depends on an element of unknown value."""
        return not self._unknown.isdisjoint(tirx.analysis.undefined_vars(expr, []))

    def _name(self, node: TensorLoad, at: Sequence[tvm.ir.Expr], writer: int | None) -> tirx.Var:
        key = (node.source, *map(str, at), writer)
        if key not in self._names:
            # Expressions are told apart by their text.
            var = tirx.Var(f"element_{len(self._names)}", str(node.ty.dtype))
            self._names[key] = var
            self._roots[var] = node.source
            if writer is not None or node.source in self.shared:
                self._unknown.add(var)
        return self._names[key]


def _same(a: Sequence[tvm.ir.Expr], b: Sequence[tvm.ir.Expr]) -> bool:
    return all(str(x) == str(y) for x, y in zip(a, b, strict=True))


def _distinct(a: Sequence[tvm.ir.Expr], b: Sequence[tvm.ir.Expr]) -> bool:
    return any(
        isinstance(x, tirx.IntImm) and isinstance(y, tirx.IntImm) and x.value != y.value
        for x, y in zip(a, b, strict=True)
    )

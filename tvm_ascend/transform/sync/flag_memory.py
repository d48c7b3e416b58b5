# SPDX-License-Identifier: Apache-2.0
"""What the elements hold that a program's decisions ask for, on one way through it."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

import tvm
from tvm import tirx
from tvm.ir import TensorLoad


class _Write(NamedTuple):
    """The last store to an element that is written one way."""

    number: int
    value: tvm.ir.Expr


class Memory:
    """Scalar stores by value; a name for each element that holds what it held before.

    An element that something else may have written has an unknown value, and so has one of the
    ``shared`` tensors, which other cores write, unless this core stored it.
    """

    def __init__(self, shared: Container[tirx.Var]) -> None:
        self.shared = shared
        self._count = 0
        self._writes: dict[tirx.Var, dict[tuple, _Write]] = {}
        self._last: dict[tirx.Var, int] = {}  # write to any element
        self._vague: dict[tirx.Var, int] = {}  # write to an element that may be any
        self._names: dict[tuple, tirx.Var] = {}
        self._roots: dict[tirx.Var, tirx.Var] = {}
        self._unknown: set[tirx.Var] = set()

    def store(self, buffer: tirx.Var, at: Sequence[tvm.ir.Expr], value: tvm.ir.Expr) -> None:
        """An element gets a value."""
        self._count += 1
        self._writes.setdefault(buffer, {})[_key(at)] = _Write(self._count, value)
        self._last[buffer] = self._count
        if not _is_known(at):
            self._vague[buffer] = self._count

    def overwrite(self, buffer: tirx.Var) -> None:
        """Any of the elements may get any value."""
        self._count += 1
        self._last[buffer] = self._vague[buffer] = self._count

    def load(self, node: TensorLoad, at: Sequence[tvm.ir.Expr]) -> tvm.ir.Expr:
        """The value of an element, or its name."""
        others = (self._vague if _is_known(at) else self._last).get(node.source)
        write = self._writes.get(node.source, {}).get(_key(at))
        if write is not None and (others is None or write.number >= others):
            return write.value
        return self._name(node, at, others)

    def root(self, var: tirx.Var) -> tirx.Var:
        """The tensor of a named element; anything else is a root itself."""
        return self._roots.get(var, var)

    def unknown(self, dtype: str) -> tirx.Var:
        """A value that nothing is known of."""
        var = tirx.Var(f"unknown_{len(self._unknown)}", dtype)
        self._unknown.add(var)
        return var

    def is_unknown(self, expr: tvm.ir.Expr) -> bool:
        """Whether a value depends on an element of unknown value."""
        return not self._unknown.isdisjoint(tirx.analysis.undefined_vars(expr, []))

    def _name(self, node: TensorLoad, at: Sequence[tvm.ir.Expr], writer: int | None) -> tirx.Var:
        key = (node.source, *_key(at), writer)
        if key not in self._names:
            var = tirx.Var(f"element_{len(self._names)}", str(node.ty.dtype))
            self._names[key] = var
            self._roots[var] = node.source
            if writer is not None or node.source in self.shared:
                self._unknown.add(var)
        return self._names[key]


def _key(at: Sequence[tvm.ir.Expr]) -> tuple:
    """Tells elements apart: by number, or by the text of the expression."""
    return tuple(int(x.value) if isinstance(x, tirx.IntImm) else str(x) for x in at)


def _is_known(at: Sequence[tvm.ir.Expr]) -> bool:
    return all(isinstance(x, tirx.IntImm) for x in at)

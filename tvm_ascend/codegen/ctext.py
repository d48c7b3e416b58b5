# SPDX-License-Identifier: Apache-2.0
"""Identifiers and line breaks of emitted C++."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import tvm

WIDTH = 100
INDENT = "  "

# C++ keywords, and names that the vendor's headers or our own text already use at file scope.
_TAKEN = frozenset(
    word
    for line in (
        "alignas alignof and asm auto bool break case catch char class const constexpr continue",
        "decltype default delete do double else enum explicit export extern false float for",
        "friend goto if inline int long mutable namespace new noexcept not nullptr operator or",
        "private protected public register return short signed sizeof static struct switch",
        "template this throw true try typedef typeid typename union unsigned using virtual void",
        "volatile wchar_t while xor half bfloat16_t AscendC GM_ADDR FloorDiv FloorMod Minimum",
        "Maximum Choose main",
    )
    for word in line.split()
)


class NameTable:
    """C++ names of TIR variables: the user's own where free, unique among visible ones."""

    def __init__(self) -> None:
        self._names: dict[tvm.ir.Var, str] = {}
        self._visible = set(_TAKEN)

    def declare(self, var: tvm.ir.Var, name: str | None = None) -> str:
        """Give a variable its name from here to the end of the scope."""
        self._names[var] = self.fresh(str(var.name) if name is None else name)
        return self._names[var]

    def fresh(self, wish: str) -> str:
        """A visible name as close to the wish as C++ and the other names allow."""
        base = re.sub(r"\W", "_", wish)
        base = f"v{base}" if not base or base[0].isdigit() or base.startswith("_") else base
        name, number = base, 1
        while name in self._visible:
            name, number = f"{base}_{number}", number + 1
        self._visible.add(name)
        return name

    def of(self, var: tvm.ir.Var) -> str:
        """The name of a declared variable."""
        return self._names[var]

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A block: names declared inside are free again after it."""
        before = set(self._visible)
        yield
        self._visible = before


def wrap(text: str, depth: int) -> list[str]:
    """Indent one statement, broken after commas where it is too long."""
    first, more = INDENT * depth, INDENT * (depth + 2)
    lines, line = [], first
    for part in re.split(r"(?<=, )", text):
        if len(line) + len(part.rstrip()) > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = more
        line += part
    return [*lines, line.rstrip()]

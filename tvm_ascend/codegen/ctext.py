# SPDX-License-Identifier: Apache-2.0
"""Identifiers and line breaks of emitted C++."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import tvm

from tvm_ascend.codegen.c_names import C_NAMES

WIDTH = 100
INDENT = "  "
# Added to the bracket level of operators: any list is a better place to break.
_LAST_RESORT = 100

# Keywords of C++, and `main` and `std`, which no file may take. C_NAMES has those of C.
_KEYWORDS = frozenset(
    word
    for line in (
        "alignas alignof and asm auto bool break case catch char class const constexpr continue",
        "decltype default delete do double else enum explicit export extern false float for",
        "friend goto if inline int long mutable namespace new noexcept not nullptr operator or",
        "private protected public register return short signed sizeof static struct switch",
        "template this throw true try typedef typeid typename union unsigned using virtual void",
        "volatile wchar_t while xor char16_t char32_t const_cast dynamic_cast reinterpret_cast",
        "static_assert static_cast thread_local and_eq bitand bitor compl not_eq or_eq xor_eq",
        "char8_t concept consteval constinit co_await co_return co_yield requires main std",
    )
    for word in line.split()
)

# No identifier, or one that C++ keeps for itself, or that the headers of the twin may declare
# beside the surface of Ascend C.
_NO_NAME = re.compile(r"$|\d|_|twin$|k?Twin|TVM_ASCEND")


class NameTable:
    """C++ names of TIR variables: the user's own where free, unique among visible ones.

    Taken are what C++, the headers of C and the twin give a meaning, and ``own``, the names that
    the text around the variables uses at file scope.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:
        self._names: dict[tvm.ir.Var, str] = {}
        self._visible = {*_KEYWORDS, *C_NAMES, *own}

    def declare(self, var: tvm.ir.Var, name: str | None = None) -> str:
        """Give a variable its name from here to the end of the scope."""
        self._names[var] = self.fresh(str(var.name) if name is None else name)
        return self._names[var]

    def fresh(self, wish: str) -> str:
        """A visible name as close to the wish as C++ and the other names allow."""
        base = re.sub(r"\W", "_", wish)
        base = f"v{base}" if _NO_NAME.match(base) else base
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
    """Indent one statement and break it where it is too long, at the outermost place that fits."""
    lines, indent = [], INDENT * depth
    while len(indent) + len(text) > WIDTH:
        places = list(_breaks(text))
        fitting = [b for b in places if len(indent) + b.end <= WIDTH + 1]
        if fitting:
            cut = min(fitting, key=lambda b: (b.level, -b.end)).end
        elif places:
            cut = places[0].end
        else:
            break
        lines.append(indent + text[:cut].rstrip())
        text, indent = text[cut:], INDENT * (depth + 2)
    return [*lines, indent + text]


@dataclass(frozen=True)
class _Break:
    """A place to break: after a comma, or inside an arithmetic expression as a last resort."""

    end: int
    level: int


# Brackets (a template's have no space beside them), then places to break.
_TOKENS = re.compile(
    r"(?P<open>[(\[{]|(?<=\w)<(?! ))|(?P<close>[)\]}]|(?<! )>(?![>=]))|(?P<list>[,;] )"
    r"|(?P<operator> (?:[-+*/%|&^?:]|&&|\|\||<<|>>) )"
)


def _breaks(text: str) -> Iterator[_Break]:
    level = 0
    for match in _TOKENS.finditer(text):
        kind = match.lastgroup
        if kind == "list":
            yield _Break(match.end(), level)
        elif kind == "operator":
            yield _Break(match.end(), level + _LAST_RESORT)
        else:
            level += 1 if kind == "open" else -1

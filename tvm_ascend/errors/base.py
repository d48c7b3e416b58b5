# SPDX-License-Identifier: Apache-2.0
"""The base of every error that a user can cause, and how their messages name a place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_FUNCTION: ContextVar[str] = ContextVar("function that is being compiled", default="")


class AscendError(Exception):
    """Base of every error that tvm_ascend raises for a user's mistake."""

    @classmethod
    def from_text(cls, text: str) -> AscendError:
        """An error of this class whose text is already made: it crossed a process or C++."""
        error = cls.__new__(cls)
        Exception.__init__(error, text)
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_text, (str(self),)


@contextmanager
def compiling(function: str) -> Iterator[None]:
    """Within this, statements without a line are named by ``function``."""
    token = _FUNCTION.set(function)
    try:
        yield
    finally:
        _FUNCTION.reset(token)


def innermost(span: Any) -> Any:
    """The span of the statement itself: one that a macro wrote carries those of its calls too."""
    return span.spans[-1] if hasattr(span, "spans") else span


def at(span: Any) -> str:
    """Render a TVM span as ``file:line``, or an empty string when the statement carries none."""
    if span is None:
        return ""
    span = innermost(span)
    return f"{span.source_name.name}:{span.line}"


def where(span: Any) -> str:
    """``file:line``, or for TIR that a program made the function that is being compiled."""
    return at(span) or (f"in function `{_FUNCTION.get()}`" if _FUNCTION.get() else "no line")


def place(span: Any = None) -> str:
    """How a message begins: ``where(span)`` and a colon, or nothing while a script is parsed."""
    return f"{where(span)}: " if at(span) or _FUNCTION.get() else ""

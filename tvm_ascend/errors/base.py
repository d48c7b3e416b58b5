# SPDX-License-Identifier: Apache-2.0
"""The base of every error that a user can cause."""

from __future__ import annotations

from typing import Any


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


def innermost(span: Any) -> Any:
    """The span of the statement itself: one that a macro wrote carries those of its calls too."""
    return span.spans[-1] if hasattr(span, "spans") else span


def at(span: Any) -> str:
    """Render a TVM span as ``file:line``, or an empty string when the statement carries none."""
    if span is None:
        return ""
    span = innermost(span)
    return f"{span.source_name.name}:{span.line}"

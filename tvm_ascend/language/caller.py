# SPDX-License-Identifier: Apache-2.0
"""The line of calls that Python makes itself, as those in signatures, before a kernel is parsed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

from tvm_ascend.errors import AscendError

PARSING: ContextVar[bool] = ContextVar("whether our decorator parses", default=False)
"""While it is set, the parser adds the line to every error."""


@contextmanager
def called_from(frame: FrameType) -> Iterator[None]:
    """Put the line of ``frame`` before the text of errors that are raised within."""
    try:
        yield
    except AscendError as err:
        if not PARSING.get():
            err.args = (f"{frame.f_code.co_filename}:{frame.f_lineno}: {err}",)
        raise

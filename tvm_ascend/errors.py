# SPDX-License-Identifier: Apache-2.0
"""Every error a user can cause: one class per situation, text in one place.

The form is always: what is wrong - where - what is allowed - what to do, with the values.
``AscendError`` must not derive from RuntimeError: the TVMScript parser keeps only the last line of those.
"""

from __future__ import annotations


class AscendError(Exception):
    """Base of every error that tvm_ascend raises for a user's mistake."""


def at(span) -> str:
    """Render a TVM span as ``file:line``, or an empty string when the statement carries none."""
    if span is None:
        return ""
    return f"{span.source_name.name}:{span.line}"

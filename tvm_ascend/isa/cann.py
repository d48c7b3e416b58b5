# SPDX-License-Identifier: Apache-2.0
"""Versions of CANN: the one whose names rows emit, and how versions compare."""

from __future__ import annotations

import re

OLDEST_CANN = "8.3"
"""The first version whose headers take the emitted Ascend C."""


def version(text: str) -> tuple[int, ...]:
    """The numbers of a version, major and minor; of a text without any an empty tuple."""
    return tuple(int(part) for part in re.findall(r"[0-9]+", text)[:2])

# SPDX-License-Identifier: Apache-2.0
"""What kind of numbers a dtype holds, by its TVM name."""

from __future__ import annotations


def is_float(dtype: str) -> bool:
    """Whether a dtype is a floating-point one."""
    return dtype.startswith(("float", "bfloat"))


def is_int(dtype: str) -> bool:
    """Whether a dtype is an integer one; bool is not."""
    return dtype.startswith(("int", "uint"))

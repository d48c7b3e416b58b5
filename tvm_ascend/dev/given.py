# SPDX-License-Identifier: Apache-2.0
"""What the functions of Developer mode are given."""

from __future__ import annotations

from tvm_ascend.build import Kernel
from tvm_ascend.errors import KernelExpected


def a_kernel(function: str, given: object) -> Kernel:
    """The kernel, or an error that names the function."""
    if not isinstance(given, Kernel):
        raise KernelExpected(function, given)
    return given

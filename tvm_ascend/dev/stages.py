# SPDX-License-Identifier: Apache-2.0
"""The IR at a named stage, and the difference between two of them."""

from __future__ import annotations

import difflib

from tvm_ascend.build import Kernel
from tvm_ascend.dev.given import a_kernel
from tvm_ascend.errors import UnknownStageError


def show(kernel: Kernel, stage: str) -> str:
    """TVMScript of one stage.

    Raises
    ------
    UnknownStageError : the name is not in ``pipeline.STAGES``.
    """
    kernel = a_kernel("dev.show", kernel)
    if stage not in kernel.stages:
        raise UnknownStageError(stage, list(kernel.stages))
    return kernel.stages[stage].script()


def diff(kernel: Kernel, before: str, after: str, context: int = 3) -> str:
    """Unified diff of two stages; empty when they are the same."""
    lines = difflib.unified_diff(
        show(kernel, before).splitlines(),
        show(kernel, after).splitlines(),
        before,
        after,
        n=context,
        lineterm="",
    )
    return "\n".join(lines)

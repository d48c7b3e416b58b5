# SPDX-License-Identifier: Apache-2.0
"""Why a kernel has its tile: ``python -m tvm_ascend why-tile FILE.py:NAME``."""

from __future__ import annotations

import json
from typing import Any

from tvm_ascend.build import Kernel
from tvm_ascend.dev.given import a_kernel
from tvm_ascend.dev.kernel_file import kernel_of


def why_tile(kernel: Kernel) -> str:
    """Who chose the tile, the choices, and where tiles were ranked the others with their reason."""
    kernel = a_kernel("dev.why_tile", kernel)
    rule, choices = kernel.artifact.rule, kernel.artifact.decisions
    head = f"{kernel.artifact.name}: " + (
        f"tiles of rule `{rule}`" if rule else "tiles as the kernel states them"
    )
    taken = ", ".join(f"{name} {value}" for name, value in choices.items()) or "no choices"
    if kernel.tiling is None:
        return f"{head}; {taken}; no other tile was ranked"
    return "\n".join([f"{head}; {taken}", *(f"  {line}" for line in kernel.tiling.explain())])


def main(given: Any, *, as_json: bool) -> int:
    """Print the answer for one kernel."""
    kernel = kernel_of(given)
    if not as_json:
        print(why_tile(kernel))
        return 0
    artifact = kernel.artifact
    fields = {
        "kernel": artifact.name,
        "rule": artifact.rule,
        "choices": dict(artifact.decisions),
        "tiling": artifact.tiling,
    }
    print(json.dumps(fields, indent=2))
    return 0

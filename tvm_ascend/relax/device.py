# SPDX-License-Identifier: Apache-2.0
"""``target.build.ext_dev``: from the kernels of a module to one runtime module."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import tvm
from tvm.target import Target

from tvm_ascend.build import Artifact, artifact_of
from tvm_ascend.errors import NotAnAscendTarget
from tvm_ascend.options import Options
from tvm_ascend.runtime import module
from tvm_ascend.target import is_ascend


def build(mod: tvm.IRModule, target: Target) -> Any:
    """Compile every kernel, through the disk cache, and pack the results."""
    if not is_ascend(target):
        raise NotAnAscendTarget(f"target {str(target)!r} of kind ext_dev")
    return module.create(
        {
            var.name_hint: saved_parts(artifact_of(func, Options()))
            for var, func in mod.functions.items()
        }
    )


def saved_parts(artifact: Artifact) -> dict[str, str]:
    """What a runtime module keeps of a compiled kernel."""
    return {
        "name": artifact.name,
        "table": artifact.table,
        "control": artifact.control,
        "source": artifact.source,
        "params": json.dumps([asdict(param) for param in artifact.params]),
    }

# SPDX-License-Identifier: Apache-2.0
"""Delete inserted synchronisation on purpose and see what the checker says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tvm_ascend.build import Kernel, rebuild
from tvm_ascend.errors import HazardError, UnknownSyncError
from tvm_ascend.options import SimOptions
from tvm_ascend.runtime.report import Hazard
from tvm_ascend.transform.sync_edit import SyncInfo, list_syncs, without_sync


@dataclass(frozen=True)
class SyncTrial:
    """One deleted sync and the first hazard it caused; None when nothing was reported."""

    sync: SyncInfo
    hazard: Hazard | None


def syncs(kernel: Kernel) -> Sequence[SyncInfo]:
    """Every flag pair and barrier of the compiled kernel, in program order."""
    return list_syncs(kernel.stages["final"])


def break_sync(kernel: Kernel, index: int, *inputs: Any) -> SyncTrial:
    """Run the kernel without its ``index``-th sync, strictly, and return what was reported.

    Raises
    ------
    UnknownSyncError : the kernel has no such sync.
    """
    found = syncs(kernel)
    if not 0 <= index < len(found):
        raise UnknownSyncError(kernel.artifact.name, index, len(found))
    info = found[index]
    broken = rebuild(kernel, without_sync(kernel.stages["final"], index))
    try:
        broken.profile(*inputs, sim=SimOptions())
    except HazardError as error:
        return SyncTrial(info, error.hazard)
    return SyncTrial(info, None)

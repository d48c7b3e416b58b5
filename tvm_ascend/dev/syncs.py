# SPDX-License-Identifier: Apache-2.0
"""Delete inserted synchronisation on purpose and see what the checker says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tvm_ascend.build import Kernel, rebuild
from tvm_ascend.codegen.text import stmt_text
from tvm_ascend.dev.given import a_kernel
from tvm_ascend.errors import HazardError, UnknownEventError, UnknownSyncError
from tvm_ascend.options import SimOptions
from tvm_ascend.runtime.report import Hazard
from tvm_ascend.transform.sync_edit import (
    SyncInfo,
    list_syncs,
    sync_statements,
    without_statement,
    without_sync,
)

_WAIT = re.compile(r'wait_flag\("(\w+)"')


@dataclass(frozen=True)
class SyncTrial:
    """One deleted sync and the first hazard it caused; None when nothing was reported."""

    sync: SyncInfo
    hazard: Hazard | None


def syncs(kernel: Kernel) -> Sequence[SyncInfo]:
    """Every flag pair and barrier of the compiled kernel, in program order."""
    return list_syncs(a_kernel("dev.syncs", kernel).stages["final"])


def break_statement(kernel: Kernel, event: str, *inputs: Any) -> Hazard | None:
    """Run without the first single ``wait_flag`` of an event and return what was reported.

    Parameters
    ----------
    event : a hard event such as ``"MTE2_V"``; the set stays, only the wait goes.

    Raises
    ------
    UnknownEventError : the kernel waits for no such event.
    """
    final = a_kernel("dev.break_statement", kernel).stages["final"]
    texts = [stmt_text(statement) for statement in sync_statements(final)]
    events = [match[1] if (match := _WAIT.search(text)) else None for text in texts]
    if event is None or event not in events:
        raise UnknownEventError(
            kernel.artifact.name, event, sorted({name for name in events if name})
        )
    return _hazard_of(rebuild(kernel, without_statement(final, events.index(event))), *inputs)


def break_sync(kernel: Kernel, index: int, *inputs: Any) -> SyncTrial:
    """Run the kernel without its ``index``-th sync, strictly, and return what was reported.

    Raises
    ------
    UnknownSyncError : the kernel has no such sync.
    """
    found = syncs(kernel)
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(found):
        raise UnknownSyncError(kernel.artifact.name, index, len(found))
    info = found[index]
    broken = rebuild(kernel, without_sync(kernel.stages["final"], index))
    return SyncTrial(info, _hazard_of(broken, *inputs))


def _hazard_of(kernel: Kernel, *inputs: Any) -> Hazard | None:
    try:
        kernel.profile(*inputs, sim=SimOptions())
    except HazardError as error:
        return error.hazard
    return None

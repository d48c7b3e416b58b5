# SPDX-License-Identifier: Apache-2.0
"""Developer mode: look at every stage, take over any choice, break things on purpose."""

from __future__ import annotations

from tvm_ascend.dev.proof import SyncProof, Verdict, prove_sync
from tvm_ascend.dev.stages import diff, show
from tvm_ascend.dev.syncs import SyncTrial, break_statement, break_sync, syncs
from tvm_ascend.dev.tiles import why_tile
from tvm_ascend.dev.workbench import Change, Workbench

__all__ = [
    "Change",
    "SyncProof",
    "SyncTrial",
    "Verdict",
    "Workbench",
    "break_statement",
    "break_sync",
    "diff",
    "prove_sync",
    "show",
    "syncs",
    "why_tile",
]

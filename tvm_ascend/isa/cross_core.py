# SPDX-License-Identifier: Apache-2.0
"""Rows that order cores: flags through the task scheduler, barriers of all cores, flags in GM."""

from __future__ import annotations

from typing import Any

from tvm_ascend.isa.instr import CoreType, Instr, Operand, Param, Pipe, Space
from tvm_ascend.isa.sync import PIPES

AIV = (CoreType.AIV,)
BOTH = (CoreType.AIC, CoreType.AIV)
MODE = Param(name="mode", type="enum:uint8_t", values=("0", "1", "2"), spelling="{}")
FLAG = Param(name="flag_id", type="uint16_t", low=0, high=15, declared="uint16_t")
EVENT = (
    Param(name="block_idx", type="int32_t", low=0, high=63, declared="int32_t"),
    Param(name="event_id", type="int32_t", low=0, high=63, declared="int32_t"),
)


FLAGS = ("cross_core_set_flag", "cross_core_wait_flag")
BARRIERS = ("sync_all", "sync_all_mix")
SCHEDULED = FLAGS + BARRIERS
"""Rows that the task scheduler serves: it does so for kernels of the types MIX_... only."""


def _row(
    key: str, name: str, core: tuple[CoreType, ...], emit: str, doc: str, **more: Any
) -> Instr:
    fields: dict[str, Any] = {"operands": (), "params": (), "source": "ASCEND 4.4"}
    fields |= {"cycles": "SYNC_ISSUE"} | more
    return Instr(
        key=key,
        name=name,
        pipe=Pipe.S,
        core=core,
        types=(),
        dtypes=((),),
        body=key,
        emit=emit,
        doc=doc,
        **fields,
    )


def _workspaces(span: str) -> tuple[Operand, ...]:
    """The flags in GM and as much of UB."""
    return (
        Operand(name="gm_workspace", spaces=(Space.GM,), rw="rw", span=span, dtype="int32"),
        Operand(name="ub_workspace", spaces=(Space.UB,), rw="rw", span=span, dtype="int32"),
    )


# A word comes to UB and goes back; another core sees it in its next look at GM [guess].
_TOUCH = "SCALAR_LOAD + SCALAR_STORE"
_POLLED = "GM_WRITE_LATENCY + GM_READ_LATENCY"

ROWS: tuple[Instr, ...] = (
    _row(
        "cross_core_set_flag",
        "CrossCoreSetFlag",
        BOTH,
        "AscendC::CrossCoreSetFlag<{mode}, {pipe}>({flag_id});",
        (
            "Counts flag flag_id up once everything earlier on the pipe has finished, for all "
            "cores of the kind (mode 0), both vector cores of the AI Core (1), or the other kind "
            "in it (2). The counter holds 15."
        ),
        params=(MODE, PIPES, FLAG),
        template="uint8_t mode, pipe_t pipe",
    ),
    _row(
        "cross_core_wait_flag",
        "CrossCoreWaitFlag",
        BOTH,
        "AscendC::CrossCoreWaitFlag({flag_id});",
        "Holds every pipe of the core until flag flag_id is up, then counts it down.",
        params=(FLAG,),
        template="uint8_t modeId = 0, pipe_t pipe = PIPE_S",
    ),
    _row(
        "sync_all",
        "SyncAll",
        AIV,
        "AscendC::SyncAll<true>();",
        "Holds every vector core until all have come here.",
        template="bool isAIVOnly = true",
    ),
    _row(
        "sync_all_mix",
        "SyncAll",
        BOTH,
        "AscendC::SyncAll<false>();",
        "Holds every core of both kinds until all have come here.",
        template="bool isAIVOnly = true",
    ),
    _row(
        "sync_all_soft",
        "SyncAll",
        AIV,
        "AscendC::SyncAll<true>({gm_workspace}, {ub_workspace}, {used_cores});",
        "Holds used_cores vector cores (0: all) until they have come here, by words of zeroed GM "
        "that count; ub_workspace holds nothing afterwards.",
        operands=_workspaces("max(used_cores, 64) * 8"),
        cycles=f"2 * GM_READ_LATENCY + {_TOUCH} + used_cores * SCALAR_LOAD",
        latency=_POLLED,
        params=(Param(name="used_cores", type="int32_t", low=0, high=64),),
        template="bool isAIVOnly = true",
    ),
    *(
        _row(
            f"ib_{verb.lower()}",
            f"IB{verb}",
            AIV,
            f"AscendC::IB{verb}<true>({{gm_workspace}}, {{ub_workspace}}, {{block_idx}}, "
            "{event_id});",
            doc,
            operands=_workspaces("(event_id * 64 + block_idx + 1) * 8"),
            cycles=f"GM_READ_LATENCY + {_TOUCH}",
            latency=_POLLED,
            params=EVENT,
            template="bool isAIVOnly = true",
        )
        for verb, doc in (
            ("Set", "Raises the word event_id of block block_idx in zeroed GM once it is down."),
            (
                "Wait",
                "Holds the core until the word of event_id and block_idx is up, then lowers it.",
            ),
        )
    ),
)

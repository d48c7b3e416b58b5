# SPDX-License-Identifier: Apache-2.0
"""Rows that order pipes of one core: flags and barriers."""

from __future__ import annotations

from tvm_ascend.isa.instr import CoreType, Instr, Param, Pipe

BOTH = (CoreType.AIC, CoreType.AIV)
EVENTS = (
    "MTE2_MTE1 MTE1_MTE2 MTE1_M M_MTE1 MTE3_MTE1 MTE1_MTE3 MTE2_M M_MTE2 M_FIX FIX_M MTE3_MTE2 "
    "MTE2_MTE3 S_MTE2 MTE2_S S_MTE3 MTE3_S MTE2_FIX FIX_MTE2 FIX_S M_S FIX_MTE3 MTE1_FIX FIX_MTE1 "
    "MTE2_V V_MTE2 MTE3_V V_MTE3 S_V V_S"
)
EVENT = Param(
    name="event",
    type="enum:HardEvent",
    values=tuple(EVENTS.split()),
    spelling="AscendC::HardEvent::{}",
)
PIPES = Param(
    name="pipe",
    type="enum:pipe_t",
    values=("V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL", "S"),
    spelling="PIPE_{}",
)
EVENT_ID = Param(name="id", type="int32_t", low=0, high=7, declared="int32_t")


def _flag(key: str, name: str, doc: str) -> Instr:
    return Instr(
        key=key,
        name=name,
        pipe=Pipe.S,
        core=BOTH,
        operands=(),
        params=(EVENT, EVENT_ID),
        types=(),
        dtypes=((),),
        body=key,
        emit=f"AscendC::{name}<{{event}}>({{id}});",
        template="HardEvent event",
        cycles="SYNC_ISSUE",
        doc=doc,
        source="ASCEND 4.2",
    )


ROWS: tuple[Instr, ...] = (
    _flag(
        "set_flag",
        "SetFlag",
        "Raises flag `id` of SRC_DST once everything earlier on pipe SRC has finished.",
    ),
    _flag(
        "wait_flag",
        "WaitFlag",
        "Holds pipe DST until flag `id` of SRC_DST is raised, then lowers it.",
    ),
    Instr(
        key="pipe_barrier",
        name="PipeBarrier",
        pipe=Pipe.S,
        core=BOTH,
        operands=(),
        params=(PIPES,),
        types=(),
        dtypes=((),),
        body="pipe_barrier",
        choices={(): PIPES.values[:-1]},
        emit="AscendC::PipeBarrier<{pipe}>();",
        template="pipe_t pipe",
        cycles="SYNC_ISSUE",
        doc=(
            "Holds later instructions of the pipe until its earlier ones have finished; ALL joins "
            "every pipe."
        ),
        source="ASCEND 4.2",
    ),
)

# SPDX-License-Identifier: Apache-2.0
"""Row that brings the scalar unit's data cache and GM together."""

from __future__ import annotations

from tvm_ascend.isa.data_copy import ANY
from tvm_ascend.isa.instr import CoreType, Instr, Operand, Param, Pipe, Space

WHOLE = "ENTIRE_DATA_CACHE"

ROWS: tuple[Instr, ...] = (
    Instr(
        key="data_cache_clean",
        name="DataCacheCleanAndInvalid",
        pipe=Pipe.S,
        core=(CoreType.AIC, CoreType.AIV),
        operands=(Operand(name="dst", spaces=(Space.GM,), rw="r", span="1", align="itemsize"),),
        params=(
            Param(
                name="entire_type",
                type="enum:CacheLine",
                values=("SINGLE_CACHE_LINE", WHOLE),
                spelling="AscendC::CacheLine::{}",
            ),
        ),
        dtypes=ANY,
        body="data_cache_clean",
        emit=(
            "AscendC::DataCacheCleanAndInvalid<{T}, {entire_type}, AscendC::DcciDst::CACHELINE_OUT>"
            "({dst});"
        ),
        template="typename T, CacheLine entire_type, DcciDst dcciDst",
        cycles="CACHE_CLEAN_CYCLES",
        doc=(
            "Writes what the scalar unit stored to GM back from its data cache and forgets what it "
            "loaded: the 64-byte line of dst, or everything. Copies see stores of the scalar unit "
            "only afterwards, and it sees theirs only afterwards."
        ),
        source="ASCEND 4.4, 6.7",
    ),
)
CACHE_CLEAN = ROWS[0]
"""What the compiler inserts."""

# SPDX-License-Identifier: Apache-2.0
"""Rows that set the vector mask, for the forms that leave it to the register."""

from __future__ import annotations

from tvm_ascend.isa.forms import AIV
from tvm_ascend.isa.instr import Instr, Param, Pipe

DTYPE = Param(name="dtype", type="typename", values=("float16", "float32", "int16", "int32"))


def _row(
    key: str, emit: str, sets: dict[str, str], doc: str, params: tuple[Param, ...] = ()
) -> Instr:
    return Instr(
        key=key,
        name=emit.split("<")[0].split("(")[0],
        pipe=Pipe.S,
        core=AIV,
        operands=(),
        params=params,
        types=(),
        dtypes=((),),
        sets=sets,
        emit=f"AscendC::{emit};",
        template="typename dtype, MaskMode mode = MaskMode::NORMAL" if params else "",
        cycles="REGISTER_ISSUE",
        doc=doc,
        source="ASCEND 3.0",
    )


def _vector_mask(key: str, mode: str, words: tuple[Param, Param], doc: str) -> Instr:
    return _row(
        key,
        f"SetVectorMask<{{dtype}}, AscendC::MaskMode::{mode}>({{high}}, {{low}})",
        {"vector_mask_high": "high", "vector_mask_low": "low"},
        doc,
        (DTYPE, *words),
    )


ROWS: tuple[Instr, ...] = (
    _vector_mask(
        "set_vector_mask",
        "NORMAL",
        (Param(name="high", type="uint64_t"), Param(name="low", type="uint64_t")),
        "The lanes of each repeat that later preset forms work on: `low` those from 0 to 63, "
        "`high` those from 64 to 127.",
    ),
    _vector_mask(
        "set_vector_mask_count",
        "COUNTER",
        (
            Param(name="high", type="uint64_t", low=0, high=0),
            Param(name="low", type="uint64_t", low=0, high=2**32 - 1),
        ),
        "How many elements later preset forms work on in counter mode.",
    ),
    _row(
        "reset_mask",
        "ResetMask()",
        {"vector_mask_high": "-1", "vector_mask_low": "-1"},
        "Chooses all lanes.",
    ),
    _row(
        "set_mask_count",
        "SetMaskCount()",
        {"mask_counter": "1"},
        "Counter mode: the vector mask is the number of elements of an instruction, which repeats "
        "as often as they need.",
    ),
    _row(
        "set_mask_norm",
        "SetMaskNorm()",
        {"mask_counter": "0"},
        "Normal mode: the vector mask has a bit for each lane of a repeat.",
    ),
)

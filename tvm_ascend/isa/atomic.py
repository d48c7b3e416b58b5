# SPDX-License-Identifier: Apache-2.0
"""Rows that change how later instructions compute or store: atomics, HF32, saturation."""

from __future__ import annotations

from tvm_ascend.isa.instr import CoreType, Instr, Param, Pipe, Renamed

BOTH = (CoreType.AIC, CoreType.AIV)
TYPE = Param(
    name="dtype",
    type="typename",
    values=("float32", "float16", "int16", "int32", "int8", "bfloat16"),
)
OPERATIONS = ("Add", "Max", "Min")


def _atomic(name: str, sets: dict[str, str], doc: str) -> Instr:
    return Instr(
        key=f"set_atomic_{name.lower()}",
        name=f"SetAtomic{name}",
        pipe=Pipe.S,
        core=BOTH,
        operands=(),
        params=(TYPE,),
        types=(),
        dtypes=((),),
        sets={**sets, "atomic_type": "dtype"},
        emit=f"AscendC::SetAtomic{name}<{{dtype}}>();",
        template="typename dtype",
        cycles="REGISTER_ISSUE",
        doc=doc,
        source="ASCEND 3.11",
    )


def _hf32(key: str, name: str, register: str, doc: str) -> Instr:
    return Instr(
        key=key,
        name=name,
        pipe=Pipe.S,
        core=(CoreType.AIC,),
        operands=(),
        params=(Param(name="mode", type="bool", low=0, high=1, declared="bool"),),
        types=(),
        dtypes=((),),
        sets={register: "mode"},
        emit=f"AscendC::{name}({{mode}});",
        cycles="REGISTER_ISSUE",
        doc=doc,
        source="ASCEND 3.9",
    )


def _saturation(
    key: str, emit: str, template: str, sets: dict[str, str], core: tuple[CoreType, ...], doc: str
) -> Instr:
    (name,) = sets.values()
    return Instr(
        key=key,
        name=emit.split("<")[0],
        pipe=Pipe.S,
        core=core,
        operands=(),
        params=(_FLAGS[name],),
        types=(),
        dtypes=((),),
        sets=sets,
        emit=f"AscendC::{emit}({{{name}}});",
        template=template,
        cycles="REGISTER_ISSUE",
        doc=doc,
        source="ASCEND 3.0",
        since="9.1",
    )


_FLAGS = {
    "value": Param(name="value", type="int64_t", low=0, high=1, declared="int64_t"),
    "enable": Param(name="enable", type="bool", low=0, high=1, declared="bool"),
}

ROWS: tuple[Instr, ...] = (
    *(
        _atomic(
            name,
            {"atomic": str(number)},
            f"Later stores to GM from UB, L1 and L0C combine with what is there ({name.lower()}), "
            "until disable_dma_atomic.",
        )
        for number, name in enumerate(OPERATIONS, 1)
    ),
    _atomic("Type", {}, "The element type of atomic stores."),
    Instr(
        key="disable_dma_atomic",
        name="SetAtomicNone",
        pipe=Pipe.S,
        core=BOTH,
        operands=(),
        params=(),
        types=(),
        dtypes=((),),
        sets={"atomic": "0"},
        emit="AscendC::SetAtomicNone();",
        renamed=(Renamed(cann="9.0", emit="AscendC::DisableDmaAtomic();"),),
        cycles="REGISTER_ISSUE",
        doc="Later stores to GM replace what is there.",
        source="ASCEND 3.11, 7.2",
    ),
    _hf32(
        "set_hf32_mode",
        "SetHF32Mode",
        "hf32",
        "Whether later Mmad of float32 round their operands to HF32, at twice the speed.",
    ),
    _hf32(
        "set_hf32_trans_mode",
        "SetHF32TransMode",
        "hf32_to_zero",
        "Whether that rounding sends halfway cases towards zero instead of to the even neighbour.",
    ),
    _saturation(
        "set_ctrl_spr",
        "SetCtrlSpr<48, 48>",
        "int8_t startBit, int8_t endBit",
        {"ctrl_48": "value"},
        BOTH,
        "Bit 48 of CTRL: 1 lets later results of half and bfloat16 be inf and NaN, 0 saturates "
        "them: inf becomes the largest value, NaN zero. Moves do not saturate [guess].",
    ),
    _saturation(
        "set_saturation_flag_cast",
        "SetSaturationFlag<AscendC::SaturationMode::CAST>",
        "SaturationMode mode",
        {"cast_saturates": "enable"},
        (CoreType.AIV,),
        "Whether later Cast to integers saturate, or keep the low bits of what does not fit.",
    ),
)

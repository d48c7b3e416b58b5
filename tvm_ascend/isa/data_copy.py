# SPDX-License-Identifier: Apache-2.0
"""Rows of DataCopy in bursts: GM to and from UB and L1, inside UB, from L1 into BT and FB."""

from __future__ import annotations

from tvm_ascend.isa.instr import CoreType, Instr, Operand, Param, Pipe, Space

ANY = tuple(
    (t,)
    for t in (
        *("float16", "bfloat16", "float32", "int8", "uint8", "int16", "uint16", "int32", "uint32"),
        *("int64", "uint64"),
    )
)
AIC = (CoreType.AIC,)
AIV = (CoreType.AIV,)
COUNT = Param(name="count", type="uint32_t", low=0, high=2**32 - 1)
BURSTS = (
    Param(name="block_count", type="uint16_t", low=0, high=4095),
    Param(name="block_len", type="uint16_t", low=0, high=65535),
    Param(name="src_gap", type="uint16_t", low=0, high=65535),
    Param(name="dst_gap", type="uint16_t", low=0, high=65535),
)
_SPAN = "(block_count * block_len + (block_count - 1) * {side}_gap) * block"
_UNITS = (
    "Copies block_count bursts of block_len 32-byte blocks with gaps of such blocks between them"
)
_CALL = (
    "AscendC::DataCopy({dst}, {src}, AscendC::DataCopyParams({block_count}, {block_len}, "
    "{src_gap}, {dst_gap}));"
)


def _operands(dst: tuple[Space, ...], src: tuple[Space, ...], span: str) -> tuple[Operand, ...]:
    return (
        Operand(name="dst", spaces=dst, rw="w", span=span.format(side="dst")),
        Operand(name="src", spaces=src, rw="r", span=span.format(side="src")),
    )


def _pair(
    key: str,
    pipe: Pipe,
    core: tuple[CoreType, ...],
    spaces: tuple[tuple[Space, ...], tuple[Space, ...]],
    bursts: str,
    count: str,
    doc: str,
    latency: str = "0",
) -> tuple[Instr, Instr]:
    """The strided and the contiguous form of one path; ``bursts`` and ``count`` are cycle texts."""
    strided = Instr(
        key=key,
        name="DataCopy",
        pipe=pipe,
        core=core,
        operands=_operands(*spaces, _SPAN),
        params=BURSTS,
        dtypes=ANY,
        body="data_copy",
        emit=_CALL,
        cycles=bursts,
        latency=latency,
        doc=f"{doc} {_UNITS}.",
        source="ASCEND 3.8",
    )
    contiguous = Instr(
        key=f"{key}_count",
        name="DataCopy",
        pipe=pipe,
        core=core,
        operands=_operands(*spaces, "count"),
        params=(COUNT,),
        dtypes=ANY,
        body="data_copy_count",
        emit="AscendC::DataCopy({dst}, {src}, {count});",
        cycles=count,
        latency=latency,
        doc=f"{doc} Copies count elements, a whole number of 32-byte blocks.",
        source="ASCEND 3.8",
    )
    return strided, contiguous


def _table(
    key: str, dtypes: tuple[tuple[str, ...], ...], space: Space, unit: int, pipe: Pipe, doc: str
) -> Instr:
    """A copy from L1 into a small table whose bursts and gaps count in ``unit`` bytes."""
    types = ("T", "U")[: len(dtypes[0])]
    table = f"(block_count * block_len + (block_count - 1) * dst_gap) * {unit} // itemsize"
    source = (
        f"(block_count * (block_len * {unit} // itemsize) + (block_count - 1) * src_gap * block)"
    )
    if len(types) == 2:
        source = f"block_count * (block_len * {unit // 4}) + (block_count - 1) * src_gap * block"
    return Instr(
        key=key,
        name="DataCopy",
        pipe=pipe,
        core=AIC,
        operands=(
            Operand(name="dst", spaces=(space,), rw="w", span=table, dtype=types[0]),
            Operand(name="src", spaces=(Space.L1,), rw="r", span=source, dtype=types[-1]),
        ),
        params=BURSTS,
        types=types,
        dtypes=dtypes,
        body=f"data_copy_{space.value}",
        emit=_CALL,
        cycles=f"LOAD_DATA_ISSUE + block_count * block_len * {unit} / TABLE_BYTES_PER_CYCLE",
        latency="LOAD_DATA_LATENCY",
        doc=doc,
        source="ASCEND 3.8, 5.4",
    )


GM, UB, L1 = (Space.GM,), (Space.UB,), (Space.L1,)

ROWS: tuple[Instr, ...] = (
    *_pair(
        "data_copy_in",
        Pipe.MTE2,
        (CoreType.AIC, CoreType.AIV),
        ((Space.UB, Space.L1), GM),
        "gm_read(block_count, block_len * 32, src_gap)",
        "gm_read(1, count * itemsize, 0)",
        "Loads from GM into UB, or into L1 what is stored there in fractals already.",
        "GM_READ_LATENCY",
    ),
    *_pair(
        "data_copy_out",
        Pipe.MTE3,
        AIV,
        (GM, UB),
        "gm_write(block_count, block_len * 32, dst_gap)",
        "gm_write(1, count * itemsize, 0)",
        "Stores from UB to GM.",
        "GM_WRITE_LATENCY",
    ),
    *_pair(
        "data_copy_l1_out",
        Pipe.MTE3,
        AIC,
        (GM, L1),
        "max(GM_BURST_CYCLES, block_count * block_len * 32 / L1_TO_GM_BYTES_PER_CYCLE)",
        "max(GM_BURST_CYCLES, count * itemsize / L1_TO_GM_BYTES_PER_CYCLE)",
        "Stores from L1 to GM.",
        "GM_WRITE_LATENCY",
    ),
    *_pair(
        "data_copy_ub",
        Pipe.V,
        AIV,
        (UB, UB),
        "UB_COPY_ISSUE + block_count * block_len * 32 / UB_COPY_BYTES_PER_CYCLE",
        "UB_COPY_ISSUE + count * itemsize / UB_COPY_BYTES_PER_CYCLE",
        "Copies inside UB on the vector pipe.",
        "UB_COPY_LATENCY",
    ),
    _table(
        "data_copy_bt",
        (("float32",), ("int32",)),
        Space.BT,
        64,
        Pipe.MTE1,
        "Copies biases from L1 into the bias table: block_count bursts of block_len times 64 "
        "bytes; src_gap in 32-byte blocks, dst_gap in 64 bytes.",
    ),
    _table(
        "data_copy_bt_cast",
        (("float32", "float16"),),
        Space.BT,
        64,
        Pipe.MTE1,
        "Widens half biases from L1 into the bias table: block_count bursts that fill block_len "
        "times 64 bytes; src_gap in 32-byte blocks, dst_gap in 64 bytes.",
    ),
    _table(
        "data_copy_fb",
        (("uint64",),),
        Space.FB,
        128,
        Pipe.FIX,
        "Copies quantisation words from L1 into the fixpipe buffer: block_count bursts of "
        "block_len times 128 bytes; src_gap in 32-byte blocks, dst_gap in 128 bytes.",
    ),
)

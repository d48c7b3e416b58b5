# SPDX-License-Identifier: Apache-2.0
"""The instruction table: every row, keyed, checked once at import."""

from __future__ import annotations

from tvm_ascend.isa import (
    arithmetic,
    atomic,
    cache,
    cast,
    compare,
    cross_core,
    cube,
    data_copy,
    debug,
    dequant,
    fill,
    fixpipe,
    gather,
    load,
    mask,
    move,
    reduce,
    scalar,
    sort,
    sync,
    transpose,
)
from tvm_ascend.isa.instr import Instr

TABLE: dict[str, Instr] = {}
VECTOR = (mask, arithmetic, cast, dequant, compare, fill, gather, reduce, sort, transpose)
MATRIX = (move, data_copy, load, cube, fixpipe)
FAMILIES = (*VECTOR, *MATRIX, sync, cross_core, scalar, cache, atomic, debug)
for _row in (row for family in FAMILIES for row in family.ROWS):
    assert _row.key not in TABLE, f"two rows are called {_row.key}"
    assert [bool(x) for x in (_row.lane, _row.body, _row.sets)].count(True) == 1, (
        f"{_row.key} needs a lane expression, a body file or registers to set"
    )
    assert all(len(d) == len(_row.types) for d in _row.dtypes), (
        f"{_row.key}: dtypes do not match {_row.types}"
    )
    TABLE[_row.key] = _row

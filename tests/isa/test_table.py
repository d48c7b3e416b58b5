# SPDX-License-Identifier: Apache-2.0
"""Every row of the instruction table is complete and agrees with itself."""

from __future__ import annotations

import string
from dataclasses import replace

import pytest

from tvm_ascend.isa.formula import ITEMSIZE
from tvm_ascend.isa.instr import Instr, Renamed
from tvm_ascend.isa.scalar import ELEMENT_READ
from tvm_ascend.isa.table import TABLE

MAX_ARGUMENTS = 16
RANGES = {
    **{f"uint{bits}_t": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    **{f"int{bits}_t": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    "bool": (0, 1),
}


def holes(text: str) -> set[str]:
    """Names between braces, attributes dropped."""
    return {name.split(".")[0] for _, name, _, _ in string.Formatter().parse(text) if name}


def faults(row: Instr) -> list[str]:
    """What is wrong with a row."""
    names = [m.name for m in (*row.operands, *row.params)]
    found = []
    if len(set(names)) != len(names):
        found.append("two members share a name")
    if len(names) > MAX_ARGUMENTS:
        found.append(f"more than {MAX_ARGUMENTS} arguments")
    found += [
        f"`{emit}` does not name exactly the row's members"
        for emit in (row.emit, *(r.emit for r in row.renamed))
        if holes(emit) - set(row.types) != set(names)
    ]
    for param in row.params:
        if param.type == "text":
            continue
        if param.type == "typename":
            if set(param.values) - set(ITEMSIZE):
                found.append(f"{param.name} names unknown dtypes")
        elif param.type.startswith("enum:"):
            if not param.values or "{}" not in param.spelling:
                found.append(f"enum {param.name} lacks values or a spelling")
        elif param.type not in row.types and (param.type, param.low) != ("uint64_t", None):
            low, high = RANGES[param.type]
            if param.low is None or not low <= param.low <= param.high <= high:
                found.append(f"range of {param.name} does not fit {param.type}")
    values = next((p.values for p in row.params if p.values), ())
    if set(row.choices) - set(row.dtypes) or {v for c in row.choices.values() for v in c} - {
        *values
    }:
        found.append("choices name other dtypes or values")
    unknown = {o.dtype for o in row.operands} - set(row.types) - set(ITEMSIZE)
    if unknown:
        found.append(f"operands of unknown type {unknown}")
    if not (row.doc and row.source and row.core):
        found.append("no doc, source or core")
    if bool(row.timing) == bool(row.cycles):
        found.append("needs either a vector timing or a cycle text")
    versions = [tuple(map(int, r.cann.split("."))) for r in row.renamed]
    if versions != sorted(versions):
        found.append("later names are not oldest first")
    return found


@pytest.mark.parametrize("row", TABLE.values(), ids=list(TABLE))
def test_row_is_complete(row):
    assert not faults(row)


@pytest.mark.parametrize("row", TABLE.values(), ids=list(TABLE))
def test_dtype_tuples_are_distinct(row):
    assert len(set(row.dtypes)) == len(row.dtypes)


BROKEN = {
    "an operand the text forgets": {"emit": "AscendC::Add({dst}, {src0}, {count});"},
    "a hole without a member": {"emit": TABLE["add"].emit.replace("{src1}", "{other}")},
    "a later name that forgets one": {"renamed": (Renamed(cann="9.0", emit="Plus({dst});"),)},
    "names out of order": {
        "renamed": tuple(Renamed(cann=v, emit=TABLE["add"].emit) for v in ("9.0", "8.5"))
    },
    "no doc": {"doc": ""},
    "no timing": {"timing": ""},
    "two timings": {"cycles": "1"},
    "a range too wide": {"params": (replace(TABLE["add"].params[0], high=2**31),)},
    "an unknown type": {"types": ("U",)},
    "choices of another dtype": {"choices": {("int64",): ()}},
    "a choice that is no value": {"choices": {("float32",): ("CAST_ODD",)}},
    "a repeated operand": {"operands": TABLE["add"].operands[:1] * 3},
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=list(BROKEN))
def test_the_check_sees_a_broken_row(change):
    assert faults(replace(TABLE["add"], **change))


def test_element_access_is_found_by_its_rows():
    assert ELEMENT_READ is TABLE["get_value"]

# SPDX-License-Identifier: Apache-2.0
"""Refuse what the chip cannot do, statement by statement, before code is generated."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import tirx
from tvm.ir import StringImm
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.errors import (
    MisalignedOperand,
    ParameterOutOfRange,
    UnsupportedDtypes,
    WrongCore,
    WrongMemory,
)
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.cross_core import FLAG
from tvm_ascend.isa.instr import Instr, Operand, Param, Space
from tvm_ascend.isa.sync import EVENT_ID
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.core_sides import core_type_of, on_each_core
from tvm_ascend.target import chip_of
from tvm_ascend.transform.sync.access import Access, instruction
from tvm_ascend.transform.sync.program import Program, read_program
from tvm_ascend.transform.sync.tree import Branch, Step, build


@prim_func_pass(opt_level=0, name="ascend.Legalize")
class Legalize:
    """Check every instruction against its row of the table; changes nothing.

    Checked are the core kind, the memories and dtypes of operands, parameters that are constant or
    provably out of range, and addresses that are misaligned in an iteration that certainly runs.
    What only a run can tell is left to the simulator. Runs last.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        return on_each_core(func, _checked)


def _checked(func: tirx.PrimFunc) -> tirx.PrimFunc:
    program = read_program(build(func.body))
    for step in program.rows:
        _check(program, step, core_type_of(func), chip_of(func))
    return func


def _check(program: Program, step: Step, core: str, chip: ChipSpec) -> None:
    row = instruction(step.stmt)
    if row is None:
        for access in step.accesses:
            _check_scalar(access, step)
        return
    if core not in [c.value for c in row.core]:
        raise WrongCore(row.name, core, [c.value for c in row.core], step.stmt.span)
    operands = [r for r in program.rows[step] if r.access.pipe is row.pipe]
    for operand, rows in zip(row.operands, operands, strict=True):
        _check_memory(row.name, operand, rows.access, step)
    _check_dtypes(row, [r.access for r in operands], step)
    for param, value in zip(row.params, step.stmt.value.args[len(row.operands) :], strict=True):
        _check_param(program, row, param, value, step, chip)
    for operand, rows in zip(row.operands, operands, strict=True):
        _check_alignment(program, row, operand, rows, step)


def _check_scalar(access: Access, step: Step) -> None:
    row = TABLE["get_value" if access.reads else "set_value"]
    _check_memory(row.name, row.operands[0], access, step)


def _check_memory(name: str, operand: Operand, access: Access, step: Step) -> None:
    if access.space not in operand.spaces:
        allowed = [s.value for s in operand.spaces]
        buffer = str(access.buffer.name)
        raise WrongMemory(name, operand.name, buffer, access.space.value, allowed, step.stmt.span)


def _check_dtypes(row: Instr, accesses: list[Access], step: Step) -> None:
    bound: dict[str, str] = {}
    given = [str(a.buffer.dtype) for a in accesses]
    for operand, dtype in zip(row.operands, given, strict=True):
        wanted = bound.setdefault(operand.dtype, dtype)
        if operand.dtype not in row.types:
            wanted = operand.dtype
        if dtype != wanted:
            raise UnsupportedDtypes(row.name, given, list(row.dtypes), step.stmt.span)
    scalars = zip(row.params, step.stmt.value.args[len(row.operands) :], strict=True)
    for param, value in scalars:
        if param.type in row.types:
            bound.setdefault(param.type, str(value.ty).strip('"'))
    if row.types and tuple(bound.get(t) for t in row.types) not in row.dtypes:
        raise UnsupportedDtypes(row.name, given, list(row.dtypes), step.stmt.span)


def _check_param(
    program: Program, row: Instr, param: Param, value: Any, step: Step, chip: ChipSpec
) -> None:
    span = step.stmt.span
    if param.values:
        text = str(value.value) if isinstance(value, StringImm) else str(value)
        if text not in param.values:
            raise ParameterOutOfRange(row.name, param.name, text, ", ".join(param.values), span)
        return
    if param.low is None or param.high is None:
        return
    bounds = program.reader.interval(program.reader.read(value))
    if bounds.high < param.low or bounds.low > param.high:
        free = {EVENT_ID: chip.usable_event_ids, FLAG: chip.usable_cross_core_ids}
        allowed = f"{param.low} to {free.get(param, param.high + 1) - 1}"
        text = str(int(bounds.low)) if bounds.low == bounds.high else str(value)
        raise ParameterOutOfRange(row.name, param.name, text, allowed, span)


def _check_alignment(program: Program, row: Instr, operand: Operand, rows: Any, step: Step) -> None:
    access: Access = rows.access
    if access.space is Space.GM or _conditional(step):
        return
    align = access.align
    if rows.start.atoms:
        return
    nest = {c.number: c for c in program.nests[step]}
    if any(c.least == 0 for c in nest.values()):
        return
    # Iteration 0 of every loop runs, and iteration 1 of those that run twice.
    offsets = [0]
    for number, factor in rows.start.counters:
        if number in nest and nest[number].least >= 2:
            offsets.append(factor)
    for offset in offsets:
        address = rows.start.const + offset
        if address % align:
            name = str(access.buffer.name)
            where = (row.name, operand.name, name, access.space.value)
            raise MisalignedOperand(*where, address, align, step.stmt.span)


def _conditional(step: Step) -> bool:
    return any(isinstance(seq.owner, Branch) for seq in step.home.chain())

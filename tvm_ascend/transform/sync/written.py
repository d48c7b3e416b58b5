# SPDX-License-Identifier: Apache-2.0
"""Whether the flags and barriers that a function has order everything that needs an order."""

from __future__ import annotations

from dataclasses import dataclass

from tvm import tirx

from tvm_ascend.isa.cross_core import BARRIERS
from tvm_ascend.isa.instr import Pipe
from tvm_ascend.language.core_sides import programs
from tvm_ascend.target import chip_of
from tvm_ascend.transform.sync.machine import NUMBER, Action, Machine, Placed, Violation
from tvm_ascend.transform.sync.program import Program, read_program
from tvm_ascend.transform.sync.require import Requirements
from tvm_ascend.transform.sync.tree import Seq, Step, build, steps

_KINDS = {"set_flag": "set", "wait_flag": "wait"}


@dataclass(frozen=True)
class _Written(Action):
    """A flag statement of the function; its id is whatever the statement says."""

    program: Program | None = None

    def token(self, point: tuple[int, ...]) -> tuple:
        """The flag that this is about in an iteration."""
        assert self.program is not None
        assert isinstance(self.owner, Step)
        return self.source, self.target, self.program.flag_id(self.owner, point)


def unordered(func: tirx.PrimFunc) -> Violation | None:
    """The first two instructions that conflict and that no sync of the function orders.

    Accesses whose addresses are not known count as conflicts. In a mixed kernel each kind of core
    is looked at alone: flags between cores are not.
    """
    found = (_unordered(program) for program in programs(func))
    return next((violation for violation in found if violation is not None), None)


def _unordered(func: tirx.PrimFunc) -> Violation | None:
    chip = chip_of(func)
    tree = build(func.body)
    program = read_program(tree)
    fractals = int(chip.constants["MMAD_BARRIER_FRACTALS"])
    requirements = Requirements(program, fractals * chip.cube_block**2)
    return Machine(requirements, _actions(tree, program), {}).run()


def _actions(tree: Seq, program: Program) -> Placed:
    found = {step: [_action(step, program)] for step in steps(tree) if step.sync}
    # A barrier of all cores joins the pipes of each.
    barriers = [step for step in steps(tree) if step.cross_core in BARRIERS]
    return found | {step: [Action("barrier_all", 0, 0, step)] for step in barriers}


def _action(step: Step, program: Program) -> Action:
    event = str(step.stmt.value.args[0].value)
    if step.sync in _KINDS:
        source, target = (NUMBER[Pipe(name)] for name in event.split("_"))
        return _Written(_KINDS[step.sync], source, target, step, program=program)
    if event == "ALL":
        return Action("barrier_all", 0, 0, step)
    return Action("barrier", NUMBER[Pipe(event)], NUMBER[Pipe(event)], step)

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
from tvm_ascend.transform.sync.replay import undecided, ways
from tvm_ascend.transform.sync.require import Requirements
from tvm_ascend.transform.sync.tree import Branch, Seq, Step, build, nodes, steps

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


_MOST_INSTANCES = 2000


def unordered(func: tirx.PrimFunc) -> Violation | None:
    """The first two instructions that conflict and that no sync of the function orders.

    Every core is followed on the way it takes, where that depends on its number and on counters of
    loops; at other branches on every way, or where those are too many on both sides at once
    (``both_ways`` says so). Accesses whose addresses are not known count as conflicts. In a mixed
    kernel each kind of core is looked at alone: flags between cores are not.
    """
    found = (_unordered(program) for program in programs(func))
    return next((violation for violation in found if violation is not None), None)


def both_ways(func: tirx.PrimFunc) -> str:
    """Why ``unordered`` takes more ways as possible than there are; empty when it does not."""
    reasons = (undecided(_program(program)) for program in programs(func))
    return next((reason for reason in reasons if reason), "")


def _program(func: tirx.PrimFunc) -> Program:
    tree = build(func.body)
    branches = any(isinstance(node, Branch) for node in nodes(tree))
    return read_program(tree, _MOST_INSTANCES) if branches else read_program(tree)


def _unordered(func: tirx.PrimFunc) -> Violation | None:
    chip = chip_of(func)
    program = _program(func)
    fractals = int(chip.constants["MMAD_BARRIER_FRACTALS"])
    for replay in ways(program):
        program.replay = replay
        requirements = Requirements(program, fractals * chip.cube_block**2)
        violation = Machine(requirements, _actions(program.tree, program), {}).run()
        if violation is not None:
            return violation
    return None


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

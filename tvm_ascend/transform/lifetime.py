# SPDX-License-Identifier: Apache-2.0
"""From where to where in a program every on-chip buffer holds something."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tvm import tirx

from tvm_ascend.errors import innermost
from tvm_ascend.isa import formula
from tvm_ascend.isa.instr import ALIGNMENT, Pipe, Space
from tvm_ascend.language.loops import NUM_STAGES
from tvm_ascend.transform.sync.access import number, placed_in
from tvm_ascend.transform.sync.tree import Loop, Node, Seq, Step, bodies

VERSIONS = "ascend.versions"


@dataclass(eq=False)
class Lifetime:
    """One allocation: the program positions between which it is in use, and by which pipes.

    ``partners`` are the buffers that some vector instruction reads together with it, ``align`` is
    the alignment in bytes that satisfies every instruction on it.
    """

    alloc: tirx.AllocBuffer
    seq: Seq
    first: float = math.inf
    last: float = -math.inf
    pipes: set[Pipe] = field(default_factory=set)
    lines_used: list[int] = field(default_factory=list)
    partners: set[tirx.Var] = field(default_factory=set)
    align: int = 1

    @property
    def buffer(self) -> tirx.Var:
        """The buffer."""
        return self.alloc.buffer

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.buffer.name)

    @property
    def space(self) -> Space:
        """Its memory."""
        return placed_in(self.buffer)

    @property
    def versions(self) -> int:
        """Copies for pipelining."""
        return int(self.alloc.annotations.get(VERSIONS, 1))

    @property
    def elements(self) -> int:
        """Elements of one copy."""
        return math.prod(number(e) for e in self.buffer.shape) // self.versions

    @property
    def bytes(self) -> int:
        """Size of all copies."""
        return self.elements * self.versions * formula.ITEMSIZE[str(self.buffer.dtype)]

    @property
    def lines(self) -> tuple[int, int]:
        """First and last source line of its uses; 0 when unknown."""
        return min(self.lines_used, default=0), max(self.lines_used, default=0)

    def overlaps(self, other: Lifetime) -> bool:
        """Whether both hold something at once."""
        return self.first <= other.last and other.first <= self.last

    def shares_freely(self, other: Lifetime) -> bool:
        """Whether sharing memory with the other makes no unit wait that would not wait anyway.

        That is so for buffers of one and the same pipe, and outside of pipelined loops.
        """
        if self.pipes | other.pipes and len(self.pipes | other.pipes) == 1:
            return True
        both = set(self.seq.loops()) & set(other.seq.loops())
        return not any(int(loop.stmt.annotations.get(NUM_STAGES, 1)) > 1 for loop in both)


def lifetimes(tree: Seq) -> list[Lifetime]:
    """Every on-chip allocation of a program, in order, with its lifetime."""
    reader = _Reader()
    reader.number(tree)
    reader.uses(tree)
    return [life for life in reader.lives.values() if life.space is not Space.GM]


def _least(buffer: tirx.Var) -> int:
    return int(ALIGNMENT[placed_in(buffer)])


class _Reader:
    def __init__(self) -> None:
        self.lives: dict[tirx.Var, Lifetime] = {}
        self.positions: dict[Node, tuple[int, int]] = {}
        self.count = 0

    def number(self, seq: Seq) -> None:
        """Number the statements; a loop or branch covers those inside."""
        for child in seq.children:
            start = self.count
            self.count += 1
            if isinstance(child, Step) and isinstance(child.stmt, tirx.AllocBuffer):
                self.lives[child.stmt.buffer] = Lifetime(
                    child.stmt, seq, align=_least(child.stmt.buffer)
                )
            for body in bodies(child):
                self.number(body)
            self.positions[child] = (start, self.count - 1)

    def uses(self, seq: Seq) -> None:
        """Extend lifetimes over the steps of a sequence."""
        for child in seq.children:
            if isinstance(child, Step):
                self._step(child)
            for body in bodies(child):
                self.uses(body)

    def _step(self, step: Step) -> None:
        for access in step.accesses:
            life = self.lives.get(access.buffer)
            if life is None:
                continue
            first, last = self.positions[self._holder(step, life.seq)]
            life.first, life.last = min(life.first, first), max(life.last, last)
            life.pipes.add(access.pipe)
            life.align = math.lcm(life.align, access.align)
            if step.stmt.span is not None:
                life.lines_used.append(innermost(step.stmt.span).line)
        sources = {a.buffer for a in step.accesses if a.pipe is Pipe.V and a.reads}
        for buffer in sources & self.lives.keys():
            self.lives[buffer].partners |= sources - {buffer}

    def _holder(self, step: Step, home: Seq) -> Node:
        """The outermost loop between an allocation and a use, else the use itself."""
        holder: Node = step
        seq = step.parent
        while seq is not None and seq is not home:
            assert seq.owner is not None
            if isinstance(seq.owner, Loop):
                holder = seq.owner
            seq = seq.owner.parent
        return holder

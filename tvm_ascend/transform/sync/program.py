# SPDX-License-Identifier: Apache-2.0
"""The program with its loops measured and cut to the few iterations that decide about order."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import tvm
import tvm_ffi
from tvm import tirx

from tvm_ascend import sym
from tvm_ascend.isa.cross_core import FLAGS
from tvm_ascend.isa.instr import Space
from tvm_ascend.transform.sync.access import Access
from tvm_ascend.transform.sync.affine import MOST_VERSIONS, Form, Interval, Reader
from tvm_ascend.transform.sync.tree import Branch, Loop, Node, Seq, Step, Wrap, bodies, continues

ADDRESS = "ascend.address"


@dataclass(frozen=True, eq=False)
class Rows:
    """An access in numbers: bytes on chip (absolute), bytes from the start of a GM tensor.

    ``nest`` are the counters of the loops around it, outermost first.
    ``dims`` holds, for GM, one (index, extent touched, size) per dimension where the access is a
    box of the tensor, in elements.
    """

    access: Access
    start: Form
    count: Form
    pitch: Form
    length: Form
    nest: tuple[Counter, ...] = ()
    dims: tuple[tuple[Form, Form, Any], ...] = ()


@dataclass(eq=False)
class Counter:
    """How often a loop runs, and how many of its iterations are looked at (``cut``).

    With ``exact`` the cut is the whole loop; else iteration k of the cut stands for every
    iteration with the same remainder modulo ``versions``.
    """

    loop: Loop
    number: int
    least: int
    most: float
    cut: int = 0
    versions: int = 1

    @property
    def exact(self) -> bool:
        """Whether no iteration is left out."""
        return self.cut >= self.most

    @property
    def exits(self) -> list[int]:
        """Trip counts of the cut after which the loop may end."""
        spread = self.most - self.least
        first = max(min(self.least, 1), self.cut - min(spread, self.cut))
        return list(range(int(first), self.cut + 1))


class Replay(Protocol):
    """Knows which way a program goes on one core; None: it may go either way."""

    def side(self, branch: Branch, point: tuple[int, ...]) -> int | None:
        """The side of a branch that runs at a point."""

    def trips(self, loop: Loop, point: tuple[int, ...]) -> int | None:
        """How often a loop runs at a point."""


@dataclass
class Program:
    """The tree, its counters in nesting order per step, and its accesses in numbers.

    ``conditions`` are those of branches, by the loops around. ``replay`` fixes the way through all
    of them. ``block`` is the counter of the core, ``going_on`` has the branches that ask whether an
    iteration of a loop around them is not the last, with that loop's place in the nest.
    """

    tree: Seq
    reader: Reader
    counters: dict[Loop, Counter] = field(default_factory=dict)
    rows: dict[Step, list[Rows]] = field(default_factory=dict)
    nests: dict[Step, tuple[Counter, ...]] = field(default_factory=dict)
    ids: dict[Step, Form] = field(default_factory=dict)
    block: int | None = None
    extents: dict[int, Form] = field(default_factory=dict)
    going_on: dict[Branch, tuple[Counter, int]] = field(default_factory=dict)
    conditions: dict[Branch, Form] = field(default_factory=dict)
    nest_of: dict[Node, tuple[Counter, ...]] = field(default_factory=dict)
    replay: Replay | None = None

    def side(self, branch: Branch, point: tuple[int, ...]) -> int | None:
        """The side of a branch that runs in an iteration; None: either may.

        In an iteration after which the loop may end or go on, either may.
        """
        known = self.replay.side(branch, point) if self.replay is not None else None
        if known is not None:
            return known
        if branch not in self.going_on:
            return None
        counter, depth = self.going_on[branch]
        if point[depth] + 1 == counter.cut:
            return 1
        return None if point[depth] + 1 in counter.exits else 0

    def trips(self, loop: Loop, point: tuple[int, ...]) -> int | None:
        """How often a loop runs at a point; None: any count from which the cut may leave."""
        return self.replay.trips(loop, point) if self.replay is not None else None

    def iterations(self, loop: Loop, point: tuple[int, ...]) -> range:
        """The iterations of a loop to look at."""
        trips = self.trips(loop, point)
        return range(self.counters[loop].cut if trips is None else trips)

    def taken(self, node: Node, point: tuple[int, ...]) -> list[Seq]:
        """The sequences directly inside a node that may run in an iteration."""
        side = self.side(node, point) if isinstance(node, Branch) else None
        return bodies(node) if side is None else bodies(node)[side : side + 1]

    def flag_id(self, step: Step, point: tuple[int, ...]) -> Any:
        """The event id of a flag statement in an iteration; its text if that is not known."""
        form = self.ids[step]
        values = {f"v{c.number}": k for c, k in zip(self.nests[step], point, strict=True)}
        known = {c.number for c in self.nests[step]}
        if not form.text or not form.uses <= known:
            return form.text or str(step.stmt)
        return int(eval(form.text, {"__builtins__": {}}, values))

    def cut(self, most_instances: int) -> None:
        """Decide how many iterations of every loop to look at: all of them while that is cheap."""
        self._note_versions()
        for counter in self.counters.values():
            n = counter.versions
            least = max(2, n + 1)
            if counter.most <= max(2 * n, 4):
                counter.cut = int(counter.most)
            elif math.isinf(counter.most):
                counter.cut = max(2, 2 * n)
            else:
                spread = min(counter.most - counter.least, n)
                least += int(spread)
                counter.cut = least + (int(counter.most) - least) % n
        for counter in sorted(self.counters.values(), key=lambda c: c.most):
            before = counter.cut
            if counter.most <= most_instances:
                counter.cut = int(counter.most)
            if self._instances() > most_instances:
                counter.cut = before
                break

    def _instances(self) -> int:
        """Statements to look at."""
        steps = [nest for step, nest in self.nests.items() if step.pipe is not None]
        return sum(math.prod(c.cut for c in nest) for nest in steps)

    def _note_versions(self) -> None:
        by_number = {c.number: c for c in self.counters.values()}
        flags = [[form] for form in self.ids.values()]
        on_chip = [
            [r.start for r in rows if r.access.space is not Space.GM] for rows in self.rows.values()
        ]
        for forms in [*flags, *on_chip]:
            for atom, _ in (pair for form in forms for pair in form.atoms):
                for number in atom.uses if 0 < atom.modulus <= MOST_VERSIONS else ():
                    if number in by_number:
                        counter = by_number[number]
                        both = math.lcm(counter.versions, atom.modulus)
                        counter.versions = both if both <= MOST_VERSIONS else counter.versions


def read_program(tree: Seq, most_instances: int = 300) -> Program:
    """Measure a tree whose on-chip buffers have addresses."""
    return _read(tree, True, most_instances)


def read_structure(tree: Seq) -> Program:
    """Measure loops and flags only."""
    return _read(tree, False, 0)


def _read(tree: Seq, accesses: bool, most_instances: int) -> Program:
    program = Program(tree, Reader())
    _Measure(program, accesses).sequence(tree, ())
    program.cut(most_instances)
    return program


class _Measure:
    def __init__(self, program: Program, accesses: bool) -> None:
        self.program = program
        self.accesses = accesses
        self.reader = program.reader
        self.addresses: dict[tirx.Var, int] = {}

    def sequence(self, seq: Seq, nest: tuple[Counter, ...]) -> None:
        for child in seq.children:
            inner = nest
            if isinstance(child, Step):
                self._step(child, nest)
            elif isinstance(child, Loop):
                inner = (*nest, self._loop(child, nest))
            elif isinstance(child, Wrap) and child.stmt.attr_key == "thread_extent":
                self._grid(child)
            elif isinstance(child, Branch):
                self._branch(child, nest)
            for body in bodies(child):
                self.sequence(body, inner)

    def _branch(self, branch: Branch, nest: tuple[Counter, ...]) -> None:
        self.program.conditions[branch] = self.reader.read(branch.stmt.condition)
        self.program.nest_of[branch] = nest
        for depth, counter in enumerate(nest):
            loop = counter.loop.stmt
            if not isinstance(loop, tirx.For) or loop.step is not None:
                continue
            if tvm_ffi.structural_equal(branch.stmt.condition, continues(loop)):
                self.program.going_on[branch] = counter, depth

    def _grid(self, wrap: Wrap) -> None:
        extent = self.reader.read(wrap.stmt.value)
        number = self.reader.counter(Interval(0, self.reader.interval(extent).high - 1))
        self.reader.define(wrap.stmt.node.var, Form(0, ((number, 1),)))
        self.program.block = number
        self.program.extents[number] = extent

    def _loop(self, loop: Loop, nest: tuple[Counter, ...]) -> Counter:
        stmt = loop.stmt
        self.program.nest_of[loop] = nest
        counted = isinstance(stmt, tirx.For) and stmt.step is None
        extent = self.reader.read(stmt.extent) if counted else self._unknown(nest)
        trips = self.reader.interval(extent)
        least, most = max(0, trips.low), max(0, trips.high)
        number = self.reader.counter(Interval(0, most - 1))
        self.program.extents[number] = extent
        if counted:
            low = self.reader.read(stmt.min)
            self.reader.define(loop.var, low + Form(0, ((number, 1),)))
        elif loop.var is not None:
            uses = frozenset([number, *(c.number for c in nest)])
            self.reader.define(loop.var, self.reader.opaque(uses))
        if loop.jump is not None or math.isinf(least):
            least = 0
        counter = Counter(loop, number, int(least), most)
        self.program.counters[loop] = counter
        return counter

    def _unknown(self, nest: tuple[Counter, ...]) -> Form:
        return self.reader.opaque(frozenset(c.number for c in nest))

    def _step(self, step: Step, nest: tuple[Counter, ...]) -> None:
        stmt = step.stmt
        self.program.nests[step] = nest
        if isinstance(stmt, tirx.AllocBuffer) and ADDRESS in stmt.annotations:
            self.addresses[stmt.buffer] = int(stmt.annotations[ADDRESS])
        if isinstance(stmt, tirx.Bind):
            pure = not step.accesses and not isinstance(stmt.value, tvm.ir.Call)
            known = self.reader.read(stmt.value) if pure else self._unknown(nest)
            self.reader.define(stmt.var, known)
        if step.sync in ("set_flag", "wait_flag"):
            self.program.ids[step] = self.reader.read(stmt.value.args[1])
        if step.cross_core in FLAGS:
            self.program.ids[step] = self.reader.read(stmt.value.args[-1])
        if self.accesses:
            self.program.rows[step] = [self._rows(access, nest) for access in step.accesses]

    def _rows(self, access: Access, nest: tuple[Counter, ...]) -> Rows:
        read, size = self.reader.read, access.itemsize
        base = 0 if access.space is Space.GM else self.addresses[access.buffer]
        numbers = [read(x) for x in (access.count, access.pitch, access.length)]
        count, pitch, length = numbers[0], numbers[1].scaled(size), numbers[2].scaled(size)
        start = read(access.offset).scaled(size) + Form(base)
        dims = self._box(access, *numbers) if access.space is Space.GM else ()
        return Rows(access, start, count, pitch, length, nest, dims)

    def _box(self, access: Access, count: Form, pitch: Form, length: Form) -> tuple:
        """The dimensions an access of GM touches, or () when it is no box of the tensor."""
        shape = [self.reader.read(e) for e in access.buffer.shape]
        if not shape or len(access.buffer.strides) or not all(s.is_const for s in shape):
            return ()
        sizes = [s.const for s in shape]
        strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
        extents = [Form(1)] * len(sizes)
        extents[-1] = length
        index = [self.reader.read(i) for i in access.indices]
        if count != Form(1):
            rows = [i for i, s in enumerate(strides[:-1]) if pitch == Form(s)]
            if not rows:
                return ()
            extents[rows[-1]] = count
        if not self._stays(access, sizes[-1], length):
            return ()
        return tuple(zip(index, extents, sizes, strict=True))

    def _stays(self, access: Access, size: int, length: Form) -> bool:
        """Whether no row of the access runs into the next row of the tensor."""
        last = self.reader.read(access.indices[-1])
        ends = self.reader.interval(last + length).high
        if ends <= size:
            return True
        index, reach = access.indices[-1], access.length
        if isinstance(index, int) and isinstance(reach, int):
            return index + reach <= size
        return bool(sym.Analyzer().can_prove(index + reach <= size))

# SPDX-License-Identifier: Apache-2.0
"""Which pairs of instructions of a launch nothing orders, and the syncs that it needs.

Written against ASCEND 4.1, 4.2 and 4.4 with sets of what is finished, as bits of integers. Of the
simulator only its turns by number are known: always the first core that can go on.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from sim.core_streams import Launch, Program
from sim.cube_ops import BACK_TO_BACK, SIZES
from sim.machine import Machine
from sim.ordering import IDS, Barrier, Set, Wait
from sim.stream_op import UB_BYTES, Op, Pick

from tvm_ascend.isa.table import TABLE

PIPES = {"AIC": ("S", "MTE1", "MTE2", "MTE3", "M", "FIX"), "AIV": ("S", "V", "MTE2", "MTE3")}
EVENTS = TABLE["set_flag"].params[0].values
DATA_PIPES = {kind: tuple(p for p in pipes if p != "S") for kind, pipes in PIPES.items()}
FIRST = {space: i << 20 for i, space in enumerate(("gm", "ub", *sorted(set(SIZES) - {"gm"})))}
"""Bytes of all memories are numbered in one row."""

# Flag ids by what they carry: to Vector cores, back, between those of a block, among all of a kind.
CROSS_IDS = {"down": (0, 1), "up": (2, 3), "pair": (4, 5), "kind": (6, 7)}
USELESS_IDS = {"down": 8, "up": 9, "pair": 10}
MODES = {"down": 2, "up": 2, "pair": 1, "kind": 0}


@dataclass(frozen=True)
class CrossSet:
    """Raises a flag on other cores once every core of its group has set it."""

    mode: int
    pipe: str
    id: int
    number: int

    def issue(self, machine: Machine) -> int:
        return machine.cross_set(self.mode, self.pipe, self.id)


@dataclass(frozen=True)
class CrossWait:
    """Waits for it, with all pipes."""

    id: int
    number: int

    def issue(self, machine: Machine) -> int:
        return machine.cross_wait(self.id)


@dataclass(frozen=True)
class All:
    """SyncAll, of all cores of the launch."""

    mixed: bool
    number: int

    def issue(self, machine: Machine) -> int:
        return machine.issue("sync_all_mix" if self.mixed else "sync_all", None)


def senders(launch: Launch, core: int, mode: int | str) -> list[int]:
    """The cores that set a flag together with one; ``"all"`` of SyncAll."""
    kinds, blocks = launch.kinds, launch.blocks
    return [
        c
        for c in range(len(kinds))
        if mode == "all" or (kinds[c] == kinds[core] and (mode == 0 or blocks[c] == blocks[core]))
    ]


def receivers(launch: Launch, core: int, mode: int | str) -> list[int]:
    """The cores that the flag is raised on."""
    if mode != 2:
        return senders(launch, core, mode)
    return [
        c
        for c in range(len(launch.kinds))
        if launch.kinds[c] != launch.kinds[core] and launch.blocks[c] == launch.blocks[core]
    ]


@dataclass
class Run:
    """What happens when a launch runs: positions of the program, sets of them as bits.

    ``order``: as they were issued. ``before``: what is finished before each starts. ``reused``:
    flags raised while their last wait may be to come, as (wait, set). ``crossed``: whether a wait
    took another flag than its own. ``stuck``: whether cores wait forever.
    """

    launch: Launch
    program: Program
    order: list[int] = field(default_factory=list)
    before: dict[int, int] = field(default_factory=dict)
    reused: list[tuple[int, int]] = field(default_factory=list)
    crossed: bool = False
    stuck: bool = False

    def __post_init__(self) -> None:
        self.known: dict[tuple, int] = defaultdict(int)  # by core and pipe
        self.issued: dict[tuple, int] = defaultdict(int)
        self.flags: dict[tuple, tuple[int, int]] = {}  # what it tells, its number
        self.waits: dict[tuple, int] = {}
        self.pending: dict[tuple, deque] = defaultdict(deque)
        self.up: dict[tuple, deque] = defaultdict(deque)
        self.arrived: set[int] = set()  # cores that have told SyncAll
        count = len(self.launch.kinds)
        todo = [
            deque(i for i, (c, _) in enumerate(self.program) if c == core) for core in range(count)
        ]
        while True:
            ready = [c for c in range(count) if todo[c] and self._may_go_on(c, todo[c][0])]
            if not ready:
                break
            core = ready[0]
            while todo[core] and self._issue(core, todo[core][0]):
                self.order.append(todo[core].popleft())
        self.stuck = any(todo)

    def _may_go_on(self, core: int, i: int) -> bool:
        item = self.program[i][1]
        if isinstance(item, CrossWait):
            return bool(self.up[core, item.id])
        return not isinstance(item, All) or core not in self.arrived or bool(self.up[core, "all"])

    def _issue(self, core: int, i: int) -> bool:
        """Whether the core comes past the item."""
        item = self.program[i][1]
        if isinstance(item, CrossWait):
            return self._take(core, item.id, item.number)
        if isinstance(item, All):
            if core not in self.arrived:
                self.arrived.add(core)
                self._finish_all(core)
                self._raise(core, "all", "S", "all", item.number)
            done = self._take(core, "all", item.number)
            if done:
                self.arrived.discard(core)
            return done
        if isinstance(item, Barrier) and item.pipe == "ALL":
            self._finish_all(core)
            return True
        pipe = item.source if isinstance(item, Set) else getattr(item, "target", None) or item.pipe
        at = core, pipe
        self.known[at] |= self.known[core, "S"]  # the scalar unit issues it, after what it knows
        if isinstance(item, CrossSet):
            self._raise(core, item.mode, pipe, item.id, item.number)
        elif isinstance(item, Op):
            self.before[i] = self.known[at]
            self.issued[at] |= 1 << i
        elif isinstance(item, Barrier):
            self.known[at] |= self.issued[at]
        else:
            self._flag(core, i, item, at)
        return True

    def _flag(self, core: int, i: int, item: Set | Wait, at: tuple) -> None:
        flag = core, item.source, item.target, item.id
        if isinstance(item, Set):
            tells = self.known[at] | self.issued[at]
            last = self.waits.get(flag)
            if last is not None and item.target != "S" and not tells >> last & 1:
                self.reused.append((last, i))
            self.crossed |= flag in self.flags
            self.flags[flag] = tells, item.number
        else:
            self.issued[at] |= 1 << i
            self.waits[flag] = i
            tells, number = self.flags.pop(flag, (0, -1))
            self.crossed |= number != item.number
            self.known[at] |= tells

    def _finish_all(self, core: int) -> None:
        everything = 0
        for pipe in PIPES[self.launch.kinds[core]]:
            everything |= self.issued[core, pipe] | self.known[core, pipe]
        for pipe in PIPES[self.launch.kinds[core]]:
            self.known[core, pipe] = everything

    def _raise(
        self, core: int, mode: int | str, pipe: str, flag_id: int | str, number: int
    ) -> None:
        tells = self.known[core, pipe] | self.issued[core, pipe]
        group = senders(self.launch, core, mode)
        self.pending[mode, flag_id, core].append((tells, number))
        if not all(self.pending[mode, flag_id, c] for c in group):
            return
        told = [self.pending[mode, flag_id, c].popleft() for c in group]
        self.crossed |= len({n for _, n in told}) > 1
        joined = 0
        for tells, _ in told:
            joined |= tells
        for receiver in receivers(self.launch, core, mode):
            self.up[receiver, flag_id].append((joined, number))

    def _take(self, core: int, flag_id: int | str, number: int) -> bool:
        if not self.up[core, flag_id]:
            return False
        tells, raised = self.up[core, flag_id].popleft()
        self.crossed |= raised != number
        self.known[core, "S"] |= tells
        return True


def back_to_back(op: Op) -> tuple | None:
    """What two Mmads have in common that need no barrier between them; None: they always do."""
    if op.pipe != "M":
        return None
    m, n = (-(-size // 16) for size in op.params[:2])
    return (m, n) if m * n >= BACK_TO_BACK else None


def accesses(run: Run) -> Iterator[tuple[int, int, Op, int]]:
    """(position, core, instruction, position of the Mmad that it may follow at once or -1)."""
    tiles: dict[tuple, tuple[int, tuple | None]] = {}
    for i in run.order:
        core, op = run.program[i]
        if not isinstance(op, Op):
            continue
        excused = -1
        if op.pipe == "M":
            at = core, op.operands[0][1]
            last, shape = tiles.get(at, (-1, None))
            if shape is not None and shape == back_to_back(op):
                excused = last
            tiles[at] = i, back_to_back(op)
        yield i, core, op, excused


Pairs = dict[tuple[int, int], np.ndarray]


def unordered_pairs(run: Run) -> Pairs:
    """(earlier, later) that touch a byte with nothing between to order them, with the bytes.

    One of them writes, and not both add. Earlier is the last write of the byte, or since then the
    last read or the last addition of its pipe and core.
    """
    size = max(UB_BYTES, *SIZES.values())
    nobody = lambda: np.full(size, -1)  # noqa: E731
    writer: dict[tuple, np.ndarray] = defaultdict(nobody)
    reader: dict[tuple, dict[tuple, np.ndarray]] = defaultdict(lambda: defaultdict(nobody))
    adder: dict[tuple, dict[tuple, np.ndarray]] = defaultdict(lambda: defaultdict(nobody))
    pairs: Pairs = {}

    for i, core, op, excused in accesses(run):
        mine = core, op.pipe

        def compare(
            last: np.ndarray, space: str, at: np.ndarray, other: int = -1, i=i, mine=mine
        ) -> None:
            found = last[at]
            for earlier in {int(e) for e in np.unique(found)} - {-1, other}:
                its = run.program[earlier][0], run.program[earlier][1].pipe
                in_turn = its == mine and mine[1] == "S"  # one thing after the other
                if in_turn or run.before[i] >> earlier & 1:
                    continue
                shared = FIRST[space] + at[found == earlier]
                pairs[earlier, i] = np.concatenate([pairs.get((earlier, i), shared[:0]), shared])

        def memory(space: str, core=core) -> tuple:
            return (space,) if space == "gm" else (space, core)

        for space, at in op.reads.items():
            where = memory(space)
            compare(writer[where], space, at, excused)
            for last in adder[where].values():
                compare(last, space, at)
        for space, at in op.writes.items():
            where = memory(space)
            compare(writer[where], space, at, excused)
            for source, last in reader[where].items():
                if source != mine:  # a pipe reads in order
                    compare(last, space, at)
            for last in () if op.atomic else adder[where].values():
                compare(last, space, at)
        for space, at in op.reads.items():
            reader[memory(space)][mine][at] = i
        for space, at in op.writes.items():
            where = memory(space)
            if op.atomic:
                adder[where][mine][at] = i
                continue
            writer[where][at] = i
            for last in (*reader[where].values(), *adder[where].values()):
                last[at] = -1
    return pairs


def correct(run: Run) -> bool:
    """Whether every pair is ordered, no flag is raised too early and every wait ends."""
    return not (run.stuck or run.reused or run.crossed or unordered_pairs(run))


def numbers(program: Program) -> list[int]:
    """The syncs of a program: one number for all items that belong together."""
    return sorted({item.number for _, item in program if not isinstance(item, Op)})


def without(program: Program, number: int) -> Program:
    """The program without one sync."""
    return [(c, item) for c, item in program if isinstance(item, Op) or item.number != number]


def synchronised(launch: Launch, ops: Program, pick: Pick) -> Program:
    """The program with a correct set of syncs, none of which can go."""
    program: Program = []
    count = 0
    for core, op in ops:
        new = len(program)
        while pairs := unordered_pairs(Run(launch, [*program, (core, op)])):
            assert all(new in pair for pair in pairs)
            earlier = max(min(pair) for pair in pairs)
            program = ordered(launch, program, earlier, core, op, count, pick)
            count += 1
            new = len(program)
        program.append((core, op))
    for number in numbers(program):
        shorter = without(program, number)
        if correct(Run(launch, shorter)):
            program = shorter
    return program


def ordered(
    launch: Launch, program: Program, earlier: int, core: int, op: Op, number: int, pick: Pick
) -> Program:
    """The program with a sync that orders one of its instructions before one to come."""
    other, item = program[earlier]
    if other != core:
        return across(launch, program, earlier, core, number, pick)
    source, target = item.pipe, op.pipe
    if source == target:
        return [*program, (core, Barrier(source, number))]
    if f"{source}_{target}" in EVENTS:
        for at in (earlier + 1 if pick(0, 1) else len(program), len(program)):
            for event_id in range(pick(0, 2), IDS):
                flag = (source, target, event_id, number)
                head, tail = program[:at], program[at:]
                trial = [*head, (core, Set(*flag)), *tail, (core, Wait(*flag))]
                run = Run(launch, trial)
                if not (run.crossed or run.reused or run.stuck):
                    return trial
    return [*program, (core, Barrier("ALL", number))]


def way(launch: Launch, sender: int, receiver: int) -> str:
    """How a flag comes from one core to another; empty: only SyncAll does."""
    kinds, blocks = launch.kinds, launch.blocks
    same_kind, same_block = kinds[sender] == kinds[receiver], blocks[sender] == blocks[receiver]
    if same_kind:
        return "pair" if same_block else "kind"
    if not same_block:
        return ""
    return "down" if kinds[sender] == "AIC" else "up"


def across(
    launch: Launch, program: Program, earlier: int, core: int, number: int, pick: Pick
) -> Program:
    """A flag, or a barrier of all cores, from an instruction of another core to the end."""
    sender, item = program[earlier]
    how = way(launch, sender, core)
    if not how:
        return [*program, *((c, All(True, number)) for c in range(len(launch.kinds)))]
    for at in (earlier + 1 if pick(0, 1) else len(program), len(program)):
        for flag_id in CROSS_IDS[how]:
            trial = flagged(launch, program, sender, item.pipe, how, flag_id, at, number, pick)
            run = Run(launch, trial)
            if not (run.crossed or run.reused or run.stuck):
                return trial
    raise AssertionError("a flag set and waited for at the end is never taken for another")


def flagged(
    launch: Launch,
    program: Program,
    sender: int,
    pipe: str,
    how: str,
    flag_id: int,
    at: int,
    number: int,
    pick: Pick,
) -> Program:
    """The program with a flag that one core sets at a position, the others of its group and the
    waits at the end."""
    mode = MODES[how]
    others = [
        (c, CrossSet(mode, pipes[pick(0, len(pipes) - 1)], flag_id, number))
        for c in senders(launch, sender, mode)
        if c != sender
        for pipes in (DATA_PIPES[launch.kinds[c]],)
    ]
    waits = [(c, CrossWait(flag_id, number)) for c in receivers(launch, sender, mode)]
    own = (sender, CrossSet(mode, pipe, flag_id, number))
    return [*program[:at], own, *program[at:], *others, *waits]


def reported_pairs(run: Run, sites: list[int]) -> Pairs:
    """Races that a run must report, and no others: pairs of sites, the lower first, by bytes."""
    return {in_order(sites[a], sites[b]): shared for (a, b), shared in unordered_pairs(run).items()}


def in_order(a: int, b: int) -> tuple[int, int]:
    """A pair of sites by number: which of two cores came first is chance."""
    return (a, b) if a < b else (b, a)

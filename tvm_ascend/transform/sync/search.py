# SPDX-License-Identifier: Apache-2.0
"""Chooses the syncs: add where a requirement is open, then drop every one that is not needed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from tvm_ascend.errors import JumpInKernel, TooManyEvents
from tvm_ascend.isa.instr import Pipe
from tvm_ascend.isa.sync import EVENT
from tvm_ascend.transform.sync.machine import Action, Machine, Violation
from tvm_ascend.transform.sync.places import relate
from tvm_ascend.transform.sync.plan import Sync, placed
from tvm_ascend.transform.sync.program import Counter
from tvm_ascend.transform.sync.require import Instance, Requirements
from tvm_ascend.transform.sync.tree import Loop, Node, Seq, Step

_MOST_SYNCS = 1000


class Search:
    """Finds a set of syncs of which none can be left out."""

    def __init__(self, requirements: Requirements, usable_ids: int) -> None:
        self.requirements = requirements
        self.program = requirements.program
        self.usable_ids = usable_ids
        self.rotate = True

    def run(self) -> list[Sync]:
        """The syncs, with event ids."""
        syncs = self._minimal(self._sufficient())
        while (fewer := self._merge_one(syncs, _cycling)) is not None:
            syncs = self._minimal(fewer)
        chosen = self._squeezed(syncs)
        if chosen is None:
            self.rotate = False
            chosen = self._squeezed(self._minimal(self._sufficient()))
        if chosen is None:
            raise TooManyEvents(self.usable_ids)
        return chosen

    def _squeezed(self, syncs: list[Sync]) -> list[Sync] | None:
        """Number the flags; while ids run out, merge flags that make a pipe wait longer."""
        chosen = self._assign(syncs)
        while chosen is None:
            fewer = self._merge_one(syncs, _anywhere)
            if fewer is None:
                return None
            syncs = self._minimal(fewer)
            chosen = self._assign(syncs)
        return chosen

    def _violation(self, syncs: list[Sync]) -> Violation | None:
        return Machine(self.requirements, *placed(syncs)).run()

    def _sufficient(self) -> list[Sync]:
        """Close the first open requirement until there is none."""
        syncs: list[Sync] = []
        for _ in range(_MOST_SYNCS):
            violation = self._violation(syncs)
            if violation is None:
                return syncs
            known = {s.place for s in syncs}
            fresh = [s for s in self._candidates(violation) if s.place not in known]
            assert fresh, f"nothing orders {violation.text}"
            syncs.append(fresh[0].at(self._free(fresh[0], syncs)))
        raise AssertionError("the search for syncs does not end")

    def _free(self, sync: Sync, syncs: list[Sync]) -> int:
        """An id that no flag of the event uses, chip limits aside."""
        return max((s.base + s.ids for s in syncs if s.event == sync.event), default=0)

    def _minimal(self, syncs: list[Sync]) -> list[Sync]:
        """Leave out what is implied, trying what runs most often first."""
        order = sorted(range(len(syncs)), key=lambda i: (-len(syncs[i].seq.loops()), i))
        kept = list(syncs)
        for sync in (syncs[i] for i in order):
            fewer = [s for s in kept if s is not sync]
            if self._violation(fewer) is None:
                kept = fewer
        return kept

    def _merge_one(self, syncs: list[Sync], may: Callable[[Sync, Sync], bool]) -> list[Sync] | None:
        """Make one flag of two that are close where it keeps everything in order."""
        pairs = itertools.combinations(range(len(syncs)), 2)
        for i, j in sorted(pairs, key=lambda p: p[1] - p[0]):
            first, second = syncs[i], syncs[j]
            if not _alike(first, second) or not may(first, second):
                continue
            both = _union(first, second)
            if both is None:
                continue
            fewer = [both if s is first else s for s in syncs if s is not second]
            if self._violation(fewer) is None:
                return fewer
        return None

    def _assign(self, syncs: list[Sync]) -> list[Sync] | None:
        """Number the flags of every event from 0, sharing ids where that is provably safe."""
        done: list[Sync] = []
        for place, sync in enumerate(syncs):
            if sync.is_barrier:
                done.append(sync)
                continue
            rest = [s.at(1000 + s.base) for s in syncs[place + 1 :]]
            first = self._free(sync, done)
            last = self.usable_ids - sync.ids
            bases = [first] if first <= last else range(last + 1)
            for base in bases:
                trial = [*done, sync.at(base)]
                if base == first or self._shares([*trial, *rest]):
                    done = trial
                    break
            else:
                return None
        return done

    def _shares(self, syncs: list[Sync]) -> bool:
        try:
            return self._violation(syncs) is None
        except AssertionError:
            return False

    def _candidates(self, violation: Violation) -> list[Sync]:
        first, second = violation.first, violation.second
        if isinstance(first, Action) and isinstance(second, Action):
            assert isinstance(second.owner, Sync)
            return self._protocol(second.owner)
        assert isinstance(first, Instance)
        assert isinstance(second, Instance)
        return self._data(first, second)

    def _data(self, first: Instance, second: Instance) -> list[Sync]:
        """Syncs that order two instances, best first."""
        a, b = first.step, second.step
        nests = (self.program.nests[a], self.program.nests[b])
        relation = relate(nests, (first.point, second.point))
        common = nests[0][: relation.common]
        versions = [self._versions(first, second, c) for c in common]
        level = -1 if relation.level is None else relation.level
        inner = max((i for i, n in enumerate(versions) if n > 1), default=-1)
        seq = common[max(level, inner)].loop.body if level >= 0 else self._meeting(a, b)
        self._check(seq)
        x, y = _child(seq, a), _child(seq, b)
        plain = Sync(a.queue, b.queue, a, b, x, y, level >= 0 and x.index >= y.index)
        if not _exists(plain):
            return [_join_all(plain)]
        found = [plain]
        if not plain.is_barrier and self.rotate and inner >= 0:
            found.insert(0, replace(plain, ids=versions[inner], loop=common[inner].loop))
        return found + self._lifted(plain) if plain.carried else found

    def _versions(self, first: Instance, second: Instance, counter: Counter) -> int:
        """Copies of the contended memory that the iterations of a loop cycle through."""
        found = 1
        for pair in self.requirements.contended(first, second):
            moduli = [
                [atom.modulus for atom, _ in rows.start.atoms if counter.number in atom.uses]
                for rows in pair
            ]
            if all(moduli):
                found = max(found, *moduli[0], *moduli[1])
        return int(min(found, counter.most))

    def _meeting(self, a: Step, b: Step) -> Seq:
        """The innermost sequence around both."""
        around = a.home.chain()
        return next(seq for seq in b.home.chain() if seq in around)

    def _protocol(self, flag: Sync) -> list[Sync]:
        """A flag back, so that an id is set again only after its wait."""
        x, y = flag.wait_at, flag.set_at
        back = Sync(flag.target, flag.source, flag.second, flag.first, x, y, not flag.carried)
        if not _exists(back):
            return [_join_all(back)]
        if flag.carried and x is y:
            back = replace(back, around=True)
        if flag.ids > 1:
            back = replace(back, ids=flag.ids, loop=flag.loop)
        return [back, *self._lifted(back)]

    def _lifted(self, sync: Sync) -> list[Sync]:
        """The same order enforced around branches and loops that may not run at all."""
        found = []
        for seq in sync.seq.chain()[1:]:
            if not seq.loops():
                break
            at = _child(seq, sync.first)
            places = {"set_at": at, "wait_at": at, "ids": 1, "loop": None}
            found.append(replace(sync, carried=True, around=False, **places))
        return found

    def _check(self, seq: Seq) -> None:
        for around in seq.chain():
            if isinstance(around.owner, Loop) and around.owner.jump is not None:
                raise JumpInKernel(around.owner.jump.span)


def _child(seq: Seq, step: Step) -> Node:
    """The child of a sequence that a step is, or is in."""
    node: Node = step
    while node.home is not seq:
        assert node.home.owner is not None
        node = node.home.owner
    return node


def _exists(sync: Sync) -> bool:
    """Whether the chip has such a barrier or flag."""
    return sync.is_barrier or sync.event in EVENT.values


def _join_all(sync: Sync) -> Sync:
    """A barrier of every pipe instead of a flag."""
    return replace(sync, source=Pipe.S, target=Pipe.S, carried=False)


def _alike(a: Sync, b: Sync) -> bool:
    """Whether two flags differ in nothing but where they stand in their sequence."""
    if a.is_barrier or a.event != b.event or a.seq is not b.seq or a.around or b.around:
        return False
    return (a.carried, a.ids, a.loop) == (b.carried, b.ids, b.loop)


def _union(a: Sync, b: Sync) -> Sync | None:
    """One flag for both: the later set and the earlier wait."""
    sets, waits = (a, b), (a, b)
    last = max(sets, key=lambda s: s.set_at.index)
    first = min(waits, key=lambda s: s.wait_at.index)
    if not a.carried and last.set_at.index >= first.wait_at.index:
        return None
    places = {"set_at": last.set_at, "first": last.first}
    return replace(a, **places, wait_at=first.wait_at, second=first.second)


def _cycling(a: Sync, b: Sync) -> bool:
    """Merge what an earlier than the last iteration set: nothing waits for it in practice."""
    return a.carried and a.ids > 1


def _anywhere(a: Sync, b: Sync) -> bool:
    return True

# SPDX-License-Identifier: Apache-2.0
"""How the search moves: the space as a generator, the filter of candidates, the mutation."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from tvm import s_tir
from tvm.ir.utils import derived_object
from tvm.s_tir.meta_schedule.mutator import PyMutator
from tvm.s_tir.meta_schedule.postproc import PyPostproc
from tvm.s_tir.meta_schedule.space_generator import ScheduleFn
from tvm.s_tir.schedule import Trace

from tvm_ascend.tune.space import SAMPLE, Space

_ATTEMPTS = 64
_CHOICES = 2
_SINGLE_SHARE = 0.5
_FACTORS = (2, 3, 4, 8)
Options = Mapping[str, Sequence[int]]


def design_space(space: Space, pruned: Counter | None = None) -> ScheduleFn:
    """The MetaSchedule space generator of ``space``: its rule, filter and mutation.

    Parameters
    ----------
    pruned : counts the candidates that were dropped before building, by reason.
    """

    def schedule(sch: s_tir.Schedule) -> None:
        space.schedule(sch, space.default)

    return ScheduleFn(
        schedule,
        sch_rules=[],
        postprocs=[DropMisfits(space, Counter() if pruned is None else pruned)],
        mutator_probs={ChangeTile(space): 1.0},
    )


@derived_object
class DropMisfits(PyPostproc):
    """Refuse candidates that cannot work, before anything is built, and count the reasons."""

    def __init__(self, space: Space, pruned: Counter) -> None:
        super().__init__()
        self.space = space
        self.pruned = pruned

    def _initialize_with_tune_context(self, context) -> None:
        pass

    def apply(self, sch: s_tir.Schedule) -> bool:
        """Whether the candidate may be built."""
        reason = self.space.misfit(self.space.decisions(sch.trace))
        if reason is not None:
            self.pruned[reason] += 1
        return reason is None

    def clone(self):
        """The same filter, counting in the same place."""
        return DropMisfits(self.space, self.pruned)


@derived_object
class ChangeTile(PyMutator):
    """Change one decision, or move a factor from one to another.

    Of a few such changes that fit, the one that is fastest by the closed form is made.
    A factor moved keeps products: the same k in L1 as fewer and longer Cube steps, the same area of
    a tile in another shape. Either is two changes, the first of which alone may not fit or be slow.
    """

    def __init__(self, space: Space) -> None:
        super().__init__()
        self.space = space

    def _initialize_with_tune_context(self, context) -> None:
        pass

    def apply(self, trace: Trace, rand_state) -> Trace | None:
        """A changed trace, or None when no legal neighbour was found."""
        rng = random.Random(int(rand_state))
        now = self.space.decisions(trace)
        found: list[dict[str, int]] = []
        for _ in range(_ATTEMPTS):
            move = _one_value if rng.random() < _SINGLE_SHARE else _moved_factor
            changes = move(rng, now, self.space.options)
            if changes and self.space.misfit({**now, **changes}) is None:
                found.append(changes)
            if len(found) == _CHOICES:
                break
        if not found:
            return None
        fastest = min(found, key=lambda changes: self.space.estimate({**now, **changes}))
        return self._changed(trace, fastest)

    def clone(self):
        """The same mutation."""
        return ChangeTile(self.space)

    def _changed(self, trace: Trace, changes: Mapping[str, int]) -> Trace:
        samples = [inst for inst in trace.insts if inst.kind.name == SAMPLE]
        for inst, (name, values) in zip(samples, self.space.options.items(), strict=True):
            if name in changes:
                index = values.index(changes[name])
                trace = trace.with_decision(inst, index, remove_postproc=True)
        return trace


def _one_value(rng: random.Random, now: Mapping[str, int], options: Options) -> dict[str, int]:
    """Another value of one decision, half of the time a neighbouring one."""
    name = rng.choice(list(options))
    values, index = options[name], options[name].index(now[name])
    near = values[max(index - 1, 0) : index + 2]
    others = [v for v in (near if rng.random() < 0.5 else values) if v != now[name]]
    return {name: rng.choice(others)} if others else {}


def _moved_factor(rng: random.Random, now: Mapping[str, int], options: Options) -> dict[str, int]:
    """One decision times a factor, another divided by it; empty when there are no such values."""
    up, down = rng.sample(list(options), 2)
    factor = rng.choice(_FACTORS)
    changes = {up: now[up] * factor, down: now[down] // factor}
    exact = now[down] % factor == 0 and all(v in options[n] for n, v in changes.items())
    return changes if exact else {}

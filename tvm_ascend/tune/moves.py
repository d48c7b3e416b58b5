# SPDX-License-Identifier: Apache-2.0
"""How the search moves: the space as a generator, the filter of candidates, the mutation."""

from __future__ import annotations

import random
from collections import Counter

from tvm import s_tir
from tvm.ir.utils import derived_object
from tvm.s_tir.meta_schedule.mutator import PyMutator
from tvm.s_tir.meta_schedule.postproc import PyPostproc
from tvm.s_tir.meta_schedule.space_generator import ScheduleFn
from tvm.s_tir.schedule import Trace

from tvm_ascend.tune.space import Space

_ATTEMPTS = 32


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
        mutator_probs={ChangeOneDecision(space): 1.0},
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
class ChangeOneDecision(PyMutator):
    """Change one decision, half of the time to a neighbouring value, to one that still fits."""

    def __init__(self, space: Space) -> None:
        super().__init__()
        self.space = space

    def _initialize_with_tune_context(self, context) -> None:
        pass

    def apply(self, trace: Trace, rand_state) -> Trace | None:
        """A changed trace, or None when no legal neighbour was found."""
        rng = random.Random(int(rand_state))
        space = self.space
        now = space.decisions(trace)
        names = [name for name, values in space.options.items() if len(values) > 1]
        for _ in range(_ATTEMPTS if names else 0):
            name = rng.choice(names)
            index = _other_index(rng, space.options[name].index(now[name]), space.options[name])
            if space.misfit({**now, name: space.options[name][index]}) is None:
                samples = [i for i in trace.insts if i.kind.name == "SampleCategorical"]
                inst = samples[list(space.options).index(name)]
                return trace.with_decision(inst, index, remove_postproc=True)
        return None

    def clone(self):
        """The same mutation."""
        return ChangeOneDecision(self.space)


def _other_index(rng: random.Random, index: int, values: list[int]) -> int:
    near = [i for i in (index - 1, index + 1) if 0 <= i < len(values)]
    anywhere = [i for i in range(len(values)) if i != index]
    return rng.choice(near if rng.random() < 0.5 else anywhere)

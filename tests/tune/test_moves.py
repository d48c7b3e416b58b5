# SPDX-License-Identifier: Apache-2.0
"""The filter of illegal candidates and the mutation of decisions."""

from __future__ import annotations

from collections import Counter

from tvm_ascend.tune.moves import ChangeOneDecision, DropMisfits
from tvm_ascend.tune.space import Space


def test_misfits_are_dropped_and_counted_by_reason(large_matmul, chip, scheduled):
    space, pruned = Space(large_matmul, chip), Counter()
    keep = DropMisfits(space, pruned)
    assert keep.apply(scheduled(space, large_matmul, space.default))
    assert not pruned
    huge = {**space.default, "tile_m": 512, "tile_n": 512, "tile_k0": 16}
    assert not keep.clone().apply(scheduled(space, large_matmul, huge))
    assert pruned == {space.misfit(huge): 1}


def test_mutation_changes_one_decision_to_another_legal_one(large_matmul, chip, scheduled):
    space = Space(large_matmul, chip)
    trace = scheduled(space, large_matmul, space.default).trace
    mutate = ChangeOneDecision(space)._inst.apply
    seen = set()
    for state in range(40):
        changed = space.decisions(mutate(trace, state))
        assert sum(changed[name] != value for name, value in space.default.items()) == 1
        assert space.misfit(changed) is None
        assert changed == space.decisions(mutate(trace, state))
        seen.add(tuple(changed.values()))
    assert len(seen) > 5


def test_nothing_to_mutate_gives_no_trace(matmul, chip, scheduled):
    space = Space(matmul, chip)
    fixed = Space(matmul, chip, space.overrides(space.default))
    trace = scheduled(fixed, matmul, fixed.default).trace
    assert ChangeOneDecision(fixed)._inst.apply(trace, 1) is None

# SPDX-License-Identifier: Apache-2.0
"""The filter of illegal candidates and the mutation of decisions."""

from __future__ import annotations

from collections import Counter
from math import prod

from tvm_ascend.tune.moves import ChangeTile, DropMisfits
from tvm_ascend.tune.space import Space


def test_misfits_are_dropped_and_counted_by_reason(large_matmul, chip, scheduled):
    space, pruned = Space(large_matmul, chip), Counter()
    keep = DropMisfits(space, pruned)
    assert keep.apply(scheduled(space, large_matmul, space.default))
    assert not pruned
    huge = {**space.default, "tile_m": 512, "tile_n": 512, "tile_k0": 16}
    assert not keep.clone().apply(scheduled(space, large_matmul, huge))
    assert pruned == {space.misfit(huge): 1}


def test_mutation_changes_one_value_or_moves_a_factor(large_matmul, chip, scheduled):
    space = Space(large_matmul, chip)
    trace = scheduled(space, large_matmul, space.default).trace
    mutate = ChangeTile(space)._inst.apply
    counts = Counter()
    for state in range(60):
        changed = space.decisions(mutate(trace, state))
        assert space.misfit(changed) is None
        assert changed == space.decisions(mutate(trace, state))
        names = [name for name, value in space.default.items() if changed[name] != value]
        counts[len(names)] += 1
        if len(names) == 2:
            assert prod(changed[n] for n in names) == prod(space.default[n] for n in names)
    assert set(counts) == {1, 2}


def test_nothing_to_mutate_gives_no_trace(matmul, chip, scheduled):
    space = Space(matmul, chip)
    fixed = Space(matmul, chip, space.overrides(space.default))
    trace = scheduled(fixed, matmul, fixed.default).trace
    assert ChangeTile(fixed)._inst.apply(trace, 1) is None

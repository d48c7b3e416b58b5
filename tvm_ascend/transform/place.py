# SPDX-License-Identifier: Apache-2.0
"""Find byte addresses for the buffers of one memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvm import tirx

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.instr import Space
from tvm_ascend.transform.lifetime import Lifetime


@dataclass(frozen=True)
class Placement:
    """Addresses of the buffers of one memory.

    ``top`` is the end of the highest buffer, ``total`` the sum of all sizes, ``crowd`` the buffers
    that hold something at the moment when most bytes do, ``shared`` whether buffers share memory.
    """

    addresses: dict[tirx.Var, int]
    top: int
    total: int
    crowd: tuple[Lifetime, ...]
    shared: bool
    freely: bool


def place(lives: list[Lifetime], chip: ChipSpec, space: Space) -> Placement:
    """Place buffers apart if they fit, else let them share memory, as little as is needed."""
    capacity = chip.capacity(space.value)
    bank_row = chip.block_bytes * chip.ub_bank_groups if space is Space.UB else 0

    def never(a: Lifetime, b: Lifetime) -> bool:
        return False

    def freely(a: Lifetime, b: Lifetime) -> bool:
        return not a.overlaps(b) and a.shares_freely(b)

    def somehow(a: Lifetime, b: Lifetime) -> bool:
        return not a.overlaps(b)

    attempts: list[tuple[Callable[[Lifetime, Lifetime], bool], int]] = [
        (never, bank_row),
        (never, 0),
        (freely, bank_row),
        (freely, 0),
        (somehow, bank_row),
        (somehow, 0),
    ]
    tries = ((rule, banks, order) for rule, banks in attempts for order in _orders(lives))
    addresses: dict[tirx.Var, int] = {}
    top = 0
    rule = somehow
    for rule, banks, order in tries:
        addresses, top = _pack(order, rule, banks)
        if top <= capacity:
            break
    total = sum(life.bytes for life in lives)
    shared = rule is not never
    return Placement(addresses, top, total, _crowd(lives), shared, rule is not somehow)


def _orders(lives: list[Lifetime]) -> list[list[Lifetime]]:
    """Program order, and largest first, which often packs tighter."""
    return [lives, sorted(lives, key=lambda life: (-life.bytes, life.first))]


def _pack(
    lives: list[Lifetime], may_share: Callable[[Lifetime, Lifetime], bool], banks: int
) -> tuple[dict[tirx.Var, int], int]:
    """First fit: each buffer at the lowest address that no buffer in its way occupies."""
    addresses: dict[tirx.Var, int] = {}
    placed: list[Lifetime] = []
    top = 0
    for life in lives:
        others = [o for o in placed if not may_share(life, o)]
        taken = sorted((addresses[o.buffer], addresses[o.buffer] + o.bytes) for o in others)
        wanted = [addresses[b] for b in life.partners if b in addresses]
        address = _gap(life, taken, wanted, banks)
        addresses[life.buffer] = address
        placed.append(life)
        top = max(top, address + life.bytes)
    return addresses, top


def _gap(life: Lifetime, taken: list[tuple[int, int]], partners: list[int], banks: int) -> int:
    """The lowest free address; with ``banks`` the best one within a row of banks after it."""
    address, size, step = 0, life.bytes, life.align
    for low, high in taken:
        if address + size <= low:
            break
        address = max(address, -(-high // step) * step)
    if not banks or not partners:
        return address
    limit = min((low for low, _ in taken if low >= address), default=address + banks + size)
    fitting = [a for a in range(address, address + banks, step) if a + size <= limit]
    # Two reads of one repeat conflict unless they are half a row of banks apart.
    return min(fitting, key=lambda a: sum((a - p) % banks != banks // 2 for p in partners))


def _crowd(lives: list[Lifetime]) -> tuple[Lifetime, ...]:
    """The buffers that are alive together at the worst moment."""
    worst: list[Lifetime] = []
    for life in lives:
        at = [o for o in lives if o.first <= life.first <= o.last]
        if sum(o.bytes for o in at) > sum(o.bytes for o in worst):
            worst = at
    return tuple(worst)

# SPDX-License-Identifier: Apache-2.0
"""What a kernel did that the chip does not define, found by the simulator."""

from __future__ import annotations

from typing import Any

from tvm_ascend.errors.base import AscendError


class HazardError(AscendError):
    """A kernel did something the chip does not define; raised by strict simulation."""

    def __init__(self, kernel: str, hazard: Any) -> None:
        sides = [f"  {side}" for side in (hazard.first, hazard.second) if side is not None]
        place = (
            f" of {hazard.space} bytes [{hazard.bytes[0]}, {hazard.bytes[1]})"
            if hazard.space and hazard.bytes
            else ""
        )
        fix = [f"  what would order them: {hazard.fix}"] if hazard.fix else []
        core = f" on {hazard.core_name}" if hazard.core_name else ""
        head = f"{hazard.kind} in kernel `{kernel}`{core}{place}: {hazard.message}"
        super().__init__("\n".join([head, *sides, *fix]))
        self.hazard = hazard


class RaceError(HazardError):
    """Two accesses of the same bytes that nothing orders."""


class DeadlockError(HazardError):
    """A wait that nothing will ever satisfy, or cores that wait for each other."""


class FlagProtocolError(HazardError):
    """A flag set twice, never consumed, or set more often than its counter holds."""


class CrossCoreError(HazardError):
    """A flag or barrier between cores that this kernel or core does not have."""


def unmatched_flag(raised: bool, flag: str, way: str, partner: str) -> str:
    """The message about a flag that has no partner on a way that a run did not go."""
    lacks = "and no wait lowers it" if raised else "and nothing raises that flag before it"
    hint = f"; {partner} would, but does not run there" if partner else ""
    return (
        f"{flag} {'raises a flag' if raised else 'waits'}, {lacks} where {way}{hint}. This run "
        "met no such case; another one may"
    )


def unmatched_flag_fix(raised: bool, event: str) -> str:
    """What would be the partner of such a flag."""
    return f"{'WaitFlag' if raised else 'SetFlag'}<HardEvent::{event}> on that way"


class TrapError(HazardError):
    """A program that stopped itself: an integer division by zero."""


class CacheError(HazardError):
    """The scalar unit's data cache and GM disagree about bytes that are used."""


class MemoryAccessError(HazardError):
    """Out of bounds, misaligned, overlapping, or bytes that nobody wrote."""


_HAZARD_CLASSES = {
    "race": RaceError,
    "wait_without_set": DeadlockError,
    "set_twice": FlagProtocolError,
    "unmatched_flag_in_untaken_branch": FlagProtocolError,
    "cache": CacheError,
    "trap": TrapError,
    "unconsumed_flag": FlagProtocolError,
    "flag_overflow": FlagProtocolError,
    "deadlock": DeadlockError,
    "cross_core": CrossCoreError,
    "out_of_bounds": MemoryAccessError,
    "misaligned": MemoryAccessError,
    "poison": MemoryAccessError,
    "overlap": MemoryAccessError,
    "unwritten_output": MemoryAccessError,
}


def hazard_error(kernel: str, hazard: Any) -> HazardError:
    """The error class of a hazard's kind."""
    return _HAZARD_CLASSES.get(hazard.kind, HazardError)(kernel, hazard)

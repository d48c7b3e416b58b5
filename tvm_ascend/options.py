# SPDX-License-Identifier: Apache-2.0
"""The typed options of a compilation and of a simulation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Literal, get_args

from tvm_ascend.errors import OptionError
from tvm_ascend.isa.cann import OLDEST_CANN, version

Executor = Literal["simulator", "twin", "npu"]
Dma = Literal["eager", "late"]
_CANN = re.compile(r"[0-9]{1,4}\.[0-9]{1,4}")


@dataclass(frozen=True, kw_only=True)
class SimOptions:
    """How the simulator runs a kernel; the defaults are the strict ones.

    Parameters
    ----------
    numerics : compute values; off gives timing only, outputs are then undefined.
    hazards : check happens-before, bounds, alignment, poison and the flag protocol.
    strict : raise the first hazard; off collects them in ``Report.hazards``.
    trace : record one event per instruction for ``Report.trace``.
    dma : ``"eager"`` copies data at once; ``"late"`` only when something waits for the copy, so
        that a missing wait also shows as wrong data.
    redundant : list in ``Report.redundant`` the flags and barriers that order nothing in this run;
        the launch is simulated once more without each. Needs ``hazards``.
    block : run this block of the launch alone, counted from 0: its core, or in a kernel of both
        kinds its Cube core and its Vector cores. A launch has one block for each core it uses, so a
        grid that is larger than the chip goes round on them.
    core : run this core alone, numbered as in ``Report.core_cycles``. In a kernel of both kinds it
        finds the flags of the cores left out up, and in global memory what was there before.

    Of a block or a core alone, outputs are written only as far as it writes them, and nothing is
    said about bytes that nobody wrote, as others may have.
    """

    numerics: bool = True
    hazards: bool = True
    strict: bool = True
    trace: bool = False
    dma: Dma = "eager"
    redundant: bool = False
    block: int | None = None
    core: int | None = None

    def __post_init__(self) -> None:
        for name in ("numerics", "hazards", "strict", "trace", "redundant"):
            require(name, getattr(self, name), bool, "True or False")
        if self.redundant and not self.hazards:
            raise OptionError("redundant", True, "False where hazards is False")
        _choose("dma", self.dma, get_args(Dma))
        for name, number in (("block", self.block), ("core", self.core)):
            if number is not None:
                require(name, number, Integral, "a number from 0, or None")
                if number < 0:
                    raise OptionError(name, number, "a number from 0, or None")
                object.__setattr__(self, name, int(number))
        if self.block is not None and self.core is not None:
            raise OptionError("core", self.core, f"None where `block` is given, here {self.block}")


class Overrides(Mapping[str, int]):
    """A mapping that keeps what it was made of: hashable, and equal to a dict of the same items."""

    def __init__(self, items: Mapping[str, int]) -> None:
        self._items = dict(items)

    def __getitem__(self, name: str) -> int:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What ``compile`` may be told.

    Parameters
    ----------
    executor : ``"simulator"`` (default), ``"twin"`` (emitted Ascend C built by g++) or ``"npu"``.
    sim : simulator options of every call.
    overrides : automatic choices taken over by name, such as ``{"tile_m": 64, "num_stages": 1}``.
    cann : CANN version whose names the emitted Ascend C uses.
    cache : keep compiled results on disk.
    """

    executor: Executor = "simulator"
    sim: SimOptions = field(default_factory=SimOptions)
    overrides: Mapping[str, int] = field(default_factory=dict)
    cann: str = OLDEST_CANN
    cache: bool = True

    def __post_init__(self) -> None:
        _choose("executor", self.executor, get_args(Executor))
        require("sim", self.sim, SimOptions, "a SimOptions")
        require("overrides", self.overrides, Mapping, "a mapping of names to integers")
        for name, value in self.overrides.items():
            integer = isinstance(value, Integral) and not isinstance(value, bool)
            if not isinstance(name, str) or not integer:
                raise OptionError(f"overrides[{name!r}]", value, "an integer")
        plain = Overrides({name: int(value) for name, value in self.overrides.items()})
        object.__setattr__(self, "overrides", plain)
        allowed = f'a version such as "{OLDEST_CANN}" or later'
        require("cann", self.cann, str, allowed)
        if not _CANN.fullmatch(self.cann) or version(self.cann) < version(OLDEST_CANN):
            raise OptionError("cann", self.cann, allowed)
        require("cache", self.cache, bool, "True or False")

    def compile_key(self) -> dict:
        """The part that changes the compiled artifact."""
        return {"overrides": dict(sorted(self.overrides.items())), "cann": self.cann}


def options_or_default(given: Options | None) -> Options:
    """What a call was given, checked, or the defaults for None."""
    if given is None:
        return Options()
    require("options", given, Options, "a tvm_ascend.Options or None")
    return given


def require(name: str, value: object, kind: type | tuple[type, ...], allowed: str) -> None:
    """Refuse a value of another kind; True and False are no integers."""
    truth = isinstance(value, bool) and kind in (int, Integral)
    if truth or not isinstance(value, kind):
        raise OptionError(name, value, allowed)


def _choose(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise OptionError(name, value, " or ".join(repr(a) for a in allowed))

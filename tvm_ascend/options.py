# SPDX-License-Identifier: Apache-2.0
"""The typed options of a compilation and of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Literal

Executor = Literal["simulator", "twin", "npu"]


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
    """

    numerics: bool = True
    hazards: bool = True
    strict: bool = True
    trace: bool = False
    dma: Literal["eager", "late"] = "eager"


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
    overrides: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    cann: str = "8.3"
    cache: bool = True

    def compile_key(self) -> dict:
        """The part that changes the compiled artifact."""
        return {"overrides": dict(sorted(self.overrides.items())), "cann": self.cann}

    def sim_json(self) -> dict:
        """The simulator's options as plain values."""
        return asdict(self.sim)

# SPDX-License-Identifier: Apache-2.0
"""What the compiler and the simulator know about a chip."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

VECTOR_CORES = 2
"""Of one AI Core, beside its Cube core, on every chip whose cores are apart [doc: 3.12]."""

Curve = tuple[tuple[float, float], ...]
"""Points of a piecewise linear function, ascending in x; flat outside its ends."""


def interpolate(curve: Curve, x: float) -> float:
    """Value of a curve at ``x``."""
    at = bisect_left(curve, (x,))
    if at == 0:
        return curve[0][1]
    if at == len(curve):
        return curve[-1][1]
    (x0, y0), (x1, y1) = curve[at - 1], curve[at]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


@dataclass(frozen=True, kw_only=True)
class VectorTiming:
    """Cycles of one vector instruction without bank conflicts.

    ``head`` is paid when the pipe was idle, ``tail`` when its result is waited for; ``b8``, ``b16``
    and ``b32`` are the cycles of one 256-byte repeat by the size of the widest element.
    """

    head: float
    tail: float
    b8: float
    b16: float
    b32: float


@dataclass(frozen=True, kw_only=True)
class Paths:
    """Bytes a second of one core on each path to GM, by the number of cores using it at once.

    What is read is in L2, unless ``miss`` says otherwise.
    """

    gm_to_ub: Curve
    ub_to_gm: Curve
    gm_to_l1: Curve
    l0c_to_gm: Curve
    gm_row_cycles: Mapping[str, float]
    """Cycles of starting one more row of a strided copy, by the kind of core."""
    miss: Mapping[str, Curve]
    """The same for what is read and not in L2, by the kind of core."""
    packet_cycles: float
    """Cycles of a line of which less than all is read and missed, beyond those of its bytes."""
    l2_bytes_per_second: float
    """What all cores together move from and to L2."""
    hbm_packet_bytes: float
    """What HBM could deliver in the time that every request for a line takes beyond its bytes."""
    hbm_bytes_per_second: float
    """What HBM delivers to all of them, or takes."""


@dataclass(frozen=True, kw_only=True)
class Deltas:
    """In what a chip that cannot be compiled for differs from those that can.

    ``absent`` names instructions (a call, or the key of a row) that it lacks, with the memories a
    result cannot go to, none for all.
    """

    absent: Mapping[str, tuple[str, ...]]
    not_modelled: tuple[str, ...]

    def lacks(self, key: str, name: str, space: str) -> bool:
        """Whether an instruction, whose result goes to a memory, is one of those."""
        spaces = self.absent.get(key, self.absent.get(name))
        return spaces is not None and (not spaces or space in spaces)


@dataclass(frozen=True, kw_only=True)
class ChipSpec:
    """One chip; sizes are those of one core, ``constants`` the names instruction rows use."""

    name: str
    title: str
    npu_arch: str
    aic_cores: int
    aiv_cores: int
    clock_hz: float
    l2_bytes: int
    l2_warm_bytes: Mapping[str, float]
    """Of what a launch reads, by the kind of core: the kernel before it left them in L2."""
    l2_dirty_share: float
    """Of what else a launch finds in L2: to be written back before anything takes its place."""
    ub_bytes: int
    ub_reserved_bytes: int
    ub_bank_groups: int
    ub_bank_bytes: int
    ub_write_depth: int
    """Cycles from reading a repeat in UB to writing it."""
    l1_bytes: int
    l0a_bytes: int
    l0b_bytes: int
    l0c_bytes: int
    bt_bytes: int
    fb_bytes: int
    block_bytes: int
    repeat_bytes: int
    max_repeat: int
    cube_block: int
    fractal_bytes: int
    event_ids: int
    usable_event_ids: int
    cross_core_ids: int
    """Flags between cores."""
    usable_cross_core_ids: int
    cross_core_depth: int
    """Sets of one flag that may wait to be consumed."""
    queue_depth: int
    vector: Mapping[str, VectorTiming]
    constants: Mapping[str, float]
    paths: Paths
    launch_seconds: Mapping[str, Curve]
    """From the start of a task to that of its cores and back, by their kind and number."""
    first_statements: int
    """Statements of a kernel whose code is there when a core starts."""
    fetch_seconds: Curve
    """For the code of one more statement, by the number of cores that fetch it at once."""
    deltas: Deltas | None = None
    """Of a chip that is known in part: kernels are checked for it and then refused."""

    def capacity(self, space: str) -> int:
        """Bytes a kernel may use of an on-chip memory, by the value of its ``Space``."""
        reserved = self.ub_reserved_bytes if space.lower() == "ub" else 0
        return self.physical_bytes(space) - reserved

    def physical_bytes(self, space: str) -> int:
        """Bytes of an on-chip memory, reserved ones included."""
        sizes = {
            "ub": self.ub_bytes,
            "l1": self.l1_bytes,
            "l0a": self.l0a_bytes,
            "l0b": self.l0b_bytes,
            "l0c": self.l0c_bytes,
            "bt": self.bt_bytes,
            "fb": self.fb_bytes,
        }
        return sizes[space.lower()]

    def cores(self, core_type: str) -> int:
        """Number of cores of kind ``AIC`` or ``AIV``."""
        return {"AIC": self.aic_cores, "AIV": self.aiv_cores}[core_type.upper()]

    def timing_constants(
        self, core_type: str, cores: int, statements: int = 0, launched: str = ""
    ) -> dict[str, float]:
        """Every constant of a launch that keeps ``cores`` cores of ``core_type`` busy.

        ``statements`` are those of the kernel, whose code every core fetches first. ``launched`` is
        ``MIX`` where Cube and Vector cores start together.
        """
        kind, paths = core_type.upper(), self.paths
        read, write = {
            "AIV": (paths.gm_to_ub, paths.ub_to_gm),
            "AIC": (paths.gm_to_l1, paths.l0c_to_gm),
        }[kind]
        late = max(0, statements - self.first_statements)
        fetch = late * interpolate(self.fetch_seconds, cores) * self.clock_hz
        return {
            **self.constants,
            "CORE_START_CYCLES": self.constants["CORE_START_CYCLES"] + fetch,
            "GM_READ_BYTES_PER_CYCLE": interpolate(read, cores) / self.clock_hz,
            "GM_WRITE_BYTES_PER_CYCLE": interpolate(write, cores) / self.clock_hz,
            "GM_ROW_CYCLES": paths.gm_row_cycles[kind],
            "GM_MISS_BYTES_PER_CYCLE": interpolate(paths.miss[kind], cores) / self.clock_hz,
            "GM_PACKET_CYCLES": paths.packet_cycles,
            "HBM_PACKET_BYTES": paths.hbm_packet_bytes,
            "L2_BYTES": self.l2_bytes,
            "L2_DIRTY_SHARE": self.l2_dirty_share,
            "L2_WARM_BYTES": self.l2_warm_bytes[kind],
            "L2_BYTES_PER_CYCLE": paths.l2_bytes_per_second / self.clock_hz,
            "HBM_BYTES_PER_CYCLE": paths.hbm_bytes_per_second / self.clock_hz,
            "LAUNCH_CYCLES": interpolate(self.launch_seconds[launched or kind], cores)
            * self.clock_hz,
            "QUEUE_DEPTH": self.queue_depth,
        }

# SPDX-License-Identifier: Apache-2.0
"""What one simulated launch tells: cycles, busy pipes, bytes, hazards, timeline."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tvm_ascend.errors import PathNotWritable

_KIND_OF_PIPE = {"M": "cube", "V": "vector", "MTE1": "L1 to L0", "S": "scalar"}
_BOUND_SHARE = 0.5


@dataclass(frozen=True)
class Access:
    """One side of a hazard: the statement, its source line and its pipe."""

    text: str
    where: str
    pipe: str

    def __str__(self) -> str:
        place = f" at {self.where}" if self.where else ""
        return f"`{self.text}`{place} (pipe {self.pipe})"


@dataclass(frozen=True)
class Hazard:
    """One thing the simulator refuses: kind, both statements, bytes, what would order them."""

    kind: str
    message: str
    core: int
    space: str
    bytes: tuple[int, int] | None
    first: Access | None
    second: Access | None
    fix: str
    core_name: str = ""


@dataclass(frozen=True)
class RedundantSync:
    """A flag with all that set it and wait for it, or a barrier, that orders nothing in a run.

    ``statements`` are texts with their source lines, ``cycles`` what the launch takes less when
    they do nothing; the fetch of their code, which ``dev.prove_sync`` counts too, is not in it.
    Each is judged alone: two of them may stand in for each other.
    """

    statements: Sequence[tuple[str, str]]
    cycles: int

    def __str__(self) -> str:
        names = [f"`{text}`" + (f" at {line}" if line else "") for text, line in self.statements]
        return f"{self.cycles} cycles: {', '.join(names)}"


@dataclass(frozen=True)
class Printed:
    """What one ``printf`` or ``DumpTensor`` of one core printed."""

    core: int
    where: str
    text: str


@dataclass(frozen=True)
class Report:
    """Result of one launch.

    Attributes
    ----------
    cycles : cycles of the slowest core, launch included.
    time_us : the same at the chip's clock, in microseconds.
    pipes : busy cycles by core, then by pipe.
    core_names : what each core is, such as ``AIC 0`` in a kernel of both kinds.
    bytes : bytes moved by path, for example ``gm_to_ub``.
    instructions : number of executed instructions by name.
    bank_conflicts : Vector cycles of all cores lost to bank conflicts of UB, by site.
    hbm_cycles : what HBM takes for all that it delivered and took; no launch is shorter.
    l2 : bytes by what happened to them: ``hit_bytes`` and ``miss_bytes`` of reads,
        ``written_bytes`` that went to L2, ``hbm_read_bytes`` for the misses (whole lines where a
        run starts inside 32 bytes), ``hbm_written_bytes`` that made room.
    in_flight : cycles in which each pipe had an instruction whose result was not there yet, by
        core; what the chip's profiler calls the time of a pipe.
    printed : what the kernel printed, in the order of cores and statements.
    hazards : what the checker found (empty when ``SimOptions.strict``, which raises instead).
    redundant : with ``SimOptions.redundant`` the flags and barriers that order nothing in this run,
        with the cycles they cost; the launch was simulated without each, and no hazard found.
    """

    kernel: str
    cycles: int
    time_us: float
    pipes: Mapping[int, Mapping[str, int]]
    core_cycles: Mapping[int, int]
    bytes: Mapping[str, int]
    instructions: Mapping[str, int]
    hazards: Sequence[Hazard]
    sites: Sequence[Mapping] = field(repr=False)
    events: Sequence[Sequence[int]] = field(repr=False)
    printed: Sequence[Printed] = ()
    bank_conflicts: Mapping[int, int] = field(default_factory=dict)
    hbm_cycles: int = 0
    l2: Mapping[str, int] = field(default_factory=dict)
    in_flight: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    core_names: Mapping[int, str] = field(default_factory=dict)
    redundant: Sequence[RedundantSync] = ()

    @property
    def busy_share(self) -> dict[str, float]:
        """Share of all cores' time that each pipe is busy, 0 to 1."""
        total = self.cycles * max(len(self.pipes), 1)
        names = {pipe for busy in self.pipes.values() for pipe in busy}
        return {
            name: sum(busy.get(name, 0) for busy in self.pipes.values()) / total
            for name in sorted(names)
        }

    @property
    def bound(self) -> str:
        """Kind of the slowest core's busiest pipe, or ``latency`` when none is half busy."""
        slowest = max(self.core_cycles, key=lambda core: self.core_cycles[core])
        if self.hbm_cycles > _BOUND_SHARE * self.cycles:
            return "memory"
        busy = self.pipes[slowest]
        pipe = max(busy, key=lambda name: busy[name])
        if busy[pipe] < _BOUND_SHARE * self.cycles:
            return "latency"
        return _KIND_OF_PIPE.get(pipe, "memory")

    def trace(self, path: str | Path) -> Path:
        """Write the timeline as Chrome/Perfetto JSON; one process per core, one thread per pipe."""
        path = Path(path)
        scale = self.time_us / self.cycles
        pipes = sorted({event[1] for event in self.events})
        events: list[dict] = [
            {"ph": "M", "name": "process_name", "pid": core, "args": {"name": name}}
            for core, name in self.core_names.items()
        ]
        for core, pipe, start, end, site in self.events:
            row = self.sites[site]
            events.append(
                {
                    "ph": "X",
                    "name": row["op"],
                    "pid": core,
                    "tid": pipes.index(pipe),
                    "ts": start * scale,
                    "dur": (end - start) * scale,
                    "args": {"text": row["text"], "where": row["where"], "cycles": end - start},
                }
            )
        for core in self.pipes:
            events += [
                {"ph": "M", "name": "thread_name", "pid": core, "tid": i, "args": {"name": pipe}}
                for i, pipe in enumerate(pipes)
            ]
        text = json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})
        try:
            path.write_text(text)
        except OSError as error:
            raise PathNotWritable("the timeline", path, error.strerror or error) from error
        return path

    def text(self) -> str:
        """A few lines for people."""
        lines = [
            (
                f"{self.kernel}: {self.cycles} cycles, {self.time_us:.2f} us, "
                f"bound by {self.bound}, {len(self.pipes)} cores"
            )
        ]
        busy = {p: sum(b.get(p, 0) for b in self.pipes.values()) for p in self.busy_share}
        for pipe, share in self.busy_share.items():
            lines.append(f"  pipe {pipe:<5}{busy[pipe]:>12} busy cycles {100 * share:6.1f} %")
        for path, count in sorted(self.bytes.items()):
            lines.append(f"  {path:<14}{count:>14} bytes")
        if self.bank_conflicts:
            lost = sum(self.bank_conflicts.values())
            worst = self.sites[max(self.bank_conflicts, key=lambda s: self.bank_conflicts[s])]
            lines.append(f"  bank conflicts {lost:>13} cycles, most in `{worst['text']}`")
        lines += [f"  redundant sync, costs {sync}" for sync in self.redundant]
        return "\n".join(lines)


def _of_ways_not_taken(data: Mapping, program: Mapping) -> list[Hazard]:
    """Flags without partner where this run did not go."""
    if "reached" not in data:
        return []
    reached = set(data["reached"])
    return [
        Hazard(
            row["kind"], row["message"], 0, "", None, _access(row["first"]),
            _access(row["second"]), row["fix"],
        )
        for row in program.get("untaken", ())
        if reached.isdisjoint(row["sites"])
    ]  # fmt: skip


def _access(side: Mapping | None) -> Access | None:
    return None if side is None else Access(side["text"], side["where"], side["pipe"])


def sync_groups(raw: str) -> list[tuple[int, ...]]:
    """The sites of every flag and barrier of a launch: all that hand each other a flag."""
    groups: list[set[int]] = []
    for pair in json.loads(raw)["handed"]:
        joined = set(pair).union(*(g for g in groups if not g.isdisjoint(pair)))
        groups = [g for g in groups if g.isdisjoint(pair)] + [joined]
    return sorted(tuple(sorted(group)) for group in groups)


def read_report(raw: str, program: Mapping) -> Report:
    """Read the simulator's JSON for a launch of a program (its parsed table)."""
    data = json.loads(raw)

    hazards = [
        Hazard(
            h["kind"],
            h["message"],
            h["core"],
            h["space"],
            tuple(h["bytes"]) if h["bytes"] else None,
            _access(h["first"]),
            _access(h["second"]),
            h["fix"],
            h["core_name"],
        )
        for h in data["hazards"]
    ]
    hazards += _of_ways_not_taken(data, program)
    return Report(
        kernel=program["kernel"],
        cycles=data["cycles"],
        time_us=data["time_us"],
        pipes={c["id"]: c["busy"] for c in data["cores"]},
        core_cycles={c["id"]: c["cycles"] for c in data["cores"]},
        bytes=data["bytes"],
        instructions=data["instructions"],
        hazards=hazards,
        printed=[Printed(*item) for item in data["printed"]],
        sites=[*program["sites"], *data.get("added_sites", ())],
        events=data.get("trace") or (),
        bank_conflicts=dict(data["bank_conflicts"]),
        hbm_cycles=data["hbm_cycles"],
        l2=data["l2"],
        in_flight={c["id"]: c["in_flight"] for c in data["cores"]},
        core_names={c["id"]: c["name"] for c in data["cores"]},
    )

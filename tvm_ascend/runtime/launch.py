# SPDX-License-Identifier: Apache-2.0
"""One launch of a prepared program, and those without each of its syncs."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace

import tvm_ffi

from tvm_ascend.errors import OptionError, hazard_error
from tvm_ascend.options import SimOptions
from tvm_ascend.runtime.report import RedundantSync, Report, read_report, sync_groups


def launch(
    run: Callable[[list, str], str],
    program: Mapping,
    args: Sequence,
    options: SimOptions,
    fresh: Sequence[int],
) -> Report:
    """Run a program on tensors and numbers; strict runs raise the first hazard."""
    _check_choice(options, program)
    given = options_json(options, fresh)
    before = _bytes_of(args) if options.redundant else {}
    raw = run(list(args), given)
    report = raise_hazards(read_report(raw, program), options)
    if options.redundant and not report.hazards:
        with _kept(args):
            found = [
                _without(sites, report, lambda o: _again(run, args, before, json.loads(given) | o))
                for sites in sync_groups(raw)
            ]
        return replace(report, redundant=[sync for sync in found if sync is not None])
    return report


def _check_choice(options: SimOptions, program: Mapping) -> None:
    """Refuse a block or a core that a launch of the program does not have."""
    blocks = program["grid"]
    cores = blocks * (1 + program["vector_cores"]) if program["core_type"] == "MIX" else blocks
    for name, chosen, count in (("block", options.block, blocks), ("core", options.core, cores)):
        if chosen is not None and chosen >= count:
            allowed = f"at most {count - 1}: `{program['kernel']}` runs on {count} {name}s"
            raise OptionError(name, chosen, allowed)


def options_json(options: SimOptions, fresh: Sequence[int]) -> str:
    """What the simulator is told about one launch."""
    return json.dumps(asdict(options) | {"fresh": list(fresh)})


def raise_hazards(report: Report, options: SimOptions) -> Report:
    """Strict runs raise the first hazard."""
    if options.strict and report.hazards:
        raise hazard_error(report.kernel, report.hazards[0])
    return report


def _without(
    sites: Sequence[int], report: Report, again: Callable[[dict], Mapping]
) -> RedundantSync | None:
    """What a sync costs whose statements order nothing in the run; None if they do."""
    found = again({"without": list(sites), "redundant": False, "trace": False, "strict": True})
    if found["hazards"]:
        return None
    rows = [report.sites[site] for site in sites]
    lines = tuple((row["text"], row["where"]) for row in rows)
    return RedundantSync(lines, report.cycles - found["cycles"])


def _again(
    run: Callable[[list, str], str], args: Sequence, before: Mapping[int, bytes], options: Mapping
) -> Mapping:
    """One more launch on the bytes that the first one got."""
    _restore(args, before)
    return json.loads(run(list(args), json.dumps(options)))


@contextmanager
def _kept(args: Sequence) -> Iterator[None]:
    """Leave tensors as they are, whatever launches do meanwhile."""
    after = _bytes_of(args)
    try:
        yield
    finally:
        _restore(args, after)


def _bytes_of(args: Sequence) -> dict[int, bytes]:
    """The bytes of each tensor by its place among the arguments."""
    return {
        place: ctypes.string_at(arg.data_ptr(), arg.numel() * arg.dtype.itemsize)
        for place, arg in enumerate(args)
        if isinstance(arg, tvm_ffi.Tensor) and arg.numel()
    }


def _restore(args: Sequence, saved: Mapping[int, bytes]) -> None:
    for place, data in saved.items():
        ctypes.memmove(args[place].data_ptr(), data, len(data))

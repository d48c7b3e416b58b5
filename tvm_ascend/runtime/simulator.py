# SPDX-License-Identifier: Apache-2.0
"""The default executor: the embedded simulator, driven by LLVM-compiled control code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property

import tvm
import tvm_ffi

from tvm_ascend.errors import OptionError, hazard_error
from tvm_ascend.options import SimOptions
from tvm_ascend.runtime import native
from tvm_ascend.runtime.report import Report, read_report


class SimulatorExecutor:
    """Runs one program; machine code is made at the first launch.

    Parameters
    ----------
    table : the program JSON.
    control : JSON of the lowered host module.
    """

    def __init__(self, table: str, control: str) -> None:
        self._table = table
        self._control_json = control

    @cached_property
    def _program(self) -> dict:
        return json.loads(self._table)

    @cached_property
    def _run(self) -> tvm_ffi.Function:
        """The program, parsed, with its machine code: arguments and options to a report."""
        native.load()
        build = tvm_ffi.get_global_func("target.build.llvm")
        module = build(tvm.ir.load_json(self._control_json), tvm.target.Target("llvm"))
        prepare = tvm_ffi.get_global_func("tvm_ascend.sim.prepare")
        return prepare(self._table, module["control"])

    def launch(self, args: Sequence, options: SimOptions, fresh: Sequence[int] = ()) -> Report:
        """Run with tensors and integers in parameter order; outputs are written in place.

        ``fresh``: positions of tensors that were allocated for this launch and hold no values yet.
        """
        check_choice(options, self._program)
        raw = self._run(list(args), options_json(options, fresh))
        return raise_hazards(read_report(raw, self._program), options)


def check_choice(options: SimOptions, program: Mapping) -> None:
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

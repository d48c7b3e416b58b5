# SPDX-License-Identifier: Apache-2.0
"""The default executor: the embedded simulator, driven by LLVM-compiled control code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property

import tvm
import tvm_ffi

from tvm_ascend.options import SimOptions
from tvm_ascend.runtime import native
from tvm_ascend.runtime.launch import launch
from tvm_ascend.runtime.report import Report


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
        return launch(self._run, self._program, args, options, fresh)

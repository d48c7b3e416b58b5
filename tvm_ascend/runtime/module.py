# SPDX-License-Identifier: Apache-2.0
"""The runtime module of compiled kernels, seen from Python; the module itself is C++."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import tvm_ffi

from tvm_ascend.options import SimOptions
from tvm_ascend.runtime import native
from tvm_ascend.runtime.launch import raise_hazards
from tvm_ascend.runtime.report import Report, read_report

_options = SimOptions()


def create(kernels: Mapping[str, Mapping[str, str]]) -> Any:
    """A runtime module with one function per kernel.

    Parameters
    ----------
    kernels : function name -> its ``name`` in messages and its ``table``, ``control``, ``source``
        and ``params`` as text.
    """
    native.load()
    return tvm_ffi.get_global_func("tvm_ascend.runtime.create_module")(kernels)


@contextmanager
def simulated(options: SimOptions) -> Iterator[None]:
    """Run the kernels of runtime modules (Relax, ``tvm.compile``) with these simulator options."""
    global _options
    before = _options
    _set_options(options)
    try:
        yield
    finally:
        _set_options(before)


def _set_options(options: SimOptions) -> None:
    global _options
    native.load()
    _options = options
    tvm_ffi.get_global_func("tvm_ascend.runtime.set_options")(json.dumps(asdict(options)))


@contextmanager
def observed() -> Iterator[list[Report]]:
    """Collect the report of every kernel that a runtime module runs, in order.

    Yields
    ------
    reports : grows by one report per kernel launch.
    """
    native.load()
    reports: list[Report] = []
    set_observer = tvm_ffi.get_global_func("tvm_ascend.runtime.set_observer")

    def observe(kernel: str, table: str, report: str) -> None:
        reports.append(read_report(report, json.loads(table)))

    set_observer(observe)
    try:
        yield reports
    finally:
        set_observer(None)


def raise_hazard(kernel: str, report: str) -> None:
    """Called by the module when the report of a run names a hazard."""
    raise_hazards(read_report(report, {"kernel": kernel, "sites": ()}), _options)

# SPDX-License-Identifier: Apache-2.0
"""Huawei Ascend NPUs as a target of Apache TVM."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .backend import register

__version__ = "0.1.0"

_HOME = {
    "compile": "build",
    "Kernel": "build",
    "Options": "options",
    "SimOptions": "options",
    "Report": "runtime.report",
    "AscendError": "errors",
}
_MODULES = ("dev", "language", "tune")
_broken: Exception | None = None
try:
    register()
except Exception as reason:  # the doctor, started as a module of this package, must still run
    _broken = reason


def __getattr__(name: str) -> Any:
    if name not in _HOME and name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _broken is not None:
        raise ImportError(
            f"tvm_ascend cannot work here: {_broken}. Run `python -m tvm_ascend doctor`."
        ) from _broken
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})

# SPDX-License-Identifier: Apache-2.0
"""Kernels that the command line names as ``FILE.py:NAME``."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import tvm
from tvm import tirx

from tvm_ascend.build import Kernel, compile


def parse_place(text: str) -> tuple[Path, str]:
    """``FILE.py:NAME`` of the command line."""
    file, _, name = text.rpartition(":")
    if not file or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not FILE.py:NAME")
    if not Path(file).is_file():
        raise argparse.ArgumentTypeError(f"there is no file {file}")
    return Path(file), name


def load(place: tuple[Path, str]) -> tuple[ModuleType, Any]:
    """Run the file and return its module and what it calls NAME."""
    path, name = place
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise argparse.ArgumentTypeError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise argparse.ArgumentTypeError(f"{path} defines no {name}")
    return module, getattr(module, name)


def kernel_of(given: Any) -> Kernel:
    """A kernel, a function to compile, or what a function without arguments returns."""
    if callable(given) and not isinstance(given, (Kernel, tirx.PrimFunc, tvm.IRModule)):
        given = given()
    return given if isinstance(given, Kernel) else compile(given)

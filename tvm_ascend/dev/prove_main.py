# SPDX-License-Identifier: Apache-2.0
"""``python -m tvm_ascend prove-sync FILE.py:NAME``."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import tvm
from tvm import tirx

from tvm_ascend.build import Kernel, compile
from tvm_ascend.dev.proof import prove_sync, random_inputs
from tvm_ascend.errors import AscendError


def main(place: tuple[Path, str], *, as_json: bool) -> int:
    """Print the table of one kernel; 0 when every sync is explained, 2 when there is no kernel."""
    path, name = place
    module = _load(path)
    try:
        given = getattr(module, name)
    except AttributeError:
        print(f"{path} defines no {name}", file=sys.stderr)
        return 2
    try:
        kernel = _kernel(given)
        inputs = module.inputs() if hasattr(module, "inputs") else random_inputs(kernel)
        proof = prove_sync(kernel, *(inputs if isinstance(inputs, (list, tuple)) else (inputs,)))
    except AscendError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(json.dumps(proof.as_dict(), indent=2) if as_json else proof.text())
    return 0 if proof.holds else 1


def parse_place(text: str) -> tuple[Path, str]:
    """``FILE.py:NAME`` of the command line."""
    file, _, name = text.rpartition(":")
    if not file or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not FILE.py:NAME")
    if not Path(file).is_file():
        raise argparse.ArgumentTypeError(f"there is no file {file}")
    return Path(file), name


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise argparse.ArgumentTypeError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _kernel(given: Any) -> Kernel:
    """A kernel, a function to compile, or what a function without arguments returns."""
    if callable(given) and not isinstance(given, (Kernel, tirx.PrimFunc, tvm.IRModule)):
        given = given()
    return given if isinstance(given, Kernel) else compile(given)

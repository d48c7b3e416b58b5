# SPDX-License-Identifier: Apache-2.0
"""Kernels that the command line names as ``FILE.py:NAME``."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import tvm
from tvm import tirx

from tvm_ascend.build import Kernel, compile
from tvm_ascend.errors import AscendError


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
    with _explained(path):
        spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise argparse.ArgumentTypeError(f"{path} defines no {name}")
    return module, getattr(module, name)


def kernel_of(given: Any) -> Kernel:
    """A kernel, a function to compile, or what a function without arguments returns."""
    if callable(given) and not isinstance(given, (Kernel, tirx.PrimFunc, tvm.IRModule)):
        given = call(given)
    return given if isinstance(given, Kernel) else compile(given)


def call(function: Any) -> Any:
    """What a function of the user's file returns, called without arguments."""
    name = getattr(function, "__name__", type(function).__name__)
    if not callable(function):
        raise argparse.ArgumentTypeError(f"{function!r} is no function")
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise argparse.ArgumentTypeError(
            f"`{name}` is called without arguments and takes some ({error}); give them defaults"
        ) from error
    except ValueError:  # a builtin that tells no signature
        pass
    with _explained(f"`{name}`"):
        return function()


@contextlib.contextmanager
def _explained(what: object) -> Iterator[None]:
    """The user's own code may raise anything: say what, and at which line."""
    try:
        yield
    except AscendError:
        raise
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = (frame.filename, frame.lineno)
        if isinstance(error, SyntaxError):
            place = (error.filename or str(what), error.lineno)
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        raise argparse.ArgumentTypeError(
            f"{what} ends with {text}, at {place[0]}:{place[1]}; correct it there"
        ) from error

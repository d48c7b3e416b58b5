# SPDX-License-Identifier: Apache-2.0
"""The C++ compiler of this machine, as the twin executor and the doctor find it."""

from __future__ import annotations

import os
import shlex
import shutil

COMPILERS = ("g++", "c++", "clang++")


def wanted() -> str:
    """What is looked for: ``CXX`` if set, else the first usual one."""
    return os.environ.get("CXX") or COMPILERS[0]


def find() -> list[str] | None:
    """The compiler's path and the flags that ``CXX`` carries; None when it is not on the PATH."""
    chosen = os.environ.get("CXX")
    for command in [chosen] if chosen else COMPILERS:
        try:
            program, *flags = shlex.split(command) or [command]
        except ValueError:  # an open quote
            continue
        if path := shutil.which(program):
            return [path, *flags]
    return None
